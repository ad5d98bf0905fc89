#include "layout.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace kernelpack::cli {
namespace {

constexpr std::size_t kWidth = 80;

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view paragraph = text.substr(0, end);
    std::size_t column = 0;
    while (!paragraph.empty()) {
      const std::size_t space = std::min(paragraph.find(' '), paragraph.size());
      const std::string_view word = paragraph.substr(0, space);
      if (column != 0 && column + 1 + word.size() > kWidth) {
        result += '\n';
        column = 0;
      }
      result += column == 0 ? std::string(indent, ' ') : " ";
      column += (column == 0 ? indent : 1) + word.size();
      result += word;
      paragraph.remove_prefix(std::min(space + 1, paragraph.size()));
    }
    result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

void Table::add(std::vector<std::string> cells, std::string prose) {
  rows_.push_back({std::move(cells), std::move(prose)});
}

std::string Table::text(std::string_view title) const {
  if (rows_.empty()) return {};
  std::vector<std::size_t> widths;
  for (const Row& row : rows_) {
    widths.resize(std::max(widths.size(), row.cells.size()));
    for (std::size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], row.cells[i].size());
  }
  std::string text = fmt::format("\n{}\n", title);
  for (const Row& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (widths[i] != 0) line += fmt::format("  {:<{}}", row.cells[i], widths[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    text += wrapped(row.prose, 6);
  }
  return text;
}

}  // namespace kernelpack::cli
