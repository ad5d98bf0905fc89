#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelpack {

/// Budgets for untrusted input (format.md 14 (u)). Exceeding one is an error of kind limit that names the
/// budget.
struct Budgets {
  std::size_t expression_depth = 200;        ///< nested brackets, calls, unary signs, `not` and ternaries
  std::uint64_t evaluation_steps = 1000000;  ///< nodes evaluated by one expression or one template
  std::size_t rendered_bytes = 4u << 20;     ///< text rendered by one template
  std::size_t json_bytes = 8u << 20;         ///< size of manifest.json and of each other JSON file
  std::size_t json_depth = 128;              ///< nested arrays and objects
  std::size_t list_length = 1000000;         ///< items of one list
  std::size_t json_values = 1000000;         ///< values of one JSON text, containers included
};

}  // namespace kernelpack
