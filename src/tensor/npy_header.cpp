#include "tensor/npy_header.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <optional>

#include "base/dtype.hpp"
#include "base/shape.hpp"
#include "base/source.hpp"
#include "base/utf8.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
static_assert(std::endian::native == std::endian::little,
              "values are stored little-endian without conversion");

/// The name that NumPy gives to a dtype which kernelpack has none for.
std::string_view foreign_name(std::string_view code) {
  if (code == "u2") return "uint16";
  if (code == "u8") return "uint64";
  if (code == "c8") return "complex64";
  if (code == "c16") return "complex128";
  if (code == "f16" || code == "f12" || code == "c32" || code == "c24") return "long double";
  switch (code.empty() ? '\0' : code.front()) {
    case 'O':
      return "object";
    case 'S':
    case 'a':
      return "bytes";
    case 'U':
      return "string";
    case 'V':
      return "void";
    case 'M':
      return "datetime64";
    case 'm':
      return "timedelta64";
    default:
      return "unknown";
  }
}

/// The strict subset of Python literals that NumPy writes into headers.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  NpyHeader parse() {
    check_bytes();
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{', "The header does not begin with a brace");
    while (!accept('}')) {
      skip_space();
      const std::size_t key_begin = position_;
      const std::string_view key = string("The key of the header is not a quoted string");
      bool* seen = nullptr;
      if (key == "descr") seen = &has_descr;
      if (key == "fortran_order") seen = &has_order;
      if (key == "shape") seen = &has_shape;
      if (seen == nullptr) fail(fmt::format("The header has an unknown key ({})", clip(key)), key_begin);
      if (*seen) fail(fmt::format("The header has the key ({}) twice", key), key_begin);
      *seen = true;
      expect(':', "The colon after a key of the header is missing");
      if (seen == &has_descr) descr(header);
      if (seen == &has_order) header.fortran_order = boolean();
      if (seen == &has_shape) header.spec.shape = shape();
      if (accept('}')) break;
      expect(',', "The comma or closing brace after a value of the header is missing");
    }
    skip_space();
    if (position_ != text_.size()) fail("The header goes on after its closing brace", position_);
    if (!has_descr) fail("The header lacks the key (descr)", 0);
    if (!has_order) fail("The header lacks the key (fortran_order)", 0);
    if (!has_shape) fail("The header lacks the key (shape)", 0);
    return header;
  }

 private:
  [[noreturn]] void fail(std::string message, std::size_t at) const {
    throw error_at(ErrorKind::contract, std::move(message), Origin{file_, {}}, text_, {at, at + 1});
  }

  void check_bytes() const {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text_[i]);
      if ((byte < 0x20 && !is_space(text_[i])) || byte >= 0x7F) {
        fail(fmt::format("The byte {} of the header (0x{:02x}) is not printable ASCII", i, byte), i);
      }
    }
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  void skip_space() {
    while (position_ < text_.size() && is_space(text_[position_])) ++position_;
  }
  bool accept(char c) {
    skip_space();
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  void expect(char c, const char* message) {
    if (!accept(c)) fail(message, position_);
  }
  bool accept_word(std::string_view word) {
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  std::string_view string(const char* message) {
    skip_space();
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(message, position_);
    const std::size_t begin = ++position_;
    while (position_ < text_.size() && text_[position_] != quote) {
      if (text_[position_] == '\\' || text_[position_] == '\n')
        fail("A string of the header is malformed", position_);
      ++position_;
    }
    if (position_ == text_.size()) fail("The closing quotation mark of a string is missing", begin - 1);
    return text_.substr(begin, position_++ - begin);
  }

  void descr(NpyHeader& header) {
    skip_space();
    const std::size_t begin = position_;
    if (peek() == '[') fail("The dtype of the file is structured, which is not supported", begin);
    const std::string_view text = string("The dtype of the file is not a quoted string");
    std::string_view code = text;
    char order = '=';
    if (!code.empty() && std::string_view("<>=|").find(code.front()) != std::string_view::npos) {
      order = code.front();
      code.remove_prefix(1);
    }
    std::optional<DType> dtype;
    for (const DTypeInfo& row : dtype_table()) {
      if (row.npy == code) dtype = row.dtype;
    }
    if (!dtype) {
      fail(fmt::format("The dtype of the file ({}, {}) is not supported", clip(text), foreign_name(code)),
           begin);
    }
    if (order == '|' && element_size(*dtype) > 1) {
      fail(fmt::format("The dtype of the file ({}) does not say its byte order", text), begin);
    }
    header.spec.dtype = *dtype;
    header.big_endian = order == '>' && element_size(*dtype) > 1;
  }

  bool boolean() {
    skip_space();
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    fail("The value of the key (fortran_order) is neither True nor False", position_);
  }

  Shape shape() {
    Shape dims;
    expect('(', "The value of the key (shape) is not a tuple");
    while (!accept(')')) {
      dims.push_back(dimension(dims.size()));
      if (accept(',')) continue;
      if (!accept(')')) fail("The comma or closing bracket after a dimension is missing", position_);
      // Without a comma, brackets around one number are no tuple in Python.
      if (dims.size() == 1) fail("The value of the key (shape) is not a tuple", position_ - 1);
      break;
    }
    return dims;
  }

  std::int64_t dimension(std::size_t index) {
    skip_space();
    const std::size_t begin = position_;
    if (peek() == '-' || peek() == '+') ++position_;
    const std::size_t digits = position_;
    std::int64_t value = 0;
    bool overflow = false;
    while (is_digit(peek())) {
      overflow = overflow || __builtin_mul_overflow(value, std::int64_t{10}, &value) ||
                 __builtin_add_overflow(value, std::int64_t{peek() - '0'}, &value);
      ++position_;
    }
    const std::string_view text = text_.substr(begin, position_ - begin);
    if (position_ == digits) fail(fmt::format("The dimension {} is not an integer", index), begin);
    if (text.front() == '-') fail(fmt::format("The dimension {} ({}) is negative", index, clip(text)), begin);
    if (text_[digits] == '0' && position_ > digits + 1) {
      fail(fmt::format("The dimension {} ({}) has a leading zero", index, clip(text)), begin);
    }
    if (overflow || value > kMaxExactInteger) {
      fail(fmt::format("The dimension {} ({}) exceeds 2^53 - 1 ({})", index, clip(text), kMaxExactInteger),
           begin);
    }
    // Python 2 marked long integers so.
    if (peek() == 'L') ++position_;
    return value;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t position_ = 0;
};

}  // namespace

std::size_t npy_length_bytes(std::span<const std::byte> prefix, const std::string& file) {
  const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
  if (!text.substr(0, kMagic.size()).starts_with(kMagic.substr(0, text.size()))) {
    throw Error(ErrorKind::contract, "The file is not a .npy file: it does not begin with \\x93NUMPY", file);
  }
  if (prefix.size() < kNpyPrefix) {
    throw Error(
        ErrorKind::contract,
        fmt::format("The .npy file ends within its first {} bytes (at {})", kNpyPrefix, prefix.size()), file);
  }
  const int major = std::to_integer<int>(prefix[6]);
  const int minor = std::to_integer<int>(prefix[7]);
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(ErrorKind::contract,
                fmt::format("The version of the .npy file ({}.{}) is not 1.0, 2.0 or 3.0", major, minor),
                file);
  }
  return major == 1 ? 2 : 4;
}

NpyHeader parse_npy_header(std::string_view text, const std::string& file) {
  return HeaderParser(text, file).parse();
}

std::string npy_preamble(const TensorSpec& spec) {
  constexpr std::size_t kBlock = 64;
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 element_size(spec.dtype) > 1 ? '<' : '|', info(spec.dtype).npy,
                                 fmt::join(spec.shape, ", "), spec.shape.size() == 1 ? "," : "");
  const auto padded = [&](std::size_t prefix) {
    return (prefix + text.size() + 1 + kBlock - 1) / kBlock * kBlock - prefix;
  };
  std::size_t length_bytes = 2;
  std::size_t length = padded(kMagic.size() + 2 + length_bytes);
  if (length > std::numeric_limits<std::uint16_t>::max()) {
    length_bytes = 4;
    length = padded(kMagic.size() + 2 + length_bytes);
  }
  std::string preamble(kMagic);
  preamble += length_bytes == 2 ? '\x01' : '\x02';
  preamble += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) preamble += static_cast<char>((length >> (8 * i)) & 0xFF);
  text.resize(length - 1, ' ');
  preamble += text;
  preamble += '\n';
  return preamble;
}

}  // namespace kernelpack
