#include "plan/pass_bindings.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "base/shape.hpp"

namespace kernelpack::plan {
namespace {

std::string without_blanks(std::string_view text) {
  std::string result(text);
  result.erase(
      std::remove_if(result.begin(), result.end(), [](char c) { return c == ' ' || c == '\t' || c == '\n'; }),
      result.end());
  return result;
}

/// Bytes of an element type that a sized array may have.
std::optional<std::uint64_t> element_bytes(std::string_view type) {
  const std::string text = without_blanks(type);
  const auto scalar = [](std::string_view name) -> std::optional<std::uint64_t> {
    if (name == "f32" || name == "u32" || name == "i32") return 4;
    if (name == "f16") return 2;
    return std::nullopt;
  };
  if (text == "atomic<u32>" || text == "atomic<i32>") return 4;
  if (const auto bytes = scalar(text)) return bytes;
  if (text.size() > 6 && text.starts_with("vec") && text[4] == '<' && text.back() == '>') {
    const std::uint64_t lanes = text[3] == '2' ? 2 : text[3] == '3' || text[3] == '4' ? 4 : 0;
    const auto bytes = scalar(std::string_view(text).substr(5, text.size() - 6));
    if (lanes != 0 && bytes) return lanes * *bytes;
  }
  return std::nullopt;
}

class Resolver {
 public:
  Resolver(const Call& call, const ExpandedPass& pass, const PassScope& scope, bool empty_call)
      : call_(call), pass_(pass), scope_(scope), empty_call_(empty_call) {}

  PlannedBinding resolve(const package::Binding& binding) const {
    PlannedBinding planned;
    planned.name = binding.name;
    planned.buffer = binding.buffer;
    planned.group = binding.group;
    planned.index = binding.index;
    planned.resource = binding.resource;
    planned.target =
        binding.resource == PlannedBinding::Resource::uniform ? binding.struct_name : binding.target;
    if (binding.resource == PlannedBinding::Resource::uniform) return planned;

    planned.element_type =
        binding.element_type.is_reference ? referenced_text(binding) : binding.element_type.text;
    if (binding.resource == PlannedBinding::Resource::tensor) check_tensor(binding, planned.element_type);
    if (binding.length) {
      planned.length = length_of(binding);
      if (planned.length) planned.required_bytes = required_bytes(binding, planned);
    }
    return planned;
  }

 private:
  [[noreturn]] void fail(ErrorKind kind, const package::Binding& binding, std::string message) const {
    throw Error(kind, std::move(message), to_string(Origin{"manifest.json", binding.pointer}));
  }

  const expr::Value& referenced(const package::Binding& binding, const std::string& name) const {
    const expr::Value* value = scope_.reference(name);
    if (value == nullptr || value->is_undefined() || value->is_none())
      fail(ErrorKind::expression, binding,
           fmt::format("The reference ${} of binding {} of pass {} finds {}", name, binding.name, pass_.id,
                       value == nullptr ? "no such name" : "no value"));
    return *value;
  }

  std::string referenced_text(const package::Binding& binding) const {
    const expr::Value& value = referenced(binding, binding.element_type.text);
    if (value.is_string()) return value.string();
    if (value.is_number()) return javascript_number_text(value.number());
    if (value.is_boolean()) return value.boolean() ? "true" : "false";
    fail(ErrorKind::expression, binding,
         fmt::format("The reference ${} of binding {} of pass {} finds {}, which is no WGSL type",
                     binding.element_type.text, binding.name, pass_.id, expr::describe(value)));
  }

  std::optional<std::uint64_t> length_of(const package::Binding& binding) const {
    if (const auto* number = std::get_if<std::uint64_t>(&*binding.length)) return *number;
    const std::string& name = std::get<std::string>(*binding.length);
    const expr::Value& value = referenced(binding, name);
    if (value.is_number() && value.number() >= 1 && value.number() <= static_cast<double>(kMaxExactInteger) &&
        std::trunc(value.number()) == value.number())
      return static_cast<std::uint64_t>(value.number());
    if (empty_call_) return std::nullopt;
    fail(ErrorKind::expression, binding,
         fmt::format("The length ${} of binding {} of pass {} ({}) is not a positive integer", name,
                     binding.name, pass_.id, expr::describe(value)));
  }

  std::uint64_t required_bytes(const package::Binding& binding, const PlannedBinding& planned) const {
    const auto element = element_bytes(planned.element_type);
    if (!element)
      fail(
          ErrorKind::package, binding,
          fmt::format(
              "The element type {} of binding {} of pass {} has no known size, which its length ({}) demands",
              planned.element_type, binding.name, pass_.id, *planned.length));
    const auto bytes =
        checked_multiply(static_cast<std::int64_t>(*planned.length), static_cast<std::int64_t>(*element));
    if (!bytes)
      fail(ErrorKind::limit, binding,
           fmt::format("The byte size of binding {} of pass {} exceeds 2^53 - 1", binding.name, pass_.id));
    return static_cast<std::uint64_t>(*bytes);
  }

  void check_tensor(const package::Binding& binding, std::string_view element_type) const {
    const BoundTensor* tensor = find_tensor(call_, binding.target);
    if (tensor == nullptr)
      fail(ErrorKind::contract, binding,
           fmt::format("The tensor {}, which binding {} of pass {} binds, is absent from the call",
                       binding.target, binding.name, pass_.id));
    if (tensor->dtype == DType::int64 && tensor->storage == DType::int64 &&
        without_blanks(element_type) != "vec2<u32>")
      fail(ErrorKind::package, binding,
           fmt::format("The element type of binding {} of pass {} ({}) is not vec2<u32> although tensor {} "
                       "is an int64 "
                       "stored as int64",
                       binding.name, pass_.id, element_type, binding.target));
  }

  const Call& call_;
  const ExpandedPass& pass_;
  const PassScope& scope_;
  bool empty_call_;
};

}  // namespace

const BoundTensor* find_tensor(const Call& call, std::string_view name) noexcept {
  for (const auto* tensors : {&call.inputs, &call.outputs})
    for (const BoundTensor& tensor : *tensors)
      if (tensor.name == name) return &tensor;
  return nullptr;
}

std::vector<PlannedBinding> resolve_bindings(const Call& call, const ExpandedPass& pass,
                                             const PassScope& scope, bool empty_call) {
  const Resolver resolver(call, pass, scope, empty_call);
  std::vector<PlannedBinding> planned;
  planned.reserve(pass.pass->bindings.size());
  for (const package::Binding& binding : pass.pass->bindings) planned.push_back(resolver.resolve(binding));
  return planned;
}

}  // namespace kernelpack::plan
