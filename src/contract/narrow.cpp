#include "contract/narrow.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace kernelpack::contract {

void narrow_int64(std::string_view tensor, std::span<const std::int64_t> values, DType storage,
                  package::Narrowing narrowing, std::span<std::uint32_t> words) {
  const bool is_signed = storage == DType::int32;
  const std::int64_t low = is_signed ? std::numeric_limits<std::int32_t>::min() : 0;
  const std::int64_t high = is_signed ? std::int64_t{std::numeric_limits<std::int32_t>::max()}
                                      : std::int64_t{std::numeric_limits<std::uint32_t>::max()};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = std::clamp(values[i], low, high);
    if (value != values[i] && narrowing == package::Narrowing::checked)
      throw Error(ErrorKind::contract,
                  fmt::format("The value of input {} at element index {} ({}) is outside the range of its "
                              "storage {} ({} to {})",
                              tensor, i, values[i], to_string(storage), low, high),
                  fmt::format("input {}", tensor));
    words[i] = static_cast<std::uint32_t>(value);
  }
}

void widen_int64(std::span<const std::uint32_t> words, DType storage, std::span<std::int64_t> values) {
  for (std::size_t i = 0; i < words.size(); ++i)
    values[i] =
        storage == DType::int32 ? std::int64_t{static_cast<std::int32_t>(words[i])} : std::int64_t{words[i]};
}

}  // namespace kernelpack::contract
