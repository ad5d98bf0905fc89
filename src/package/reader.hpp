#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/json.hpp"
#include "kernelpack/error.hpp"
#include "package/formula.hpp"

/// A small declarative layer over base/json: a reader asks an object for its keys one by one, faults are
/// collected with their places, and the keys that nobody asked for are reported.
namespace kernelpack::package {

/// The faults of a package folder in the order in which they are found; sorted by file and place at the end.
class Faults {
 public:
  /// Further faults are dropped once this many were found, so that a hostile file costs bounded work.
  static constexpr std::size_t kLimit = 500;

  void add(Error error, std::size_t file_rank = 0, std::size_t offset = 0);
  bool empty() const noexcept { return entries_.empty(); }
  bool full() const noexcept { return entries_.size() >= kLimit; }
  std::size_t size() const noexcept { return entries_.size(); }
  /// All faults, files in order, each file from its beginning.
  std::vector<Error> take();

 private:
  struct Entry {
    std::size_t file_rank;
    std::size_t offset;
    Error error;
  };
  std::vector<Entry> entries_;
};

/// Orders the files of a package in a list of faults.
inline constexpr std::size_t kMetadataRank = 0;
inline constexpr std::size_t kManifestRank = 1;
inline constexpr std::size_t kTemplateRank = 2;

/// What all nodes of one document share.
struct Source {
  const json::Document& document;
  Faults& faults;
  std::size_t file_rank = kManifestRank;
  Budgets budgets{};
  std::string note{};  ///< context added to faults, e.g. which case of a family is being expanded
  std::size_t entries_left = 200000;  ///< see Node::spend
};

/// A value of a document with its JSON pointer. Cheap to copy; borrows the document and the Source.
class Node {
 public:
  Node(Source& source, const json::Value& value, std::string pointer = {})
      : source_(&source), value_(&value), pointer_(std::move(pointer)) {}

  const json::Value& value() const noexcept { return *value_; }
  const std::string& pointer() const noexcept { return pointer_; }
  Source& source() const noexcept { return *source_; }
  Origin origin() const { return {source_->document.name, pointer_}; }

  /// The member or item below this one.
  Node child(std::string_view key, const json::Value& value) const {
    return Node(*source_, value, json::join_pointer(pointer_, key));
  }
  Node child(std::size_t index, const json::Value& value) const {
    return Node(*source_, value, json::join_pointer(pointer_, index));
  }

  /// Charges entries that reading makes: parts of a manifest can be used many times, so the model may be far
  /// larger than the text. Throws limit when there are too many.
  void spend(std::size_t entries) const;

  /// Reports a fault at this value, or at a span near it.
  void fault(std::string message, ErrorKind kind = ErrorKind::package) const;
  void fault_at(SourceSpan span, std::string message, ErrorKind kind = ErrorKind::package) const;
  /// Reports an error that already knows its place in a text of its own (an expression).
  void fault(Error error) const;

 private:
  Source* source_;
  const json::Value* value_;
  std::string pointer_;
};

/// How a message names the value at a pointer: its key, or its place in the list that a key names.
std::string subject(std::string_view pointer);
/// A value for a message: "a number (3)", "a string (\"x\")", "an array", "null".
std::string describe(const json::Value& value);

/// The longest list or object of a manifest, and the longest one that is searched from front to back.
inline constexpr std::size_t kMostEntries = 10000;
inline constexpr std::size_t kMostSearched = 1000;

/// The members of an object or the items of an array below `node`; `$comment` members are left out. Reports a
/// fault and gives nothing if the value is of another kind. `what` names it: "The value of inputs".
struct NamedNode {
  std::string_view name;
  SourceSpan name_span;
  Node node;
};
/// More than `most` are a fault of kind limit, and nothing is given.
std::vector<NamedNode> members_of(const Node& node, std::size_t most = kMostEntries);
std::vector<Node> items_of(const Node& node, std::size_t most = kMostEntries);

inline bool is_empty_list(const Node& node) {
  return node.value().is_array() && node.value().items().empty();
}

/// Typed values of a node; each reports a fault and gives nothing if the kind or range is wrong.
std::optional<std::string> read_string(const Node& node);
std::optional<std::string> read_nonempty_string(const Node& node);
std::optional<bool> read_boolean(const Node& node);
std::optional<double> read_number(const Node& node);
/// An integral number in [low, high].
std::optional<std::int64_t> read_integer(const Node& node, std::int64_t low, std::int64_t high);
/// A *name* of the format ([A-Za-z_][A-Za-z0-9_]*) that is no member of JavaScript's object prototype.
std::optional<std::string> read_name(const Node& node);

/// [A-Za-z_][A-Za-z0-9_]*
bool is_name(std::string_view text) noexcept;
/// [A-Za-z0-9][A-Za-z0-9_]*
bool is_id(std::string_view text) noexcept;
bool is_prototype_name(std::string_view text) noexcept;
/// Reports a fault unless the key of a member is a name.
bool check_name(const NamedNode& member, std::string_view what);

/// One object whose keys are asked for one by one.
class ObjectReader {
 public:
  /// `what` names the object in messages: "an input", "a pass". Reports a fault and reads as empty if the
  /// value is no object.
  ObjectReader(const Node& node, std::string_view what);

  const Node& node() const noexcept { return node_; }
  bool is_object() const noexcept { return node_.value().is_object(); }

  /// The member, or nothing. Asking makes the key known.
  std::optional<Node> get(std::string_view key);
  /// As `get`, but reports a fault if it is missing.
  std::optional<Node> need(std::string_view key);
  bool has(std::string_view key) const noexcept { return node_.value().find(key) != nullptr; }

  std::string string(std::string_view key, std::string fallback = {});
  bool boolean(std::string_view key, bool fallback);
  /// A value that is allowed but of no interest here.
  void ignore(std::string_view key) { get(key); }
  /// A key of an older language: refused, saying what takes its place.
  void dropped(std::string_view key, std::string_view instead);

  /// Reports every key that nobody asked for. Call it once, at the end.
  void finish();

 private:
  Node node_;
  std::string_view what_;
  std::vector<std::string> known_;
  std::vector<std::string> dropped_;
};

/// A formula; strings are parsed as expressions. Faults are reported, and the formula is null then.
Formula read_formula(const Node& node);
/// As read_formula for a place that takes an expression or a number: anything else is a fault. Nothing on a
/// fault.
std::optional<Formula> read_expression_or_number(const Node& node);
/// An expression given as a string that is not empty.
std::optional<Formula> read_expression(const Node& node);

}  // namespace kernelpack::package
