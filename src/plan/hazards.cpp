#include "plan/hazards.hpp"

#include <fmt/format.h>

#include "base/dtype.hpp"
#include "base/shape.hpp"

namespace kernelpack::plan {

std::uint64_t storage_bytes(DType storage, const Shape& shape) {
  const auto element = static_cast<std::int64_t>(info(storage).storage_bytes);
  const std::optional<std::int64_t> bytes = checked_multiply(element_count(shape), element);
  if (!bytes)
    throw Error(ErrorKind::contract,
                fmt::format("The byte size of a tensor of shape {} exceeds 2^53 - 1", to_string(shape)));
  return static_cast<std::uint64_t>(*bytes);
}

std::uint64_t storage_bytes(const BoundTensor& tensor) {
  if (tensor.packed) return static_cast<std::uint64_t>(element_count(tensor.shape));
  return storage_bytes(tensor.storage, tensor.shape);
}

void check_hazards(const std::vector<BoundRange>& bindings, std::string_view pass) {
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    for (std::size_t j = i + 1; j < bindings.size(); ++j) {
      const BoundRange& a = bindings[i];
      const BoundRange& b = bindings[j];
      if ((!a.writable && !b.writable) || a.range.buffer != b.range.buffer) continue;
      if (a.writable != b.writable)
        throw Error(
            ErrorKind::contract,
            fmt::format("The bindings {} (read-only) and {} (read-write) of pass {} share the buffer {}",
                        a.writable ? b.name : a.name, a.writable ? a.name : b.name, pass, a.range.buffer));
      if (a.range.begin < b.range.end && b.range.begin < a.range.end)
        throw Error(
            ErrorKind::contract,
            fmt::format(
                "The read-write bindings {} (bytes {} to {}) and {} (bytes {} to {}) of pass {} overlap "
                "in the buffer {}",
                a.name, a.range.begin, a.range.end, b.name, b.range.begin, b.range.end, pass,
                a.range.buffer));
    }
  }
}

}  // namespace kernelpack::plan
