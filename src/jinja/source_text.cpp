#include "jinja/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "expr/text.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::jinja {
namespace {

/// More inclusions than any package needs: without a bound, files that include each other twice take forever.
constexpr std::size_t kMaxInclusions = 10000;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

struct Include {
  std::size_t begin = 0;
  std::size_t end = 0;
  SourceSpan path;
};

/// The next `{% include "path" %}` at or after `from`.
std::optional<Include> find_include(std::string_view text, std::size_t from) {
  constexpr std::string_view kWord = "include";
  for (std::size_t begin = text.find("{%", from); begin != std::string_view::npos;
       begin = text.find("{%", begin + 2)) {
    std::size_t at = skip_blanks(text, begin + 2);
    if (text.substr(at, kWord.size()) != kWord) continue;
    at = skip_blanks(text, at + kWord.size());
    if (at >= text.size() || (text[at] != '"' && text[at] != '\'')) continue;
    const std::size_t quote = text.find(text[at], at + 1);
    if (quote == std::string_view::npos || text.substr(at, quote - at).find('\n') != std::string_view::npos)
      continue;
    const std::size_t end = skip_blanks(text, quote + 1);
    if (text.substr(end, 2) == "%}") return Include{begin, end + 2, {at + 1, quote}};
  }
  return std::nullopt;
}

/// Bytes of a JavaScript line terminator that ends right before `offset`, where a line then begins.
bool begins_line(std::string_view text, std::size_t offset) {
  if (offset == 0) return true;
  const char last = text[offset - 1];
  if (last == '\n' || last == '\r') return true;
  if (offset < 3) return false;
  const std::string_view three = text.substr(offset - 3, 3);
  return three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9";
}

}  // namespace

std::optional<std::string> include_path(std::string_view path, std::string_view from) {
  std::vector<std::string_view> parts;
  const auto add = [&parts](std::string_view names) {
    while (true) {
      const std::size_t slash = names.find('/');
      const std::string_view name = names.substr(0, slash);
      if (name == "..") {
        if (parts.empty()) return false;
        parts.pop_back();
      } else if (!name.empty() && name != ".") {
        parts.push_back(name);
      }
      if (slash == std::string_view::npos) return true;
      names.remove_prefix(slash + 1);
    }
  };
  const bool has_drive =
      path.find_first_of("\\:") != std::string_view::npos || path.find('\0') != std::string_view::npos;
  if (has_drive || path.empty() || path.front() == '/') return std::nullopt;
  const std::size_t folder = from.rfind('/');
  if (path.front() == '.' && folder != std::string_view::npos) add(from.substr(0, folder));
  if (!add(path) || parts.empty()) return std::nullopt;
  return fmt::format("{}", fmt::join(parts, "/"));
}

SourceText::SourceText(std::string text, Origin origin, const IncludeResolver& include,
                       const Budgets& budgets) {
  std::vector<std::size_t> open;
  expand(add_file(std::move(origin), std::move(text)), include, open, budgets);
  remove_trailing_newline();
  remove_indent_of_tags();
  remove_newlines_after_tags();
  remove_generation_tags();
}

std::vector<std::string> SourceText::included_files() const {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < files_.size(); ++i) names.push_back(files_[i].origin.file);
  return names;
}

std::size_t SourceText::add_file(Origin origin, std::string text) {
  files_.push_back({std::move(origin), std::move(text)});
  return files_.size() - 1;
}

void SourceText::append(std::size_t file, std::size_t begin, std::size_t end, const Budgets& budgets) {
  if (text_.size() + (end - begin) > budgets.rendered_bytes) {
    throw error_at(
        ErrorKind::limit,
        fmt::format("The template with its includes is longer than the budget rendered_bytes ({}) allows",
                    budgets.rendered_bytes),
        files_[file].origin, files_[file].text, {begin, begin});
  }
  if (begin == end) return;
  pieces_.push_back({text_.size(), file, begin});
  text_.append(files_[file].text, begin, end - begin);
}

void SourceText::expand(std::size_t file, const IncludeResolver& include, std::vector<std::size_t>& open,
                        const Budgets& budgets) {
  const auto fault = [&](ErrorKind kind, std::string message, SourceSpan span) {
    return error_at(kind, std::move(message), files_[file].origin, files_[file].text, span);
  };
  open.push_back(file);
  std::size_t begin = 0;
  while (const std::optional<Include> found = find_include(files_[file].text, begin)) {
    append(file, begin, found->begin, budgets);
    const std::string written =
        files_[file].text.substr(found->path.begin, found->path.end - found->path.begin);
    const std::optional<std::string> path = include_path(written, files_[file].origin.file);
    if (!path) {
      throw fault(ErrorKind::template_, fmt::format("The included path ({}) leaves the package", written),
                  found->path);
    }
    const auto same = [&](std::size_t other) { return files_[other].origin.file == *path; };
    if (std::any_of(open.begin(), open.end(), same)) {
      throw fault(ErrorKind::template_, fmt::format("The file {} includes itself", *path), found->path);
    }
    if (open.size() > budgets.expression_depth) {
      throw fault(ErrorKind::limit,
                  fmt::format("Includes are nested deeper than the budget expression_depth ({}) allows",
                              budgets.expression_depth),
                  found->path);
    }
    if (++inclusions_ > kMaxInclusions) {
      throw fault(ErrorKind::limit,
                  fmt::format("The template has more includes than allowed ({})", kMaxInclusions),
                  found->path);
    }
    if (!include) {
      throw fault(ErrorKind::template_, fmt::format("The file {} cannot be included here", *path),
                  found->path);
    }
    auto known = std::find_if(files_.begin(), files_.end(),
                              [&](const File& each) { return each.origin.file == *path; });
    const std::size_t index = known != files_.end() ? static_cast<std::size_t>(known - files_.begin())
                                                    : add_file({*path, ""}, include(*path));
    expand(index, include, open, budgets);
    begin = found->end;
  }
  append(file, begin, files_[file].text.size(), budgets);
  open.pop_back();
}

const SourceText::Piece& SourceText::piece_at(std::size_t offset) const noexcept {
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                       [](std::size_t value, const Piece& piece) { return value < piece.begin; });
  return *(after == pieces_.begin() ? after : after - 1);
}

Error SourceText::at(ErrorKind kind, std::string message, SourceSpan span) const {
  if (pieces_.empty()) return error_at(kind, std::move(message), files_[0].origin, files_[0].text, {0, 0});
  const Piece& piece = piece_at(span.begin);
  const File& file = files_[piece.file];
  const std::size_t begin = std::min(piece.offset + (span.begin - piece.begin), file.text.size());
  const std::size_t end = std::min(begin + (std::max(span.end, span.begin) - span.begin), file.text.size());
  return error_at(kind, std::move(message), file.origin, file.text, {begin, end});
}

void SourceText::remove(const std::vector<SourceSpan>& ranges) {
  if (ranges.empty()) return;
  std::string text;
  text.reserve(text_.size());
  std::vector<Piece> pieces;
  std::size_t piece = 0;
  const auto keep = [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      while (piece + 1 < pieces_.size() && pieces_[piece + 1].begin <= begin) ++piece;
      const std::size_t piece_end = piece + 1 < pieces_.size() ? pieces_[piece + 1].begin : text_.size();
      const std::size_t stop = std::min(end, piece_end);
      pieces.push_back(
          {text.size(), pieces_[piece].file, pieces_[piece].offset + (begin - pieces_[piece].begin)});
      text.append(text_, begin, stop - begin);
      begin = stop;
    }
  };
  std::size_t begin = 0;
  for (const SourceSpan& range : ranges) {
    keep(begin, range.begin);
    begin = range.end;
  }
  keep(begin, text_.size());
  text_ = std::move(text);
  pieces_ = std::move(pieces);
}

void SourceText::remove_trailing_newline() {
  if (!text_.empty() && text_.back() == '\n') remove({{text_.size() - 1, text_.size()}});
}

void SourceText::remove_indent_of_tags() {
  std::vector<SourceSpan> ranges;
  for (std::size_t brace = text_.find('{'); brace != std::string::npos; brace = text_.find('{', brace + 1)) {
    if (brace + 1 >= text_.size()) break;
    const char kind = text_[brace + 1];
    if (kind != '%' && kind != '#' && kind != '-') continue;
    std::size_t begin = brace;
    while (begin > 0 && (text_[begin - 1] == ' ' || text_[begin - 1] == '\t')) --begin;
    if (begin < brace && begins_line(text_, begin)) ranges.push_back({begin, brace});
  }
  remove(ranges);
}

void SourceText::remove_newlines_after_tags() {
  std::vector<SourceSpan> ranges;
  for (std::size_t brace = text_.find("}\n"); brace != std::string::npos;
       brace = text_.find("}\n", brace + 1)) {
    if (brace == 0) continue;
    const char before = text_[brace - 1];
    if (before == '%' || before == '#' || before == '-') ranges.push_back({brace + 1, brace + 2});
  }
  remove(ranges);
}

void SourceText::remove_generation_tags() {
  constexpr std::string_view kWord = "generation";
  std::vector<SourceSpan> ranges;
  const std::string_view text = text_;
  const auto skip_spaces = [&](std::size_t at) {
    return text.size() - expr::trim_start(text.substr(at)).size();
  };
  std::size_t floor = 0;
  for (std::size_t tag = text.find("{%"); tag != std::string_view::npos; tag = text.find("{%", tag + 2)) {
    if (tag < floor) continue;
    std::size_t at = tag + 2;
    const bool strip_before = text.substr(at, 1) == "-";
    if (strip_before) ++at;
    at = skip_spaces(at);
    if (text.substr(at, 3) == "end") at += 3;
    if (text.substr(at, kWord.size()) != kWord) continue;
    at = skip_spaces(at + kWord.size());
    const bool strip_after = text.substr(at, 1) == "-";
    if (strip_after) ++at;
    if (text.substr(at, 2) != "%}") continue;
    at += 2;
    // White space that belonged to the tag before is out of this one's reach, as in the reference.
    const std::size_t before = floor + expr::trim_end(text.substr(floor, tag - floor)).size();
    const std::size_t after = skip_spaces(at);
    ranges.push_back({strip_before ? before : tag, strip_after ? after : at});
    floor = after;
  }
  remove(ranges);
}

}  // namespace kernelpack::jinja
