#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelpack::cli {

/// The paragraphs of `text` (one per line) broken at spaces to 80 columns, each line indented, with a newline
/// at its end.
std::string wrapped(std::string_view text, std::size_t indent);

/// Rows of cells, each column as wide as its widest cell, indented by two. Prose goes below its row.
class Table {
 public:
  void add(std::vector<std::string> cells, std::string prose = {});
  /// Empty if there are no rows, else a blank line, the title and the rows.
  std::string text(std::string_view title) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string prose;
  };
  std::vector<Row> rows_;
};

}  // namespace kernelpack::cli
