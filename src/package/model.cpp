#include "package/model.hpp"

#include <algorithm>
#include <array>

namespace kernelpack::package {
namespace {

template <class Entry>
const Entry* find_named(const std::vector<Entry>& entries, std::string_view name) noexcept {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(ArgumentKind kind) noexcept {
  constexpr std::array<std::string_view, 5> kNames = {"u32", "i32", "f32", "bool", "string"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_string(FieldType type) noexcept {
  constexpr std::array<std::string_view, 3> kNames = {"u32", "i32", "f32"};
  return kNames[static_cast<std::size_t>(type)];
}

const Port* Model::input(std::string_view port_name) const noexcept {
  return find_named(inputs, port_name);
}
const Port* Model::output(std::string_view port_name) const noexcept {
  return find_named(outputs, port_name);
}
const Argument* Model::argument(std::string_view argument_name) const noexcept {
  return find_named(arguments, argument_name);
}
const Attribute* Model::attribute(std::string_view attribute_name) const noexcept {
  return find_named(attributes, attribute_name);
}
const TypeConstraint* Model::type(std::string_view variable) const noexcept {
  return find_named(types, variable);
}
const TemplateFile* Model::template_file(std::string_view file) const noexcept {
  return find_named(templates, file);
}

const Variant* Model::variant(std::string_view variant_id) const noexcept {
  const auto found = std::find_if(variants.begin(), variants.end(),
                                  [&](const Variant& entry) { return entry.id == variant_id; });
  return found == variants.end() ? nullptr : &*found;
}

}  // namespace kernelpack::package
