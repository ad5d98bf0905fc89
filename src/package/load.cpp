#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "kernelpack/package.hpp"
#include "package/files.hpp"
#include "package/manifest.hpp"
#include "package/metadata.hpp"
#include "package/model.hpp"
#include "package/reader.hpp"
#include "package/templates.hpp"

namespace kernelpack {
namespace package {
namespace {

std::string read_text(const std::filesystem::path& folder, const std::string& name, const Budgets& budgets) {
  std::error_code error;
  const auto size = std::filesystem::file_size(folder / name, error);
  if (!error && size > budgets.json_bytes)
    throw Error(ErrorKind::limit,
                fmt::format("The size of {} ({} bytes) exceeds the budget ({} bytes)", name, size,
                            budgets.json_bytes),
                name);
  return read_file(folder / name, budgets.json_bytes);
}

bool is_present(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// Loads a package folder step by step; each step reports what it finds and later ones go on where they can.
class Loader {
 public:
  Loader(const std::filesystem::path& folder, const LoadOptions& options) : options_(options) {
    try {
      model_->folder = find_package_folder(folder);
      model_->verification_waived = !options.verify;
      load();
    } catch (const Error& error) {
      faults_.add(error, kManifestRank);
    }
  }

  /// The listed files that loading does not read, such as test.json, where they are present.
  void check_unread_files() {
    if (!model_->metadata || !options_.verify) return;
    for (const auto& [name, digest] : model_->metadata->digests) {
      const bool read = name == "manifest.json" || name == "metadata.json" ||
                        std::any_of(model_->templates.begin(), model_->templates.end(),
                                    [&](const TemplateFile& file) { return file.name == name; });
      if (read || !is_present(model_->folder / name)) continue;
      try {
        check_digest(name, read_file(model_->folder / name, kLargestListedFile), options_, *model_);
      } catch (const Error& error) {
        faults_.add(error, kTemplateRank);
      }
    }
  }

  std::shared_ptr<const Model> model() const { return model_; }
  std::vector<Error> errors() { return faults_.take(); }

 private:
  void load() {
    const bool bare = !is_present(model_->folder / "metadata.json");
    std::optional<json::Document> metadata;
    std::optional<Source> metadata_source;
    if (!bare) {
      try {
        metadata =
            json::parse(read_text(model_->folder, "metadata.json", budgets_), "metadata.json", budgets_);
      } catch (const Error& error) {
        faults_.add(error, kMetadataRank);
        return;
      }
      metadata_source.emplace(Source{*metadata, faults_, kMetadataRank, budgets_});
      const Node root(*metadata_source, metadata->root);
      model_->metadata = read_metadata(root);
      if (!model_->metadata) return;
      check_expected(root);
    }

    std::optional<json::Document> manifest;
    try {
      std::string text = read_text(model_->folder, "manifest.json", budgets_);
      try {
        check_digest("manifest.json", text, options_, *model_);
      } catch (const Error& error) {
        faults_.add(error, kManifestRank);
      }
      manifest = json::parse(std::move(text), "manifest.json", budgets_);
    } catch (const Error& error) {
      faults_.add(error, kManifestRank);
      return;
    }
    Source source{*manifest, faults_, kManifestRank, budgets_};
    const Node root(source, manifest->root);
    model_->spec = bare ? inferred_spec(root) : model_->metadata->manifest_spec;
    model_->generation = model_->spec == "1.0" ? Generation::one : Generation::two;
    if (model_->generation == Generation::one) {
      read_manifest_1(root, *model_);
    } else {
      read_manifest_2(root, *model_);
    }
    if (bare) check_expected(root);
    load_templates(root, options_, *model_);
    if (metadata && manifest->root.is_object())
      check_metadata(Node(*metadata_source, metadata->root), *model_);
    model_->verified = !bare && options_.verify;
  }

  // Lists of ports are the mark of manifest 1.0 (format.md 14 (a)).
  static std::string inferred_spec(const Node& root) {
    for (const std::string_view key : {"inputs", "outputs"}) {
      const json::Value* ports = root.value().find(key);
      if (ports != nullptr) return ports->is_array() ? "1.0" : "2.1";
    }
    return "2.1";
  }

  void check_expected(const Node& root) {
    const std::string& name = model_->metadata ? model_->metadata->name : model_->op_id;
    if (!options_.expected_op_id.empty() && name != options_.expected_op_id)
      node_at(root, "/name")
          .fault(fmt::format("The op id of the package ({}) differs from the expected one ({})", name,
                             options_.expected_op_id));
  }

  const LoadOptions& options_;
  const Budgets budgets_{};
  Faults faults_;
  std::shared_ptr<Model> model_ = std::make_shared<Model>();
};

}  // namespace
}  // namespace package

Package Package::load(const std::filesystem::path& folder, const LoadOptions& options) {
  package::Loader loader(folder, options);
  std::vector<Error> errors = loader.errors();
  if (!errors.empty()) throw std::move(errors.front());
  return Package(loader.model());
}

std::vector<Error> Package::validate(const std::filesystem::path& folder, const LoadOptions& options) {
  package::Loader loader(folder, options);
  loader.check_unread_files();
  return loader.errors();
}

const std::string& Package::op_id() const noexcept {
  return model_->op_id;
}

std::optional<int> Package::version() const noexcept {
  if (!model_->metadata) return std::nullopt;
  return model_->metadata->version;
}

const std::string& Package::manifest_spec() const noexcept {
  return model_->spec;
}
const std::filesystem::path& Package::folder() const noexcept {
  return model_->folder;
}
std::vector<PackageFile> Package::files() const {
  return package::list_files(*model_);
}
bool Package::verified() const noexcept {
  return model_->verified;
}

}  // namespace kernelpack
