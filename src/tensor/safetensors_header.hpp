#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/tensor.hpp"

namespace kernelpack {

/// A tensor as the header of a .safetensors file describes it; offsets count from the end of the header.
struct SafetensorsEntry {
  std::string name;
  TensorSpec spec;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Bytes of the header's length at the start of the file.
inline constexpr std::size_t kSafetensorsPrefix = 8;
/// Longest header that is read, as in the format's own library.
inline constexpr std::size_t kSafetensorsLongestHeader = 100'000'000;

/// Checks the whole header and gives its tensors in the order of their data, which they cover without gap or
/// overlap. Throws contract with file, JSON pointer, line and column; limit for nesting or values beyond the
/// budgets.
std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text, std::size_t data_bytes,
                                                       const std::string& file);

/// The tensors of a file to write, in the order of their data (larger elements first, so that each is
/// aligned), and the length and text of its header, a multiple of 64 bytes. Throws contract for a repeated or
/// unusable name.
struct SafetensorsLayout {
  std::vector<const NamedTensorView*> order;
  std::string preamble;
};
SafetensorsLayout lay_out_safetensors(std::span<const NamedTensorView> tensors, const std::string& file);

}  // namespace kernelpack
