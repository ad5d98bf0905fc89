#include <fmt/format.h>

#include <algorithm>

#include "package/case_inputs.hpp"
#include "package/device_facts.hpp"
#include "package/model.hpp"
#include "package/suggest.hpp"

namespace kernelpack {
namespace package {
namespace {

constexpr std::int64_t kMostSteps = 65535;

double read_bound(ObjectReader& reader, std::string_view key, bool needed) {
  const auto node = needed ? reader.need(key) : reader.get(key);
  const auto number = node ? read_number(*node) : std::nullopt;
  if (!number) return 0;
  if (*number < 0) node->fault(fmt::format("The bound {} ({}) is negative", key, *number));
  return *number;
}

TestTolerance read_tolerance(const Node& node) {
  ObjectReader reader(node, "the tolerance");
  TestTolerance tolerance;
  if (const auto single = reader.get("float32")) {
    ObjectReader bounds(*single, "the tolerance of float32");
    tolerance.float32 = Float32Tolerance{read_bound(bounds, "relative", true),
                                         read_bound(bounds, "relativePerDistance", false),
                                         read_bound(bounds, "floor", false)};
    bounds.finish();
  }
  if (const auto half = reader.get("float16")) {
    ObjectReader bounds(*half, "the tolerance of float16");
    Float16Tolerance& made = tolerance.float16.emplace();
    if (const auto steps = bounds.need("steps")) made.steps = read_integer(*steps, 0, kMostSteps).value_or(0);
    if (const auto below = bounds.get("below")) {
      ObjectReader small(*below, "the bound of small values");
      made.limit = read_bound(small, "limit", true);
      made.absolute = read_bound(small, "absolute", true);
      small.finish();
    }
    bounds.finish();
  }
  reader.finish();
  return tolerance;
}

std::vector<TestDevice> read_devices(const Node& node) {
  std::vector<TestDevice> devices;
  for (const NamedNode& member : members_of(node, kMostSearched)) {
    if (!check_name(member, "a device")) continue;
    try {
      devices.push_back(
          {std::string(member.name), read_device_facts(node.source().document, member.node.value(),
                                                       member.node.pointer(), ErrorKind::package)});
    } catch (const Error& error) {
      member.node.fault(error);
    }
  }
  return devices;
}

/// Reads cases of one package for devices of one file.
class CaseReader {
 public:
  CaseReader(const Model& model, const std::vector<TestDevice>& devices) : model_(model), devices_(devices) {}

  void read(ObjectReader& reader, TestCase& made) const {
    const auto variant = reader.get("variant");
    const auto pin = reader.get("pin");
    const auto exact = reader.get("exact");
    const auto error = reader.get("error");
    if (variant) made.variants = read_variants(*variant);
    if (pin) made.pins = read_pins(*pin);
    if (exact) made.exact = read_boolean(*exact).value_or(false);
    if (error) made.error = read_error(*error);
    if (variant && pin) pin->fault("The case pins variants, but variant says which one must be chosen");
    const std::pair<std::string_view, bool> others[] = {
        {"variant", variant.has_value()}, {"pin", pin.has_value()}, {"exact", exact.has_value()}};
    for (const auto& [key, present] : others)
      if (error && present)
        error->fault(fmt::format("The case ends with an error, but {} says what it gives", key));
  }

 private:
  std::optional<std::string> read_variant(const Node& node) const {
    auto id = read_string(node);
    if (!id) return std::nullopt;
    if (model_.variant(*id) == nullptr) {
      std::vector<std::string> known;
      for (const Variant& each : model_.variants) known.push_back(each.id);
      node.fault(fmt::format("The package {} has no variant of that id ({}){}", model_.op_id, *id,
                             suggestion(*id, known)));
      return std::nullopt;
    }
    return id;
  }

  std::vector<ExpectedVariant> read_variants(const Node& node) const {
    std::vector<ExpectedVariant> expected;
    if (node.value().is_string()) {
      const auto id = read_variant(node);
      if (devices_.empty())
        node.fault("The variant of the case cannot be examined: the file describes no devices");
      for (const TestDevice& device : devices_)
        if (id) expected.push_back({device.name, *id});
      return expected;
    }
    for (const NamedNode& member : members_of(node, kMostSearched)) {
      const auto id = read_variant(member.node);
      if (std::none_of(devices_.begin(), devices_.end(),
                       [&](const TestDevice& device) { return device.name == member.name; }))
        member.node.fault_at(member.name_span,
                             fmt::format("The device ({}) is not among those of the file", member.name));
      else if (id)
        expected.push_back({std::string(member.name), *id});
    }
    return expected;
  }

  std::vector<std::string> read_pins(const Node& node) const {
    std::vector<std::string> pins;
    for (const Node& item : items_of(node, kMostSearched)) {
      const auto id = read_variant(item);
      if (!id) continue;
      if (std::find(pins.begin(), pins.end(), *id) != pins.end())
        item.fault(fmt::format("The variant ({}) is pinned twice", *id));
      pins.push_back(*id);
    }
    if (is_empty_list(node)) node.fault("The case pins no variant");
    return pins;
  }

  static std::optional<ErrorKind> read_error(const Node& node) {
    const auto text = read_string(node);
    if (!text) return std::nullopt;
    for (const ErrorKind kind : {ErrorKind::contract, ErrorKind::no_variant})
      if (to_string(kind) == *text) return kind;
    node.fault(fmt::format("The kind of error ({}) is neither contract nor no_variant", *text));
    return std::nullopt;
  }

  const Model& model_;
  const std::vector<TestDevice>& devices_;
};

}  // namespace
}  // namespace package

TestCases read_test_cases(const Package& loaded) {
  return read_test_cases(package::require_case_file(loaded, "test.json", "test cases"), loaded);
}

TestCases read_test_cases(const std::filesystem::path& file, const Package& loaded) {
  TestCases result;
  package::read_case_file(file, "tests", [&](package::ObjectReader& reader) {
    if (const auto tolerance = reader.get("tolerance"))
      result.tolerance = package::read_tolerance(*tolerance);
    if (const auto devices = reader.get("devices")) result.devices = package::read_devices(*devices);
    const package::CaseReader cases(loaded.model(), result.devices);
    result.cases = package::read_cases<TestCase>(
        reader, [&](package::ObjectReader& each, TestCase& made) { cases.read(each, made); });
  });
  return result;
}

}  // namespace kernelpack
