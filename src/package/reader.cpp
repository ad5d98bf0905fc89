#include "package/reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "package/suggest.hpp"

namespace kernelpack::package {
namespace {

constexpr std::array<std::string_view, 12> kPrototypeNames = {
    "constructor",      "hasOwnProperty",   "isPrototypeOf",    "propertyIsEnumerable",
    "toLocaleString",   "toString",         "valueOf",          "__proto__",
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"};

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

bool all_word_characters(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

// Long enough to recognise a value, short enough for one line.
constexpr std::size_t kShownBytes = 40;

std::string shown(std::string_view text) {
  if (text.size() <= kShownBytes) return json::quote(text);
  std::size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string cut = json::quote(text.substr(0, end));
  cut.insert(cut.size() - 1, "...");
  return cut;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\n\r") == std::string_view::npos;
}

void wrong_kind(const Node& node, std::string_view expected) {
  node.fault(fmt::format("The value of {} is {}, but {} is expected", subject(node.pointer()),
                         describe(node.value()), expected));
}

bool within(const Node& node, std::size_t count, std::size_t most) {
  if (count > most)
    node.fault(fmt::format("The number of entries of {} ({}) exceeds the budget ({})",
                           subject(node.pointer()), count, most),
               ErrorKind::limit);
  return count <= most;
}

// A key as a message shows it: quoted only where it is no plain word.
std::string plain(std::string_view key) {
  return is_name(key) ? std::string(key.substr(0, kShownBytes)) : shown(key);
}

}  // namespace

std::string subject(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return "the document";
  const std::string_view token = pointer.substr(slash + 1);
  if (token.empty() || !std::all_of(token.begin(), token.end(), is_digit)) return std::string(token);
  return fmt::format("item {} of {}", token, subject(pointer.substr(0, slash)));
}

void Faults::add(Error error, std::size_t file_rank, std::size_t offset) {
  if (!full()) entries_.push_back({file_rank, offset, std::move(error)});
}

std::vector<Error> Faults::take() {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.file_rank, a.offset) < std::tie(b.file_rank, b.offset);
  });
  std::vector<Error> errors;
  errors.reserve(entries_.size());
  for (Entry& entry : entries_) {
    // A template of a family is read once per case, and a handle once per use: one fault is reported once.
    const bool repeated = std::any_of(errors.begin(), errors.end(), [&](const Error& earlier) {
      return earlier.line() == entry.error.line();
    });
    if (!repeated) errors.push_back(std::move(entry.error));
  }
  entries_.clear();
  return errors;
}

void Node::spend(std::size_t entries) const {
  if (entries > source_->entries_left)
    throw error_at(ErrorKind::limit,
                   "The manifest makes more than 200000 bindings, fields, conditions and constants", origin(),
                   source_->document.text, value_->span);
  source_->entries_left -= entries;
}

void Node::fault(std::string message, ErrorKind kind) const {
  fault_at(value_->span, std::move(message), kind);
}

void Node::fault_at(SourceSpan span, std::string message, ErrorKind kind) const {
  Error error = error_at(kind, std::move(message), origin(), source_->document.text, span);
  if (!source_->note.empty()) error.add_context(source_->note);
  source_->faults.add(std::move(error), source_->file_rank, span.begin);
}

void Node::fault(Error error) const {
  if (!source_->note.empty()) error.add_context(source_->note);
  source_->faults.add(std::move(error), source_->file_rank, value_->span.begin);
}

std::string describe(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::null:
      return "null";
    case json::Kind::boolean:
      return value.boolean() ? "a boolean (true)" : "a boolean (false)";
    case json::Kind::number:
      return fmt::format("a number ({})", javascript_number_text(value.number()));
    case json::Kind::string:
      return fmt::format("a string ({})", shown(value.string()));
    case json::Kind::array:
      return "an array";
    case json::Kind::object:
      return "an object";
  }
  return "nothing";
}

std::vector<NamedNode> members_of(const Node& node, std::size_t most) {
  std::vector<NamedNode> members;
  if (!node.value().is_object()) {
    wrong_kind(node, "an object");
    return members;
  }
  if (!within(node, node.value().members().size(), most)) return members;
  members.reserve(node.value().members().size());
  for (const json::Member& member : node.value().members())
    if (member.key != "$comment")
      members.push_back({member.key, member.key_span, node.child(member.key, member.value)});
  return members;
}

std::vector<Node> items_of(const Node& node, std::size_t most) {
  std::vector<Node> items;
  if (!node.value().is_array()) {
    wrong_kind(node, "an array");
    return items;
  }
  if (!within(node, node.value().items().size(), most)) return items;
  items.reserve(node.value().items().size());
  for (const json::Value& value : node.value().items()) items.push_back(node.child(items.size(), value));
  return items;
}

std::optional<std::string> read_string(const Node& node) {
  if (node.value().is_string()) return node.value().string();
  wrong_kind(node, "a string");
  return std::nullopt;
}

std::optional<std::string> read_nonempty_string(const Node& node) {
  auto text = read_string(node);
  if (text && text->empty()) {
    node.fault(fmt::format("The value of {} is an empty string", subject(node.pointer())));
    return std::nullopt;
  }
  return text;
}

std::optional<bool> read_boolean(const Node& node) {
  if (node.value().is_boolean()) return node.value().boolean();
  wrong_kind(node, "a boolean");
  return std::nullopt;
}

std::optional<double> read_number(const Node& node) {
  if (node.value().is_number()) return node.value().number();
  wrong_kind(node, "a number");
  return std::nullopt;
}

std::optional<std::int64_t> read_integer(const Node& node, std::int64_t low, std::int64_t high) {
  const auto number = read_number(node);
  if (!number) return std::nullopt;
  if (std::floor(*number) == *number && *number >= static_cast<double>(low) &&
      *number <= static_cast<double>(high))
    return static_cast<std::int64_t>(*number);
  node.fault(fmt::format("The value of {} ({}) is not an integer from {} to {}", subject(node.pointer()),
                         javascript_number_text(*number), low, high));
  return std::nullopt;
}

std::optional<std::string> read_name(const Node& node) {
  auto text = read_string(node);
  if (!text) return std::nullopt;
  if (is_prototype_name(*text)) {
    node.fault(fmt::format("The name ({}) is that of a member of every JavaScript object", *text));
    return std::nullopt;
  }
  if (is_name(*text)) return text;
  node.fault(fmt::format("The value of {} ({}) is not a name: letters, digits and _ only, no digit first",
                         subject(node.pointer()), shown(*text)));
  return std::nullopt;
}

bool is_name(std::string_view text) noexcept {
  return !text.empty() && !is_digit(text.front()) && all_word_characters(text);
}

bool is_id(std::string_view text) noexcept {
  return !text.empty() && text.front() != '_' && all_word_characters(text);
}

bool is_prototype_name(std::string_view text) noexcept {
  return std::find(kPrototypeNames.begin(), kPrototypeNames.end(), text) != kPrototypeNames.end();
}

bool check_name(const NamedNode& member, std::string_view what) {
  // Keys that name prototype members are reported once, for the whole document.
  if (is_prototype_name(member.name)) return false;
  if (is_name(member.name)) return true;
  member.node.fault_at(
      member.name_span,
      fmt::format("The name of {} ({}) is not a name: letters, digits and _ only, no digit first", what,
                  shown(member.name)));
  return false;
}

ObjectReader::ObjectReader(const Node& node, std::string_view what) : node_(node), what_(what) {
  if (!is_object())
    node_.fault(fmt::format("The value of {} is {}, but {} is an object", subject(node_.pointer()),
                            describe(node_.value()), what_));
}

std::optional<Node> ObjectReader::get(std::string_view key) {
  known_.emplace_back(key);
  const json::Value* value = node_.value().find(key);
  if (value == nullptr) return std::nullopt;
  return node_.child(key, *value);
}

std::optional<Node> ObjectReader::need(std::string_view key) {
  auto found = get(key);
  if (!found && is_object()) node_.fault(fmt::format("The required key ({}) is missing in {}", key, what_));
  return found;
}

std::string ObjectReader::string(std::string_view key, std::string fallback) {
  if (const auto found = get(key)) return read_string(*found).value_or(std::move(fallback));
  return fallback;
}

bool ObjectReader::boolean(std::string_view key, bool fallback) {
  if (const auto found = get(key)) return read_boolean(*found).value_or(fallback);
  return fallback;
}

void ObjectReader::dropped(std::string_view key, std::string_view instead) {
  if (!is_object()) return;
  for (const json::Member& member : node_.value().members()) {
    if (member.key != key) continue;
    known_.emplace_back(key);
    node_.child(key, member.value)
        .fault_at(member.key_span, fmt::format("The key ({}) in {} is from an older manifest language; {}",
                                               key, what_, instead));
    // Known, so that it is not reported again, yet never suggested.
    dropped_.emplace_back(key);
  }
}

void ObjectReader::finish() {
  if (!is_object() || !within(node_, node_.value().members().size(), kMostEntries)) return;
  for (const json::Member& member : node_.value().members()) {
    if (node_.source().faults.full()) return;
    if (member.key == "$comment" || is_prototype_name(member.key)) continue;
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    std::vector<std::string> candidates;
    for (const std::string& key : known_)
      if (std::find(dropped_.begin(), dropped_.end(), key) == dropped_.end()) candidates.push_back(key);
    node_.child(member.key, member.value)
        .fault_at(member.key_span, fmt::format("The key ({}) is unknown in {}{}", plain(member.key), what_,
                                               suggestion(member.key, candidates)));
  }
}

Formula read_formula(const Node& node) {
  const json::Value& value = node.value();
  switch (value.kind()) {
    case json::Kind::null:
      return Formula();
    case json::Kind::boolean:
      return Formula(value.boolean());
    case json::Kind::number:
      return Formula(value.number());
    case json::Kind::string:
      try {
        return Formula(expr::Expression::parse(value.string(), node.origin(), node.source().budgets));
      } catch (const Error& error) {
        node.fault(error);
        return Formula();
      }
    case json::Kind::array: {
      Formula::List items;
      items.reserve(value.items().size());
      for (const Node& item : items_of(node)) items.push_back(read_formula(item));
      return Formula(std::move(items));
    }
    case json::Kind::object: {
      Formula::Object members;
      for (const NamedNode& member : members_of(node))
        members.push_back({std::string(member.name), read_formula(member.node)});
      return Formula(std::move(members));
    }
  }
  return Formula();
}

std::optional<Formula> read_expression_or_number(const Node& node) {
  if (node.value().is_string()) return read_expression(node);
  if (node.value().is_number()) return read_formula(node);
  wrong_kind(node, "an expression or a number");
  return std::nullopt;
}

std::optional<Formula> read_expression(const Node& node) {
  if (!node.value().is_string()) {
    wrong_kind(node, "an expression");
    return std::nullopt;
  }
  const std::string& text = node.value().string();
  if (is_blank(text)) {
    node.fault(fmt::format("The expression of {} is empty", subject(node.pointer())));
    return std::nullopt;
  }
  return read_formula(node);
}

}  // namespace kernelpack::package
