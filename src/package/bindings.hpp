#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "package/model.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {

/// A binding entry as written, before it is resolved in a pass.
struct BindingEntry {
  std::optional<BufferKind> buffer;
  std::string name;     ///< empty if not given
  std::string arg;      ///< empty if not given
  std::string scratch;  ///< empty if not given
  std::optional<TextOrName> element_type;
  std::optional<std::variant<std::uint64_t, std::string>> length;
  bool uniform = false;  ///< has `struct`
  std::string struct_name = "Params";
  std::vector<Field> fields;
  std::string handle;  ///< of a top-level entry
  std::string pointer;
};

/// What the names in the bindings of a manifest can mean.
using Handles = std::map<std::string, BindingEntry, std::less<>>;

/// The top-level `bindings` of 2.x.
Handles read_handles(const Node& node, Model& model);

/// The bindings of one pass, resolved: a string is a handle, else a tensor, else an intermediate of
/// `variant`.
std::vector<Binding> read_bindings(const Node& node, const Handles& handles, const Model& model,
                                   const Variant& variant);

/// Checks shared by both generations: unique WGSL names, agreeing uniform structs, `vec2<u32>` for opaque
/// int64.
void check_bindings(const Node& node, const std::vector<Binding>& bindings, const Model& model);

std::optional<BufferKind> read_buffer_kind(const Node& node);
/// A WGSL type or `$name`.
std::optional<TextOrName> read_element_type(const Node& node);
std::optional<std::variant<std::uint64_t, std::string>> read_length(const Node& node);
/// A uniform's list of fields. Keys of 1.0 fields are allowed if `older`.
std::vector<Field> read_fields(const Node& node, bool older);

/// The element type of a tensor that names none: WGSL scalar of `storage`, else of the concrete dtype, else a
/// reference to the type variable; nothing for a tensor without dtype.
std::optional<TextOrName> default_element_type(const Port& port);
/// The port that a binding of that tensor reads or writes: the input's, else the output's, else null.
const Port* find_tensor(const Model& model, std::string_view name) noexcept;

}  // namespace kernelpack::package
