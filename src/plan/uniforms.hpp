#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "expr/scope.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"

namespace kernelpack::plan {

/// 32-bit words of a uniform struct of that many fields: a multiple of four, at least four (format.md 10.2).
constexpr std::size_t uniform_word_count(std::size_t fields) noexcept {
  return fields == 0 ? 4 : (fields + 3) / 4 * 4;
}

/// Evaluates the fields of a uniform binding in the complete pass scope, gives its words and appends the
/// fields with their values to `fields`. `arguments` is the value of the name `args`. Throws expression,
/// naming the field, for a missing value and for one that its type cannot hold.
std::vector<std::uint32_t> uniform_words(const package::Binding& binding, const expr::Scope& scope,
                                         const expr::Value& arguments, std::string_view pass,
                                         std::vector<UniformField>& fields, const Budgets& budgets = {});

}  // namespace kernelpack::plan
