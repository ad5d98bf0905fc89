#include "hub/contents.hpp"

#include <fmt/format.h>

#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/json.hpp"
#include "base/utf8.hpp"
#include "hub/atomic_file.hpp"
#include "hub/hub_cache.hpp"
#include "hub/url.hpp"
#include "package/files.hpp"
#include "package/metadata.hpp"
#include "package/reader.hpp"

namespace kernelpack::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTemplates = 4096;

class Completion {
 public:
  explicit Completion(const Contents& contents) : contents_(contents) {}

  Package run() {
    model_ = metadata_model(sound_metadata());
    if (!is_sound("manifest.json")) fetch({"manifest.json"});
    for (const auto& entry : model_.metadata->digests)
      if (entry.first.ends_with(".jinja") && is_present(entry.first) && !is_sound(entry.first))
        damaged_.push_back(entry.first);
    if (!damaged_.empty()) fetch(damaged_);

    LoadOptions load{.verify = contents_.options.verify, .expected_op_id = contents_.options.expected_op_id};
    load.allow_missing_templates = true;
    Package package = Package::load(contents_.copy.folder(), load);
    std::vector<std::string> absent;
    for (const package::TemplateFile& file : package.model().templates)
      if (file.absent) absent.push_back(file.name);
    if (absent.empty()) return package;
    if (absent.size() > kMostTemplates)
      throw Error(
          ErrorKind::limit,
          fmt::format("The number of templates ({}) exceeds the budget ({})", absent.size(), kMostTemplates),
          contents_.source);
    fetch(absent);
    load.allow_missing_templates = false;
    return Package::load(contents_.copy.folder(), load);
  }

 private:
  bool is_present(const std::string& file) const {
    std::error_code ignored;
    return fs::exists(contents_.copy.place(file), ignored);
  }

  std::string sound_metadata() {
    const fs::path place = contents_.copy.place("metadata.json");
    auto text = read_if_present(place, file_budget("metadata.json"));
    std::optional<std::string> fault;
    if (text && contents_.options.verify) fault = contents_.copy.metadata_fault(*text);
    if (text && !fault) {
      try {
        (void)json::parse(*text, "metadata.json");
        return *text;
      } catch (const Error& error) {
        fault = error.message();
      }
    }
    if (contents_.offline && fault)
      throw Error(
          ErrorKind::integrity,
          fmt::format("The cached file metadata.json is damaged ({}), and no request may be made offline",
                      *fault),
          place.string());
    require_online("metadata.json");
    HttpAnswer answer = contents_.downloads.get({"metadata.json", contents_.request("metadata.json")});
    require_commit("metadata.json", answer);
    accept_metadata(contents_, answer);
    return answer.body;
  }

  /// Present, and with the digest that metadata.json lists.
  bool is_sound(const std::string& file) {
    const auto text = read_if_present(contents_.copy.place(file), file_budget(file));
    if (!text) return false;
    try {
      check(file, *text);
      return true;
    } catch (const Error& error) {
      if (contents_.offline)
        throw Error(error.kind(),
                    fmt::format("The cached file {} is damaged, and no request may be made offline: {}", file,
                                error.message()),
                    contents_.copy.place(file).string());
      return false;
    }
  }

  void check(const std::string& file, std::string_view content) const {
    package::check_digest(file, content, {.verify = contents_.options.verify}, model_);
  }

  void require_commit(const std::string& file, const HttpAnswer& answer) const {
    if (contents_.commit.empty() || answer.commit.empty() || answer.commit == contents_.commit) return;
    throw Error(ErrorKind::integrity,
                fmt::format("The file {} that was received is of commit {}, but commit {} was asked for",
                            file, clip(answer.commit), contents_.commit),
                contents_.source);
  }

  void require_online(const std::string& file) const {
    if (!contents_.offline) return;
    throw Error(
        ErrorKind::io,
        fmt::format("The cache holds no {} of {}, and no request may be made offline", file, contents_.state),
        contents_.source);
  }

  void fetch(const std::vector<std::string>& files) {
    std::vector<Wanted> wanted;
    for (const std::string& file : files) {
      require_online(file);
      if (contents_.options.verify && package::listed_digest(*model_.metadata, file) == nullptr)
        check(file, {});
      wanted.push_back({file, contents_.request(file)});
    }
    const auto accept = [&](const Wanted& one, HttpAnswer& answer) {
      require_commit(one.file, answer);
      try {
        check(one.file, answer.body);
      } catch (Error& error) {
        throw error.set_where(display(one.request.url));
      }
      contents_.copy.store(one.file, answer);
    };
    contents_.downloads.get_all(wanted, accept);
  }

  const Contents& contents_;
  package::Model model_;
  std::vector<std::string> damaged_;
};

}  // namespace

package::Model metadata_model(const std::string& metadata) {
  const json::Document document = json::parse(metadata, "metadata.json");
  package::Faults faults;
  package::Source source{document, faults, 0, {}, {}};
  package::Model model;
  model.metadata = package::read_metadata(package::Node(source, document.root));
  if (std::vector<Error> errors = faults.take(); !errors.empty()) throw std::move(errors.front());
  return model;
}

std::size_t file_budget(std::string_view file) {
  const Budgets budgets;
  return file.ends_with(".json") ? budgets.json_bytes : budgets.rendered_bytes;
}

bool is_begun(const Copy& copy) {
  std::error_code ignored;
  return fs::exists(copy.place("metadata.json"), ignored) && fs::exists(copy.place("manifest.json"), ignored);
}

void accept_metadata(const Contents& contents, const HttpAnswer& answer) {
  if (contents.options.verify) {
    if (const auto fault = blob_fault(answer.etag, answer.body))
      throw Error(ErrorKind::integrity,
                  fmt::format("The file metadata.json that was received is damaged: {}", *fault),
                  contents.source);
  }
  // A text that is no metadata is refused before it is kept.
  (void)metadata_model(answer.body);
  contents.copy.store("metadata.json", answer);
  contents.downloads.finish("metadata.json");
}

Package complete(const Contents& contents) {
  return Completion(contents).run();
}

}  // namespace kernelpack::hub
