#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernelpack/tensor.hpp"
#include "package/model.hpp"

namespace kernelpack::contract {

/// Converts the host values of a projected int64 input (format.md 11.3) to words of its storage, int32 or
/// uint32; `words` has as many items as `values`. Checked: throws contract, naming the tensor, the index of
/// the first element outside the range and its value. Saturating: clamps.
void narrow_int64(std::string_view tensor, std::span<const std::int64_t> values, DType storage,
                  package::Narrowing narrowing, std::span<std::uint32_t> words);

/// The reverse, for a projected output: words of int32 or uint32 storage as int64.
void widen_int64(std::span<const std::uint32_t> words, DType storage, std::span<std::int64_t> values);

}  // namespace kernelpack::contract
