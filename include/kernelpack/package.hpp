#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/call.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {

namespace package {
struct Model;
}

/// How a package folder is loaded.
struct LoadOptions {
  bool verify = true;            ///< check every used file against metadata.json's digests
  std::string expected_op_id{};  ///< if not empty, the package must have this op id
  /// Accept a package whose templates are absent: it binds and plans, but there is no shader to run.
  bool allow_missing_templates = false;
};

/// Whether a file of the package matches metadata.json.
enum class DigestState { matches, differs, absent, unlisted, unchecked };
std::string_view to_string(DigestState state) noexcept;

struct PackageFile {
  std::string name;
  std::size_t bytes = 0;
  DigestState digest = DigestState::unchecked;
};

/// The contract and the parts of a package as plain data, for people and tools. Expressions are shown as
/// their text.
struct PackageSummary {
  struct Port {
    std::string name;
    std::string description;
    std::string dtype;  ///< a dtype or a type variable; empty if the manifest gives none
    std::string rank;   ///< empty if not stated
    std::string shape;  ///< outputs: how it is inferred; inputs: informative; empty if not stated
    bool optional = false;
    bool inout = false;  ///< listed among inputs and outputs
  };
  struct Argument {
    std::string name;
    std::string description;
    std::string kind;  ///< "u32", "i32", "f32", "bool", "string"
    bool required = true;
    std::vector<std::string> one_of;  ///< the only strings allowed; empty: any
  };
  struct Attribute {
    std::string name;
    std::string description;
    std::optional<AttributeValue> default_value;
    bool required = false;
    std::vector<AttributeValue> values;  ///< the only values allowed; empty: any
  };
  struct Type {
    std::string name;
    std::vector<DType> dtypes;
  };
  struct Tunable {
    std::string name;
    std::string description;
    AttributeValue value;
  };
  struct Variant {
    std::string id;
    std::string description;
    double priority = 0;
    std::vector<std::string>
        when;  ///< conditions of this variant; those of `PackageSummary::when` come first
    std::vector<std::string> templates;
  };

  std::string op_id;
  std::string description;
  std::optional<double> since_version;  ///< ONNX opset
  std::string license;                  ///< empty for a bare manifest
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Argument> arguments;
  std::vector<Attribute> attributes;
  std::vector<Type> types;
  std::vector<Tunable> tunables;
  std::vector<std::string> when;  ///< conditions on every call
  std::vector<Variant> variants;  ///< manifest order; empty for a contract-only package
};

/// A kernel package: verified, immutable, cheap to copy (copies share one model), safe to use from several
/// threads. Every expression and template is parsed at load, so a bad package fails here and never at
/// dispatch.
class Package {
 public:
  /// Loads `folder/build/webgpu` or a folder that itself holds manifest.json. Throws the first fault found.
  static Package load(const std::filesystem::path& folder, const LoadOptions& options = {});
  /// All faults of the folder, in the order of the files and of the text. Beyond what loading refuses, that
  /// is a digest that does not match of a listed file that loading does not read (test.json, bench.json).
  static std::vector<Error> validate(const std::filesystem::path& folder, const LoadOptions& options = {});

  const std::string& op_id() const noexcept;
  /// Contract version of metadata.json; nothing for a bare manifest.
  std::optional<int> version() const noexcept;
  /// "1.0", "2.0" or "2.1".
  const std::string& manifest_spec() const noexcept;
  /// The folder that holds manifest.json.
  const std::filesystem::path& folder() const noexcept;
  std::vector<PackageFile> files() const;
  /// Every file that was used matched its digest; false for a bare manifest and with verification off.
  bool verified() const noexcept;
  PackageSummary describe() const;

  const package::Model& model() const noexcept { return *model_; }

 private:
  explicit Package(std::shared_ptr<const package::Model> model) : model_(std::move(model)) {}
  std::shared_ptr<const package::Model> model_;
};

/// A package that is shipped with kernelpack or installed beside it.
struct ShippedPackage {
  std::string op_id;
  std::filesystem::path folder;
};

/// The folders that are searched by op id, in order: each entry of the environment variable
/// KERNELPACK_PACKAGES (':' between entries), `../../packages` and `../share/kernelpack/packages` from the
/// executable's folder, and, from that of a shared library that holds kernelpack,
/// `../share/kernelpack/packages`, `../../share/kernelpack/packages` and `share/kernelpack/packages`. The
/// working directory is never searched.
std::vector<std::filesystem::path> package_search_path();
/// Every shipped package, sorted by op id; the first folder on the search path wins.
std::vector<ShippedPackage> shipped_packages();

}  // namespace kernelpack
