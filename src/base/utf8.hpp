#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpack {

/// One decoded code point, or one byte that starts none (`valid` false, `length` 1, `value` U+FFFD).
struct CodePoint {
  char32_t value = 0xFFFD;
  std::size_t length = 1;
  bool valid = false;
};

/// The code point at `offset`, which must lie inside the text. Overlong forms, surrogates and values above
/// U+10FFFF are invalid.
CodePoint decode_utf8(std::string_view text, std::size_t offset) noexcept;

/// Offset of the first byte that is not part of well-formed UTF-8, or nothing.
std::optional<std::size_t> find_invalid_utf8(std::string_view text) noexcept;

/// Appends the UTF-8 bytes of `value`, which is a code point up to U+10FFFF; a surrogate becomes three bytes
/// that `find_invalid_utf8` reports.
void append_utf8(std::string& text, char32_t value);

/// The text, or its first `limit` bytes (fewer rather than half a code point) and "..." if it is longer: for
/// messages that quote untrusted input.
std::string clip(std::string_view text, std::size_t limit = 80);

}  // namespace kernelpack
