#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/call.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack {

/// One configuration of the experimental subgroup matrices that an adapter reports.
struct SubgroupMatrixConfig {
  std::string component_type;         ///< "f32", "f16", "u32", "i32", "u8", "i8"
  std::string result_component_type;  ///< the same names
  int m = 0;
  int n = 0;
  int k = 0;
  bool operator==(const SubgroupMatrixConfig&) const = default;
};

/// What planning may know of a device, as data: reads and writes JSON, so plans can be made for devices one
/// does not own. Names are WebGPU's own.
struct DeviceFacts {
  std::vector<std::string> features{};                ///< of the device as created, e.g. "shader-f16"
  std::vector<std::string> wgsl_language_features{};  ///< of the instance
  std::map<std::string, double> limits{};             ///< reported limits; the others take WebGPU's defaults
  std::string vendor{};                               ///< lower case, "" if unknown
  std::string architecture{};                         ///< lower case, "" if unknown
  bool is_fallback_adapter = false;
  std::optional<int> subgroup_min_size{};  ///< only when the implementation reports it
  std::optional<int> subgroup_max_size{};
  std::optional<std::vector<SubgroupMatrixConfig>> subgroup_matrix_configs{};

  /// WebGPU's default limits and no features.
  static DeviceFacts defaults();
  /// Reads `{features, wgslLanguageFeatures, limits, adapterInfo: {vendor, architecture, ...}}`. `name` names
  /// the text in messages. Throws device, with the JSON pointer, for anything malformed.
  static DeviceFacts from_json(std::string text, std::string name);
  std::string to_json() const;

  bool has_feature(std::string_view feature) const noexcept;
  /// The limit, WebGPU's default if it was not reported, or nothing for an unknown name.
  /// maxComputeWorkgroupsPerDimension is capped at 65535.
  std::optional<double> limit(std::string_view name) const noexcept;
  bool operator==(const DeviceFacts&) const = default;
};

enum class BufferKind { read_only_storage, storage, uniform };
/// "read-only-storage", "storage", "uniform".
std::string_view to_string(BufferKind kind) noexcept;

/// One binding of a pass.
struct PlannedBinding {
  enum class Resource { tensor, scratch, uniform };

  std::string name;  ///< WGSL variable
  BufferKind buffer = BufferKind::storage;
  std::uint32_t group = 0;
  std::uint32_t index = 0;
  Resource resource = Resource::tensor;
  std::string target;                   ///< tensor name, scratch id, or name of the uniform struct
  std::string element_type;             ///< WGSL element type of a storage binding
  std::optional<std::uint64_t> length;  ///< elements of a sized array
  std::uint64_t required_bytes = 0;     ///< smallest bound range that a sized array needs; 0: any
  std::vector<std::uint32_t> words;     ///< of a uniform, padding included
  bool operator==(const PlannedBinding&) const = default;
};

/// A field of a uniform struct with its value, for people.
struct UniformField {
  std::string binding;
  std::string name;
  std::string type;  ///< "u32", "i32", "f32"
  double value = 0;
  bool operator==(const UniformField&) const = default;
};

struct PlannedPass {
  enum class Skip { none, empty, view_alias };

  std::string id;    ///< "g[0].main"
  std::string name;  ///< label
  std::string shader;
  std::string entry_point = "main";
  /// Rendered WGSL, declarations included; nothing if the template is absent and that was allowed.
  std::optional<std::string> wgsl;
  std::vector<PlannedBinding> bindings;
  std::vector<UniformField> uniforms;
  std::array<std::uint32_t, 3> workgroups{0, 0, 0};
  /// Pairs (input tensor, output tensor): if every pair is one buffer range of one dtype, the pass is
  /// skipped.
  std::vector<std::pair<std::string, std::string>> view_aliases;
  Skip skip = Skip::none;
  bool submit_after = false;
  bool operator==(const PlannedPass&) const = default;
};

struct PlannedScratch {
  std::string id;
  DType dtype = DType::float32;
  Shape shape;
  std::uint64_t bytes = 0;  ///< rounded up to 4, at least 4
  bool zero_init = false;
  bool used = false;  ///< by a pass that is not skipped
  bool operator==(const PlannedScratch&) const = default;
};

/// Why a variant was not chosen.
struct Rejection {
  enum class Kind {
    requires_,
    buffer_budget,
    when_false,
    when_error,
    select_above,
    superseded,
    demote_error,
    demoted
  };

  std::string variant;
  Kind kind = Kind::when_false;
  std::string text;  ///< one sentence
  bool operator==(const Rejection&) const = default;
};
/// "requires", "buffer-budget", "when-false", "when-error", "select-above", "superseded", "demote-error",
/// "demoted".
std::string_view to_string(Rejection::Kind kind) noexcept;

/// How one call runs on one kind of device. Plain data: immutable once made, printable, comparable.
struct Plan {
  std::string op;
  std::string variant;
  std::vector<Rejection> rejected;   ///< variants refused before the chosen one, in the order of trial
  std::vector<BoundTensor> tensors;  ///< inputs, then outputs that are not inout
  std::vector<PlannedScratch> scratch;
  std::vector<PlannedPass> passes;
  bool operator==(const Plan&) const = default;
};

/// Several lines of text for people.
std::string to_string(const Plan& plan);

/// Which buffer a tensor of a call lies in. Tensors with equal labels share one buffer.
struct TensorBuffer {
  std::string tensor;
  std::string buffer;             ///< a label, compared only with other labels
  std::uint64_t byte_offset = 0;  ///< of the tensor's first element
  bool operator==(const TensorBuffer&) const = default;
};

/// What influences a plan besides the call and the device.
struct PlanOptions {
  /// Plan although a template is absent from the package: such passes have no WGSL.
  bool allow_missing_templates = false;
  /// Tensors that are not named here lie each in a buffer of its own.
  std::vector<TensorBuffer> buffers{};
  /// Tunables of a device profile: stronger than those of the package, weaker than those of the call.
  NamedValues profile{};
  bool operator==(const PlanOptions&) const = default;
};

/// Thrown when no variant accepts a call: kind no_variant, with every variant's reason.
class NoVariantError : public Error {
 public:
  NoVariantError(std::string message, std::vector<Rejection> reasons);
  const std::vector<Rejection>& reasons() const noexcept { return reasons_; }

 private:
  std::vector<Rejection> reasons_;
};

}  // namespace kernelpack
