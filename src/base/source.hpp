#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kernelpack/error.hpp"

namespace kernelpack {

/// A half-open range of byte offsets in a source text.
struct SourceSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const SourceSpan&) const = default;
};

/// 1-based; the column counts code points of the line.
struct LineColumn {
  std::size_t line = 1;
  std::size_t column = 1;
};

LineColumn line_column(std::string_view text, std::size_t offset) noexcept;

/// Where a source text comes from: a file of the package and, in JSON files, the pointer of the string.
struct Origin {
  std::string file;     ///< "manifest.json", "bias-softmax.wgsl.jinja"; empty for a text without a file
  std::string pointer;  ///< "/variants/2/when/1"; empty for a template
  bool operator==(const Origin&) const = default;
};

/// "manifest.json:/variants/2/when/1", or the file alone, or the pointer alone; may be empty.
std::string to_string(const Origin& origin);
/// `to_string(origin)` followed by ", line L, column C".
std::string locate(const Origin& origin, std::string_view text, std::size_t offset);

/// The source line that holds `span.begin` and, below it, carets under the part of the span on that line,
/// e.g.
///     shapes.data + 1
///            ^^^^
/// Tabs are kept in the caret line, control characters are shown as '?', long lines are cut around the span.
std::string excerpt(std::string_view text, SourceSpan span);

/// An error at a place of a source text: `where` and the excerpt are filled in.
Error error_at(ErrorKind kind, std::string message, const Origin& origin, std::string_view text,
               SourceSpan span);

}  // namespace kernelpack
