#include "kernelpack/tuning.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "kernelpack/cases.hpp"
#include "kernelpack/error.hpp"
#include "package/attribute_value.hpp"
#include "package/model.hpp"
#include "tuned_devices.hpp"

namespace kernelpack {
namespace {

constexpr std::string_view kSchema = "kernelpack-tuning/1";
constexpr std::size_t kLargestFile = 1u << 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Nothing: no profile is ever used.
std::optional<std::filesystem::path> tuning_folder() {
  const std::string chosen = variable("KERNELPACK_TUNING");
  if (chosen == "off") return std::nullopt;
  if (!chosen.empty()) return chosen;
  if (const std::string own = variable("KERNELPACK_CACHE"); !own.empty())
    return std::filesystem::path(own) / "tuning";
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty())
    return std::filesystem::path(cache) / "kernelpack/tuning";
  const std::string home = variable("HOME");
  if (home.empty()) return std::nullopt;
  return std::filesystem::path(home) / ".cache/kernelpack/tuning";
}

// Of everything that a plan comes from.
std::string package_digest(const Package& package) {
  const package::Model& model = package.model();
  std::string text;
  const auto add = [&](const std::string& name) {
    std::error_code ignored;
    if (!std::filesystem::exists(model.folder / name, ignored)) return;
    text += name + "\n" + hex(sha256(read_file(model.folder / name, std::size_t{64} << 20))) + "\n";
  };
  add("manifest.json");
  for (const auto& file : model.templates) add(file.name);
  return hex(sha256(text));
}

struct DeviceKey {
  std::string vendor;
  std::string architecture;
  std::string adapter;
  std::string driver;
};

DeviceKey key_of(const Device& device) {
  const GpuAdapter& adapter = device.adapter();
  return {device.facts().vendor, device.facts().architecture, adapter.name, adapter.description};
}

std::string file_name(const std::string& digest, const DeviceKey& key) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}", digest, key.vendor, key.architecture, key.adapter, key.driver);
  return hex(sha256(text)).substr(0, 32) + ".json";
}

json::Value json_of(const AttributeValue& value) {
  return json::parse(to_string(value), "value").root;
}

// The profile in a text that claims to be one. Throws contract, or what the parser throws.
Tuning parse(std::string text, const std::string& name, const Package& package, const Device& device) {
  const json::Document document = json::parse(std::move(text), name, {}, ErrorKind::contract);
  const auto text_at = [](const json::Value* object, std::string_view key) {
    const json::Value* value = object != nullptr ? object->find(key) : nullptr;
    return value != nullptr && value->is_string() ? value->string() : std::string();
  };
  if (text_at(&document.root, "schema") != kSchema)
    throw Error(ErrorKind::contract, fmt::format("The profile is not of the schema {}", kSchema), name);
  const DeviceKey key = key_of(device);
  const json::Value* from = document.root.find("device");
  if (text_at(&document.root, "package") != package_digest(package))
    throw Error(ErrorKind::contract, "The profile belongs to another package, or to other content of it",
                name);
  if (text_at(from, "vendor") != key.vendor || text_at(from, "architecture") != key.architecture ||
      text_at(from, "adapter") != key.adapter || text_at(from, "driver") != key.driver)
    throw Error(ErrorKind::contract, "The profile belongs to another device or driver", name);

  Tuning tuning;
  const json::Value* tunables = document.root.find("tunables");
  if (tunables == nullptr || !tunables->is_object())
    throw Error(ErrorKind::contract, "The profile has no tunables", name);
  std::vector<TunableRange> ranges;
  try {
    ranges = read_benchmark_cases(package).tunables;
  } catch (const Error& error) {
    tuning.notes.push_back(
        fmt::format("The profile is ignored: the package's bench.json cannot be read ({})", error.line()));
    return tuning;
  }
  package::Faults faults;
  package::Source source{document, faults};
  const std::vector<std::string> declared = [&] {
    std::vector<std::string> names;
    for (const auto& tunable : package.model().tunables) names.push_back(tunable.name);
    for (const auto& variant : package.model().variants)
      for (const auto& tunable : variant.tunables) names.push_back(tunable.name);
    return names;
  }();
  for (const json::Member& member : tunables->members()) {
    const auto value = package::read_attribute_value(package::Node(source, member.value));
    const auto range = std::find_if(ranges.begin(), ranges.end(),
                                    [&](const TunableRange& each) { return each.name == member.key; });
    const bool known = std::find(declared.begin(), declared.end(), member.key) != declared.end();
    if (!known || range == ranges.end()) {
      tuning.notes.push_back(fmt::format(
          "The tunable {} of the profile is ignored: the package does not offer it to a search", member.key));
    } else if (!value ||
               std::find(range->values.begin(), range->values.end(), *value) == range->values.end()) {
      tuning.notes.push_back(
          fmt::format("The value of tunable {} in the profile ({}) is ignored: bench.json does not list it",
                      member.key, value ? to_string(*value) : "an object"));
    } else {
      tuning.tunables.push_back({member.key, *value});
    }
  }
  return tuning;
}

}  // namespace

Tuning find_tuning(const Package& package, const Device& device) {
  Tuning none;
  device.adapter();
  const auto folder = tuning_folder();
  std::error_code ignored;
  if (!folder || !std::filesystem::exists(*folder, ignored)) {
    if (folder) none.file = *folder;
    return none;
  }
  std::filesystem::path file;
  try {
    file = *folder / file_name(package_digest(package), key_of(device));
    none.file = file;
    if (!std::filesystem::exists(file, ignored)) return none;
    Tuning tuning = parse(read_file(file, kLargestFile), file.filename().string(), package, device);
    tuning.file = file;
    return tuning;
  } catch (const Error& error) {
    none.notes.push_back(fmt::format("The profile {} is ignored ({})", file.string(), error.line()));
    return none;
  }
}

Tuning read_tuning(const std::filesystem::path& file, const Package& package, const Device& device) {
  Tuning tuning = parse(read_file(file, kLargestFile), file.filename().string(), package, device);
  tuning.file = file;
  return tuning;
}

std::string tuning_text(const Package& package, const Device& device, const NamedValues& tunables) {
  const DeviceKey key = key_of(device);
  std::string values;
  for (const NamedValue& each : tunables)
    values += fmt::format("{}\n    {}: {}", values.empty() ? "" : ",", json::quote(each.name),
                          json::write(json_of(each.value)));
  return fmt::format(
      "{{\n  \"schema\": {},\n  \"op\": {},\n  \"package\": {},\n  \"device\": {{\n    \"vendor\": {},\n    "
      "\"architecture\": {},\n    \"adapter\": {},\n    \"driver\": {}\n  }},\n  \"tunables\": "
      "{{{}{}}}\n}}\n",
      json::quote(kSchema), json::quote(package.op_id()), json::quote(package_digest(package)),
      json::quote(key.vendor), json::quote(key.architecture), json::quote(key.adapter),
      json::quote(key.driver), values, values.empty() ? "" : "\n  ");
}

std::filesystem::path save_tuning(const Package& package, const Device& device, const NamedValues& tunables) {
  const auto folder = tuning_folder();
  if (!folder)
    throw Error(ErrorKind::io,
                "There is no folder for profiles: KERNELPACK_TUNING is off, or neither XDG_CACHE_HOME nor "
                "HOME is set");
  std::string text = tuning_text(package, device, tunables);
  const Tuning read = parse(text, "profile", package, device);
  if (!read.notes.empty()) throw Error(ErrorKind::contract, read.notes.front());
  std::error_code failed;
  std::filesystem::create_directories(*folder, failed);
  if (failed)
    throw Error(ErrorKind::io, fmt::format("The folder cannot be made ({})", failed.message()),
                folder->string());
  const std::filesystem::path file = *folder / file_name(package_digest(package), key_of(device));
  write_file(file, text);
  return file;
}

const PlanOptions& TunedDevices::options(const Package& package, const Device& device) {
  const std::shared_ptr<webgpu::Engine>& engine = device.shared_engine();
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_)
    if (!entry.engine.owner_before(engine) && !engine.owner_before(entry.engine)) return entry.options;
  Entry entry{engine, {}};
  entry.options.profile = find_tuning(package, device).tunables;
  entries_.push_back(std::move(entry));
  return entries_.back().options;
}

}  // namespace kernelpack
