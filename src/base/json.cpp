#include "base/json.hpp"

#include <fmt/format.h>
#include <rapidjson/error/error.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "base/number_text.hpp"
#include "base/utf8.hpp"

namespace kernelpack::json {

std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "boolean";
    case Kind::number:
      return "number";
    case Kind::string:
      return "string";
    case Kind::array:
      return "array";
    case Kind::object:
      return "object";
  }
  return "null";
}

bool Value::boolean() const noexcept {
  assert(is_boolean());
  return *std::get_if<bool>(&content_);
}

double Value::number() const noexcept {
  assert(is_number());
  return *std::get_if<double>(&content_);
}

const std::string& Value::string() const noexcept {
  assert(is_string());
  return *std::get_if<std::string>(&content_);
}

const std::vector<Value>& Value::items() const noexcept {
  assert(is_array());
  return *std::get_if<std::vector<Value>>(&content_);
}

const std::vector<Member>& Value::members() const noexcept {
  assert(is_object());
  return *std::get_if<std::vector<Member>>(&content_);
}

const Value* Value::find(std::string_view key) const noexcept {
  if (!is_object()) return nullptr;
  for (const Member& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Value Value::make_null() {
  return {};
}

Value Value::make(bool value) {
  Value made;
  made.content_ = value;
  return made;
}

Value Value::make(double value) {
  Value made;
  made.content_ = value;
  return made;
}

Value Value::make(std::string value) {
  Value made;
  made.content_ = std::move(value);
  return made;
}

Value Value::make(std::vector<Value> items) {
  Value made;
  made.content_ = std::move(items);
  return made;
}

Value Value::make(std::vector<Member> members) {
  Value made;
  made.content_ = std::move(members);
  return made;
}

std::string join_pointer(std::string_view pointer, std::string_view token) {
  std::string joined(pointer);
  joined += '/';
  for (const char c : token) {
    if (c == '~')
      joined += "~0";
    else if (c == '/')
      joined += "~1";
    else
      joined += c;
  }
  return joined;
}

std::string join_pointer(std::string_view pointer, std::size_t index) {
  return fmt::format("{}/{}", pointer, index);
}

namespace {

/// What faults are reported with.
struct Context {
  std::string_view text;
  const std::string& name;
  ErrorKind kind;

  [[noreturn]] void fail(std::string message, SourceSpan span, std::string pointer = {}) const {
    throw error_at(kind, std::move(message), Origin{name, std::move(pointer)}, text, span);
  }
};

/// Builds the values from the reader's events. A token begins at the first byte after the previous token that
/// is neither white space nor a separator; the stream stands behind it when its event comes.
class Builder {
 public:
  Builder(const Context& context, const rapidjson::MemoryStream& stream, const Budgets& budgets)
      : context_(context), stream_(stream), budgets_(budgets) {}

  Value take_root() { return std::move(root_); }

  bool Null() { return add(Value::make_null(), token_to_here()); }
  bool Bool(bool value) { return add(Value::make(value), token_to_here()); }
  bool RawNumber(const char*, rapidjson::SizeType, bool) {
    const SourceSpan span = token_to_here();
    const std::string_view literal = context_.text.substr(span.begin, span.end - span.begin);
    const double value = nearest_double(literal);
    if (std::isinf(value))
      fail(fmt::format("The number ({}) is outside the range of a double", clip(literal)), span);
    return add(Value::make(value), span);
  }
  bool String(const char* value, rapidjson::SizeType length, bool) {
    const SourceSpan span = token_to_here();
    return add(Value::make(decoded(value, length, span, true)), span);
  }
  bool Key(const char* value, rapidjson::SizeType length, bool) {
    const SourceSpan span = token_to_here();
    Frame& frame = frames_.back();
    frame.key = decoded(value, length, span, false);
    frame.key_span = span;
    return true;
  }
  bool StartObject() { return open(true); }
  bool StartArray() { return open(false); }
  bool EndObject(rapidjson::SizeType) {
    check_duplicates();
    return close(Value::make(std::move(frames_.back().members)));
  }
  bool EndArray(rapidjson::SizeType) { return close(Value::make(std::move(frames_.back().items))); }

  // Numbers arrive as RawNumber only.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  struct Frame {
    bool is_object = false;
    std::size_t begin = 0;
    std::string key;  // of the member whose value comes next
    SourceSpan key_span;
    std::vector<Member> members;
    std::vector<Value> items;
  };

  std::size_t token_begin() const {
    const std::size_t begin = context_.text.find_first_not_of(" \t\r\n,:", previous_end_);
    return begin == std::string_view::npos ? context_.text.size() : begin;
  }

  SourceSpan token_to_here() {
    const SourceSpan span{token_begin(), stream_.Tell()};
    previous_end_ = span.end;
    return span;
  }

  /// The pointer of the value that comes next, or of the innermost container.
  std::string pointer(bool with_last) const {
    std::string text;
    const std::size_t count = frames_.size() - (with_last || frames_.empty() ? 0 : 1);
    for (std::size_t i = 0; i < count; ++i) {
      const Frame& frame = frames_[i];
      text = frame.is_object ? join_pointer(text, frame.key) : join_pointer(text, frame.items.size());
    }
    return text;
  }

  [[noreturn]] void fail(std::string message, SourceSpan span) const {
    context_.fail(std::move(message), span, pointer(true));
  }

  /// The reader encodes a lone low surrogate escape as if it were a code point; the text itself is valid
  /// UTF-8.
  std::string decoded(const char* value, std::size_t length, SourceSpan span, bool is_value) const {
    std::string text(value, length);
    if (find_invalid_utf8(text)) {
      context_.fail("The string holds a lone surrogate escape, which is no character", span,
                    pointer(is_value));
    }
    return text;
  }

  bool add(Value value, SourceSpan span) {
    if (++values_ > budgets_.json_values) {
      throw error_at(ErrorKind::limit,
                     fmt::format("The number of values in the JSON text exceeds the budget json_values ({})",
                                 budgets_.json_values),
                     Origin{context_.name, {}}, context_.text, span);
    }
    value.span = span;
    if (frames_.empty()) {
      root_ = std::move(value);
    } else if (Frame& frame = frames_.back(); frame.is_object) {
      frame.members.push_back({std::move(frame.key), std::move(value), frame.key_span});
    } else {
      frame.items.push_back(std::move(value));
    }
    return true;
  }

  bool open(bool is_object) {
    const std::size_t begin = token_begin();
    previous_end_ = begin + 1;
    if (frames_.size() >= budgets_.json_depth) {
      throw error_at(ErrorKind::limit,
                     fmt::format("The nesting of arrays and objects ({}) exceeds the budget json_depth ({})",
                                 frames_.size() + 1, budgets_.json_depth),
                     Origin{context_.name, {}}, context_.text, {begin, begin + 1});
    }
    frames_.emplace_back();
    frames_.back().is_object = is_object;
    frames_.back().begin = begin;
    return true;
  }

  bool close(Value value) {
    const SourceSpan span{frames_.back().begin, token_begin() + 1};
    previous_end_ = span.end;
    frames_.pop_back();
    return add(std::move(value), span);
  }

  /// Sorting keeps the cost bounded for any choice of keys.
  void check_duplicates() const {
    const std::vector<Member>& members = frames_.back().members;
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return members[a].key < members[b].key; });
    std::size_t first = members.size();
    std::size_t second = members.size();
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (members[order[i - 1]].key == members[order[i]].key && order[i] < second) {
        first = order[i - 1];
        second = order[i];
      }
    }
    if (second == members.size()) return;
    const LineColumn earlier = line_column(context_.text, members[first].key_span.begin);
    context_.fail(fmt::format("The key ({}) occurs twice in one object, first at line {}, column {}",
                              quote(clip(members[second].key)), earlier.line, earlier.column),
                  members[second].key_span, pointer(false));
  }

  const Context& context_;
  const rapidjson::MemoryStream& stream_;
  const Budgets& budgets_;
  std::size_t values_ = 0;
  std::size_t previous_end_ = 0;
  std::vector<Frame> frames_;
  Value root_;
};

std::string syntax_message(rapidjson::ParseErrorCode code, const Context& context, std::size_t offset) {
  switch (code) {
    case rapidjson::kParseErrorDocumentEmpty:
      return "The JSON text holds no value";
    case rapidjson::kParseErrorDocumentRootNotSingular:
      return "The JSON text goes on after its value";
    case rapidjson::kParseErrorValueInvalid:
      return "A JSON value is missing or malformed";
    case rapidjson::kParseErrorObjectMissName:
      return "The quoted key of an object member is missing";
    case rapidjson::kParseErrorObjectMissColon:
      return "The colon after the key of an object member is missing";
    case rapidjson::kParseErrorObjectMissCommaOrCurlyBracket:
      return "The comma or closing brace after an object member is missing";
    case rapidjson::kParseErrorArrayMissCommaOrSquareBracket:
      return "The comma or closing bracket after an array item is missing";
    case rapidjson::kParseErrorStringUnicodeEscapeInvalidHex:
      return "The unicode escape in a string lacks its four hexadecimal digits";
    case rapidjson::kParseErrorStringUnicodeSurrogateInvalid:
      return "The string holds a lone surrogate escape, which is no character";
    case rapidjson::kParseErrorStringEscapeInvalid:
      if (offset < context.text.size() && context.text[offset] != '\\') {
        return fmt::format("The control character (0x{:02x}) in a string is not escaped",
                           static_cast<unsigned char>(context.text[offset]));
      }
      return "The escape in a string is none that JSON knows";
    case rapidjson::kParseErrorStringMissQuotationMark:
      return "The closing quotation mark of a string is missing";
    case rapidjson::kParseErrorNumberTooBig:
      return "The number is outside the range of a double, or its exponent or digits are too many";
    case rapidjson::kParseErrorNumberMissFraction:
      return "The digits after the decimal point of a number are missing";
    case rapidjson::kParseErrorNumberMissExponent:
      return "The digits of the exponent of a number are missing";
    default:
      return "The JSON text is malformed";
  }
}

/// Faults that are found before the reader runs, since it would stop at them silently or pass over them.
void check_bytes(const Context& context) {
  const std::string_view text = context.text;
  if (text.starts_with("\xEF\xBB\xBF")) {
    context.fail("The JSON text begins with a byte order mark, which JSON does not allow", {0, 3});
  }
  if (const auto offset = find_invalid_utf8(text)) {
    context.fail(fmt::format("The byte at offset {} (0x{:02x}) is not valid UTF-8", *offset,
                             static_cast<unsigned char>(text[*offset])),
                 {*offset, *offset + 1});
  }
  if (const std::size_t offset = text.find('\0'); offset != std::string_view::npos) {
    context.fail(fmt::format("The byte at offset {} is a NUL, which JSON does not allow", offset),
                 {offset, offset + 1});
  }
}

}  // namespace

Document parse(std::string text, std::string name, const Budgets& budgets, ErrorKind kind) {
  Document document{std::move(name), std::move(text), {}};
  const Context context{document.text, document.name, kind};
  if (document.text.size() > budgets.json_bytes) {
    throw Error(ErrorKind::limit,
                fmt::format("The size of the JSON text ({} bytes) exceeds the budget json_bytes ({})",
                            document.text.size(), budgets.json_bytes),
                document.name);
  }
  check_bytes(context);
  rapidjson::MemoryStream stream(document.text.data(), document.text.size());
  Builder builder(context, stream, budgets);
  rapidjson::Reader reader;
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;
  const rapidjson::ParseResult result = reader.Parse<kFlags>(stream, builder);
  if (result.IsError()) {
    context.fail(syntax_message(result.Code(), context, result.Offset()),
                 {result.Offset(), result.Offset() + 1});
  }
  document.root = builder.take_root();
  return document;
}

}  // namespace kernelpack::json
