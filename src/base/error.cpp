#include "kernelpack/error.hpp"

#include <utility>

namespace kernelpack {

Error::Error(ErrorKind kind, std::string message, std::string where)
    : kind_(kind), message_(std::move(message)), where_(std::move(where)) {
  compose_line();
}

Error& Error::add_context(std::string line) {
  context_.push_back(std::move(line));
  return *this;
}

Error& Error::set_where(std::string where) {
  where_ = std::move(where);
  compose_line();
  return *this;
}

Error& Error::set_excerpt(std::string excerpt) {
  excerpt_ = std::move(excerpt);
  return *this;
}

std::string Error::report() const {
  std::string text = line_;
  if (!excerpt_.empty()) text += '\n' + excerpt_;
  for (const std::string& line : context_) text += '\n' + line;
  return text;
}

void Error::compose_line() {
  line_ = to_string(kind_);
  line_.append(": ").append(message_);
  if (!where_.empty()) line_.append(" (").append(where_).append(")");
  // Names come from packages and file systems: they must neither break the line nor drive a terminal.
  for (char& c : line_) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
}

}  // namespace kernelpack
