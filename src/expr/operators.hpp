#pragma once

#include "expr/ast.hpp"
#include "expr/meter.hpp"
#include "expr/value.hpp"

namespace kernelpack::expr {

/// A binary operator other than `and` and `or` (format.md 4.5). Throws expression, without place, naming both
/// operands.
Value apply_binary(Op op, const Value& left, const Value& right, Meter& meter);
/// Unary minus and plus.
Value apply_sign(Op op, const Value& operand);

/// `==`.
bool loosely_equal(const Value& left, const Value& right, Meter& meter);
/// The order of the filters sort and dictsort: -1, 0 or 1; fails for kinds that have no order between them.
int compare_for_sort(const Value& left, const Value& right, bool case_sensitive, Meter& meter);
/// JavaScript's Number(value) (format.md 4.9): undefined and none NaN, true 1, [] 0, [5] 5.
double to_number(const Value& value, Meter& meter);
/// a ** b of JavaScript, exact where both are integers and the exact result is below 2^53 (format.md 14 (e)).
double power(double base, double exponent) noexcept;

/// The element at an int index (negative counts from the end), a code unit of a string, or undefined.
Value element_at(const Value& sequence, double index);
/// A slice of a list, tuple or string; each bound an int or undefined.
Value slice_of(const Value& sequence, const Value& start, const Value& stop, const Value& step, Meter& meter);

std::string_view spelling(Op op) noexcept;

}  // namespace kernelpack::expr
