#include "webgpu/naga.hpp"

#include <algorithm>
#include <vector>

namespace kernelpack::webgpu {
namespace {

struct Token {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< equal to `begin` at the end of the text
};

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text) {}

  std::string run() {
    bool directives = true;
    for (Token token = next(); !at_end(token); token = next()) {
      if (is(token, "@")) {
        directives = false;
        attribute(token);
      } else if (!directives || is(token, ";")) {
        continue;
      } else if (is(token, "requires") || is(token, "diagnostic")) {
        skip_past(";");
        blank(token.begin, position_);
      } else if (is(token, "enable")) {
        enable(token);
      } else {
        directives = false;
      }
    }
    return std::move(text_);
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  }
  bool starts(std::size_t at, std::string_view what) const {
    return text_.compare(at, what.size(), what) == 0;
  }
  bool at_end(Token token) const { return token.begin >= text_.size(); }
  bool is(Token token, std::string_view what) const {
    return std::string_view(text_).substr(token.begin, token.end - token.begin) == what;
  }

  // Block comments nest in WGSL.
  void skip_comment() {
    if (starts(position_, "//")) {
      position_ = std::min(text_.find_first_of("\n\r", position_), text_.size());
      return;
    }
    int depth = 0;
    do {
      if (starts(position_, "/*")) {
        ++depth;
        position_ += 2;
      } else if (starts(position_, "*/")) {
        --depth;
        position_ += 2;
      } else {
        ++position_;
      }
    } while (depth > 0 && position_ < text_.size());
  }

  Token next() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == ' ' || (c >= '\t' && c <= '\r')) {
        ++position_;
      } else if (starts(position_, "//") || starts(position_, "/*")) {
        skip_comment();
      } else {
        break;
      }
    }
    Token token{std::min(position_, text_.size()), std::min(position_, text_.size())};
    while (token.end < text_.size() && is_word(text_[token.end])) ++token.end;
    if (token.end == token.begin) token.end = std::min(token.begin + 1, text_.size());
    position_ = token.end;
    return token;
  }

  void skip_past(std::string_view last) {
    for (Token token = next(); !at_end(token) && !is(token, last);) token = next();
  }

  void blank(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at)
      if (text_[at] != '\n' && text_[at] != '\r') text_[at] = ' ';
  }

  void attribute(Token at) {
    const std::size_t after_at = position_;
    if (is(next(), "diagnostic")) {
      skip_past(")");
      blank(at.begin, position_);
    } else {
      position_ = after_at;
    }
  }

  // `enable f16, subgroups;` keeps f16 and one comma fewer; a list that becomes empty goes whole.
  void enable(Token keyword) {
    std::vector<Token> names;
    Token token = next();
    for (; !at_end(token) && !is(token, ";"); token = next())
      if (!is(token, ",")) names.push_back(token);
    const auto removed = [this](Token name) { return is(name, "subgroups"); };
    if (std::none_of(names.begin(), names.end(), removed)) return;
    if (std::all_of(names.begin(), names.end(), removed)) {
      blank(keyword.begin, token.end);
      return;
    }
    const auto last_kept = std::find_if_not(names.rbegin(), names.rend(), removed);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!removed(names[i])) continue;
      blank(names[i].begin, names[i].end);
      // A name before the last one kept takes the comma behind it along, the others the comma before them.
      const bool before = names[i].begin < last_kept->begin;
      const std::size_t from = before ? names[i].end : names[i - 1].end;
      const std::size_t to = before ? names[i + 1].begin : names[i].begin;
      blank_comma(from, to);
    }
  }

  void blank_comma(std::size_t from, std::size_t to) {
    const std::size_t after = position_;
    position_ = from;
    for (Token token = next(); !at_end(token) && token.begin < to; token = next())
      if (is(token, ",")) blank(token.begin, token.end);
    position_ = after;
  }

  std::string text_;
  std::size_t position_ = 0;
};

}  // namespace

std::string rewrite_for_naga(std::string_view wgsl) {
  return Rewriter(wgsl).run();
}

}  // namespace kernelpack::webgpu
