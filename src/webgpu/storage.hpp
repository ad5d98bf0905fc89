#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernelpack/call.hpp"

namespace kernelpack::webgpu {

/// Bytes of the tensor's elements as a GPU buffer stores them (format.md 11.1). Throws contract for a dtype
/// without storage and limit on overflow.
std::uint64_t storage_bytes(const BoundTensor& tensor);
/// `bytes` rounded up to 4, at least 4: the size of a buffer and of a bound range.
constexpr std::uint64_t buffer_bytes(std::uint64_t bytes) noexcept {
  return bytes == 0 ? 4 : (bytes + 3) / 4 * 4;
}
/// Whether host and storage layout are the same bytes.
bool stored_as_is(const BoundTensor& tensor) noexcept;

/// Writes the values as the buffer stores them. `out` has at least storage_bytes(tensor) bytes; what lies
/// behind them stays. bool values other than 0 become 1. Throws contract, naming the element, where an int64
/// value does not fit a checked projection.
void to_storage(const BoundTensor& tensor, std::span<const std::byte> host, std::span<std::byte> out);
/// The reverse: integers are cut to their width, any word but 0 is a true bool.
void from_storage(const BoundTensor& tensor, std::span<const std::byte> stored, std::span<std::byte> host);

}  // namespace kernelpack::webgpu
