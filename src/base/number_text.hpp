#pragma once

#include <string>
#include <string_view>

namespace kernelpack {

/// The text of a double as JavaScript's Number.prototype.toString() gives it (format.md 4.6): shortest digits
/// that round-trip, "1e-7", "1e+21", "NaN", "Infinity", and "0" for minus zero.
std::string javascript_number_text(double value);

/// JavaScript's Number(text): trimmed, "" is 0, hexadecimal, octal and binary prefixes and "Infinity"
/// understood, anything else NaN.
double javascript_to_number(std::string_view text);

/// The double nearest to an unsigned or '-'-signed decimal literal ("12", "1.5e-3", ".5", "5."), whose syntax
/// the caller has checked: infinity above the range, zero (of the right sign) below it.
double nearest_double(std::string_view decimal) noexcept;

}  // namespace kernelpack
