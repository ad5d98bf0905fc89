#include "kernelpack/call.hpp"

#include <fmt/format.h>

namespace kernelpack {
namespace {

void append_values(std::string& text, std::string_view title, const NamedValues& values) {
  for (const NamedValue& entry : values)
    text += fmt::format("  {} {} = {}\n", title, entry.name, to_string(entry.value));
}

void append_tensors(std::string& text, std::string_view title, const std::vector<BoundTensor>& tensors) {
  for (const BoundTensor& tensor : tensors) {
    text += fmt::format("  {} {}: {}", title, tensor.name, to_string(TensorSpec{tensor.dtype, tensor.shape}));
    if (tensor.storage != tensor.dtype) text += fmt::format(", stored as {}", to_string(tensor.storage));
    if (tensor.packed) text += ", packed";
    if (tensor.inout) text += ", in place";
    text += '\n';
  }
}

}  // namespace

const AttributeValue* Call::attribute(std::string_view name) const noexcept {
  for (const NamedValue& entry : attributes)
    if (entry.name == name) return &entry.value;
  return nullptr;
}

std::string to_string(const Call& call) {
  std::string text = call.op + '\n';
  append_tensors(text, "input", call.inputs);
  append_values(text, "attribute", call.attributes);
  append_values(text, "scalar", call.arguments);
  append_values(text, "tunable", call.tunables);
  if (!call.variant.empty()) text += fmt::format("  variant {}\n", call.variant);
  append_tensors(text, "output", call.outputs);
  return text;
}

}  // namespace kernelpack
