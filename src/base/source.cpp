#include "base/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/utf8.hpp"

namespace kernelpack {
namespace {

constexpr std::size_t kExcerptWidth = 100;

/// The offsets of the line that holds `offset`, without its line break.
SourceSpan line_around(std::string_view text, std::size_t offset) {
  SourceSpan line;
  if (offset > 0) {
    const std::size_t newline = text.rfind('\n', offset - 1);
    line.begin = newline == std::string_view::npos ? 0 : newline + 1;
  }
  const std::size_t newline = text.find('\n', offset);
  line.end = newline == std::string_view::npos ? text.size() : newline;
  if (line.end > line.begin && text[line.end - 1] == '\r') --line.end;
  return line;
}

bool is_control(const CodePoint& point) {
  return !point.valid || point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0);
}

}  // namespace

LineColumn line_column(std::string_view text, std::size_t offset) noexcept {
  offset = std::min(offset, text.size());
  LineColumn place;
  for (std::size_t i = 0; i < offset;) {
    if (text[i] == '\n') {
      ++place.line;
      place.column = 1;
      ++i;
    } else {
      ++place.column;
      i += decode_utf8(text, i).length;
    }
  }
  return place;
}

std::string to_string(const Origin& origin) {
  if (origin.file.empty() || origin.pointer.empty()) return origin.file + origin.pointer;
  return origin.file + ":" + origin.pointer;
}

std::string locate(const Origin& origin, std::string_view text, std::size_t offset) {
  const LineColumn place = line_column(text, offset);
  std::string where = to_string(origin);
  if (!where.empty()) where += ", ";
  return where + fmt::format("line {}, column {}", place.line, place.column);
}

std::string excerpt(std::string_view text, SourceSpan span) {
  span.begin = std::min(span.begin, text.size());
  const SourceSpan line = line_around(text, span.begin);

  struct Cell {
    std::string_view shown;
    std::size_t offset;
  };
  std::vector<Cell> cells;
  for (std::size_t i = line.begin; i < line.end;) {
    const CodePoint point = decode_utf8(text, i);
    const bool shown = text[i] == '\t' || !is_control(point);
    cells.push_back({shown ? text.substr(i, point.length) : std::string_view("?"), i});
    i += point.length;
  }
  const auto cell_at = [&](std::size_t offset) {
    const auto found = std::lower_bound(cells.begin(), cells.end(), offset,
                                        [](const Cell& cell, std::size_t o) { return cell.offset < o; });
    return static_cast<std::size_t>(found - cells.begin());
  };
  const std::size_t mark = cell_at(span.begin);
  const std::size_t mark_end = std::max(mark + 1, cell_at(std::min(span.end, line.end)));

  std::size_t first = 0;
  std::size_t last = cells.size();
  if (cells.size() > kExcerptWidth) {
    const std::size_t lead = kExcerptWidth / 3;
    first = std::min(mark > lead ? mark - lead : 0, cells.size() - kExcerptWidth);
    last = first + kExcerptWidth;
  }
  std::string source = first > 0 ? "..." : "";
  std::string carets = first > 0 ? "   " : "";
  for (std::size_t i = first; i < last; ++i) {
    source += cells[i].shown;
    if (i >= mark_end) continue;
    carets += i >= mark ? "^" : cells[i].shown == "\t" ? "\t" : " ";
  }
  if (mark >= last) carets += '^';
  if (last < cells.size()) source += "...";
  return source + '\n' + carets;
}

Error error_at(ErrorKind kind, std::string message, const Origin& origin, std::string_view text,
               SourceSpan span) {
  Error error(kind, std::move(message), locate(origin, text, span.begin));
  error.set_excerpt(excerpt(text, span));
  return error;
}

}  // namespace kernelpack
