#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/plan.hpp"

namespace kernelpack::plan {

/// Where a tensor or scratch lies: bytes [begin, end) of one buffer. Buffers are compared by `buffer` alone.
struct BufferRange {
  std::string_view buffer;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const BufferRange&) const = default;
};

/// Bytes that a binding exposes: the byte length rounded up to 4, at least 4 (format.md 10.3).
constexpr std::uint64_t bound_bytes(std::uint64_t bytes) noexcept {
  return bytes == 0 ? 4 : (bytes + 3) / 4 * 4;
}
/// Bytes of a tensor in its GPU buffer, not rounded. Throws contract on overflow.
std::uint64_t storage_bytes(const BoundTensor& tensor);
std::uint64_t storage_bytes(DType storage, const Shape& shape);

/// A storage binding of one pass with what it binds.
struct BoundRange {
  std::string_view name;  ///< WGSL variable
  bool writable = false;
  BufferRange range;
};

/// The rules of format.md 11.5 for one pass: reads may share, a read-only and a read-write binding may not
/// share a buffer at all, two read-write bindings may not overlap. Throws contract, naming pass and bindings.
void check_hazards(const std::vector<BoundRange>& bindings, std::string_view pass);

}  // namespace kernelpack::plan
