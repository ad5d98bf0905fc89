#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "expr/faults.hpp"
#include "jinja/template.hpp"

namespace kernelpack::jinja {

/// The text that is parsed, made of the template's file and its includes by the pre-processing of
/// format.md 9.1, and where each byte of it comes from.
class SourceText final : public expr::Faults {
 public:
  SourceText(std::string text, Origin origin, const IncludeResolver& include, const Budgets& budgets);

  const std::string& text() const noexcept { return text_; }
  const Origin& origin() const noexcept { return files_.front().origin; }
  std::vector<std::string> included_files() const;

  ErrorKind kind() const noexcept override { return ErrorKind::template_; }
  Error at(ErrorKind kind, std::string message, SourceSpan span) const override;

 private:
  struct File {
    Origin origin;
    std::string text;
  };
  /// A run of bytes that stands unchanged in a file.
  struct Piece {
    std::size_t begin = 0;  ///< in the text
    std::size_t file = 0;
    std::size_t offset = 0;  ///< in the file
  };

  void expand(std::size_t file, const IncludeResolver& include, std::vector<std::size_t>& open,
              const Budgets& budgets);
  std::size_t add_file(Origin origin, std::string text);
  void append(std::size_t file, std::size_t begin, std::size_t end, const Budgets& budgets);
  /// Removes ranges, which are in order and do not overlap.
  void remove(const std::vector<SourceSpan>& ranges);
  void remove_trailing_newline();
  void remove_indent_of_tags();
  void remove_newlines_after_tags();
  void remove_generation_tags();
  const Piece& piece_at(std::size_t offset) const noexcept;

  std::vector<File> files_;
  std::string text_;
  std::vector<Piece> pieces_;
  std::size_t inclusions_ = 0;
};

/// `path` as it stands in an include of `from`, relative to the package root and without "." and "..".
/// Nothing if it leaves the root or is empty.
std::optional<std::string> include_path(std::string_view path, std::string_view from);

}  // namespace kernelpack::jinja
