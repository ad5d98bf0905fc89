#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jinja/template.hpp"
#include "kernelpack/call.hpp"
#include "kernelpack/package.hpp"
#include "kernelpack/plan.hpp"
#include "kernelpack/tensor.hpp"
#include "package/formula.hpp"

/// The one typed model of a manifest. It has the shape of manifest 2.x; manifest 1.0 is mapped into it and
/// what differs is kept in the fields marked (1.0). Immutable once loaded. Families are expanded, handles
/// resolved, defaults filled in and both levels of `when` and `requires` merged, so that planning only
/// evaluates. A `pointer` is the JSON pointer in manifest.json of the object that it describes.
namespace kernelpack::package {

enum class Generation { one, two };  ///< manifest 1.0; manifest 2.0 and 2.1

enum class Narrowing { checked, saturating };

/// A tensor of the contract.
struct Port {
  std::string name;  ///< public name in calls and results
  std::string description;
  std::string onnx;               ///< formal ONNX name, or empty
  std::string dtype;              ///< a logical dtype, a type variable, or empty if the manifest gives none
  std::optional<DType> concrete;  ///< the dtype if it is one and no type variable
  std::optional<Formula> rank;    ///< informative; checked early if closed
  bool optional = false;
  std::optional<Formula> shape;  ///< outputs: inference rule; inputs: informative
  std::optional<DType> storage;  ///< GPU storage that the manifest states (1.0: also the arg's `dtype`)
  std::optional<Narrowing> narrowing;
  bool packed = false;  ///< layout "packed": uint8, four to a word
  bool inout = false;   ///< the same name is in `inputs` and in `outputs`
  /// Names by which shapes, ranks and tensorDtypes know the tensor: its own first. (1.0) also `semantic` and
  /// `role` unless they are shared between tensors.
  std::vector<std::string> scope_names;
  std::string semantic;  ///< (1.0) the role of the port that the arg is linked to
  std::string pointer;
};

enum class ArgumentKind { u32, i32, f32, boolean, string };
/// "u32", "i32", "f32", "bool", "string".
std::string_view to_string(ArgumentKind kind) noexcept;

/// A scalar of the contract.
struct Argument {
  std::string name;
  ArgumentKind kind = ArgumentKind::u32;
  std::string description;
  std::string onnx;
  bool required = true;
  std::vector<std::string> one_of;  ///< only for strings; empty: any
  std::string pointer;
};

struct Attribute {
  std::string name;
  std::string description;
  std::optional<AttributeValue> default_value;
  bool required = false;
  std::optional<std::vector<AttributeValue>> values;  ///< the only values allowed
  std::string pointer;
};

struct Tunable {
  std::string name;
  AttributeValue value;  ///< number, string or bool; (1.0) may be null
  std::string description;
  std::string pointer;
};

/// A type variable with the logical dtypes that it may take.
struct TypeConstraint {
  std::string name;
  std::vector<DType> dtypes;
  std::string pointer;
};

/// A pattern of `subgroupMatrixConfigs`; absent fields match anything.
struct MatrixPattern {
  std::string component_type;         ///< empty: any
  std::string result_component_type;  ///< empty: any
  std::optional<int> m;
  std::optional<int> n;
  std::optional<int> k;
};

struct LimitRequirement {
  std::string name;
  double value = 0;
};

/// What a variant demands of the device.
struct Requirements {
  std::vector<std::string> features;
  std::vector<std::string> wgsl_language_features;  ///< (1.0)
  std::vector<LimitRequirement> limits;
  std::optional<int> subgroup_min_size;
  std::vector<MatrixPattern> matrix_configs;  ///< empty: nothing demanded
};

/// A scratch buffer.
struct Intermediate {
  std::string id;
  DType dtype = DType::float32;  ///< storage dtype
  Formula shape;                 ///< a number stands for a list of one
  bool zero_init = false;
  std::string pointer;
};

enum class FieldType { u32, i32, f32 };
/// "u32", "i32", "f32".
std::string_view to_string(FieldType type) noexcept;

/// A field of a uniform struct. Its value is `value`, else the scalar argument of the same name, else
/// `default_value`; a string found there is an expression.
struct Field {
  std::string name;
  FieldType type = FieldType::u32;
  std::optional<Formula> value;  ///< (1.0) already replaced by the pass's `uniforms`
  std::optional<Formula> default_value;
  bool required = true;  ///< `required`, else not `internal`
};

/// A text, or a name to look up when the pass is planned: in 2.x among derived and dtype names of the pass,
/// in 1.0 among type variables and constants.
struct TextOrName {
  std::string text;  ///< without the "$" if it is a reference
  bool is_reference = false;
};

/// A binding of a pass, resolved: what it binds is known and every default is filled in.
struct Binding {
  std::string name;  ///< WGSL variable
  BufferKind buffer = BufferKind::storage;
  PlannedBinding::Resource resource = PlannedBinding::Resource::tensor;
  std::string target;  ///< tensor name or intermediate id; empty for a uniform
  TextOrName element_type;
  std::optional<std::variant<std::uint64_t, std::string>>
      length;  ///< sized array: elements, or a name as `$ref`
  std::uint32_t group = 0;
  std::uint32_t index = 0;  ///< place in the list, or (1.0) as stated
  std::string struct_name;  ///< uniform only
  std::vector<Field> fields;
  std::string pointer;  ///< of the entry that the pass uses (a handle's entry, an inline one, or the string)
};

/// An entry of the top-level `bindings` (1.0: of a binding set) as written, for inspection.
struct BindingHandle {
  std::string name;
  std::string pointer;
};

struct Dispatch {
  enum class Form { axes, threads, workgroups, grid_stride };

  Form form = Form::axes;
  /// Form::axes: x, y, z (absent: 1). Other forms (1.0): at most one pinned axis.
  std::array<std::optional<Formula>, 3> axes;
  std::optional<Formula> count;           ///< threads, workgroups or gridStride
  std::optional<Formula> workgroup_size;  ///< always with threads; maybe with gridStride
};

/// Binding names (WGSL variables) of the pass.
struct ViewAlias {
  std::string input;
  std::string output;
};

struct Pass {
  std::string id;
  std::string name;    ///< label
  std::string shader;  ///< template file
  std::string entry_point = "main";
  FormulaMap derive;
  FormulaMap constants;      ///< (1.0) those of all levels, the strongest of each name; none sees another
  FormulaMap source_inputs;  ///< (1.0) names under `source`; none sees another
  std::vector<Binding> bindings;
  Dispatch dispatch;
  std::optional<int> subgroup_collectives_width;  ///< nothing: not stated or "portable"
  bool submit_after = false;
  std::vector<ViewAlias> view_aliases;
  std::string pointer;
};

struct PassItem;

/// Passes that are repeated `count` times; `repeat.index`, `repeat.count`, `repeat.<index_name>` and
/// `repeat.<index_name>_count` are set inside.
struct RepeatGroup {
  std::string id;
  std::string index_name;
  Formula count;
  std::vector<PassItem> items;
  std::string pointer;
};

struct PassItem {
  std::variant<Pass, RepeatGroup> content;
};

struct Variant {
  std::string id;
  std::string description;
  double priority = 0;
  bool is_default = false;            ///< (1.0) tried before all others
  std::vector<Formula> when;          ///< top level first; bools (1.0) or expressions
  std::vector<Formula> select_above;  ///< (1.0)
  std::vector<Formula> demote_when;
  std::vector<std::size_t> superseded_by;  ///< indices into Model::variants
  Requirements requirements;               ///< both levels merged
  std::vector<Tunable> tunables;           ///< the variant's own
  FormulaMap derive;
  std::vector<Intermediate> intermediates;
  std::vector<PassItem> passes;
  std::vector<std::string> templates;    ///< files used, sorted, each once
  std::size_t max_storage_bindings = 0;  ///< in any one pass
  std::size_t max_uniform_bindings = 0;
  std::string pointer;
};

/// A template file of the package.
struct TemplateFile {
  std::string name;
  std::string text;
  std::optional<jinja::Template> parsed;  ///< nothing if absent
  bool absent = false;                    ///< only with LoadOptions::allow_missing_templates
};

/// metadata.json.
struct Metadata {
  std::string name;
  std::string id;
  int version = 0;
  std::string license;
  std::string manifest_spec;
  std::vector<std::pair<std::string, std::string>> digests;  ///< file name, base64 of SHA-256
  std::vector<std::pair<std::string, std::vector<std::string>>>
      variants;            ///< (2.1) variant id, template files
  std::string kernel_sha;  ///< provenance; empty if not stated
  bool kernel_dirty = false;
};

struct Model {
  std::string op_id;
  std::string domain;
  std::string name;
  std::string description;
  std::string spec;  ///< "1.0", "2.0", "2.1"
  Generation generation = Generation::two;
  std::optional<double> since_version;

  std::vector<Port> inputs;  ///< contract order; an inout tensor is in both lists
  std::vector<Port> outputs;
  std::vector<Argument> arguments;
  std::vector<Attribute> attributes;
  std::vector<Tunable> tunables;
  std::vector<TypeConstraint> types;
  FormulaMap derive;
  FormulaMap constants;       ///< (1.0) top level
  std::vector<Formula> when;  ///< top level; also in front of every variant's
  Requirements requirements;  ///< top level; also merged into every variant's
  std::vector<BindingHandle> handles;
  bool contract_only = false;     ///< (2.x) the manifest has no key `variants`
  std::vector<Variant> variants;  ///< families expanded, manifest order
  /// Indices of `variants` in the order of trial: (1.0) default first, then priority descending, stable.
  std::vector<std::size_t> trial_order;

  std::vector<TemplateFile> templates;  ///< sorted by name
  std::optional<Metadata> metadata;     ///< nothing for a bare manifest
  std::filesystem::path folder;
  bool verified = false;             ///< every used file matched its digest
  bool verification_waived = false;  ///< loaded with LoadOptions::verify off

  /// Each is the entry of that name or null.
  const Port* input(std::string_view port_name) const noexcept;
  const Port* output(std::string_view port_name) const noexcept;
  const Argument* argument(std::string_view argument_name) const noexcept;
  const Attribute* attribute(std::string_view attribute_name) const noexcept;
  const TypeConstraint* type(std::string_view variable) const noexcept;
  const Variant* variant(std::string_view variant_id) const noexcept;
  const TemplateFile* template_file(std::string_view file) const noexcept;
};

}  // namespace kernelpack::package
