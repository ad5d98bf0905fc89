#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.hpp"
#include "expr/value.hpp"

namespace kernelpack::expr {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xFFFFFFFFu;

enum class Op : std::uint8_t {
  number,   ///< a: constant
  string,   ///< a: constant
  name,     ///< a: name
  list,     ///< a, b: first child and count
  tuple,    ///< the same
  dict,     ///< the same, keys and values in turn
  plus,     ///< a: operand
  minus,    ///< the same
  not_,     ///< the same
  ternary,  ///< a: condition, b: value if true, c: value if false or kNoNode
  // From here on `a` is the operand on the left: these form spines that are walked without recursion.
  or_,  ///< b: right operand, up to power
  and_,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
  add,
  subtract,
  concatenate,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  test,    ///< b: name; flag: `is not`; builtin: index of the test
  filter,  ///< b: name; c, d: first argument and count, c kNoNode without parentheses; builtin: index of the
           ///< filter; flag: what follows the bar is not a filter at all
  member,  ///< b: name
  index,   ///< b: subscript; flag: written with a dot
  slice,   ///< b, c, d: start, stop, step, each may be kNoNode
  call,    ///< b, c: first argument and count
};

constexpr bool has_left(Op op) noexcept {
  return op >= Op::or_;
}

inline constexpr std::uint16_t kNoBuiltin = 0xFFFFu;

struct Node {
  Op op = Op::number;
  bool flag = false;
  std::uint16_t builtin = kNoBuiltin;
  std::uint32_t a = kNoNode;
  std::uint32_t b = kNoNode;
  std::uint32_t c = kNoNode;
  std::uint32_t d = kNoNode;
  /// The spine: the leaf where its walk starts, and the node that has this one on its left.
  NodeId first = kNoNode;
  NodeId next = kNoNode;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  SourceSpan span() const noexcept { return {begin, end}; }
};

enum class ArgumentKind : std::uint8_t { positional, keyword, spread, keyword_spread };

/// One argument of a call, or one parameter of a macro (keyword: with a default).
struct Argument {
  ArgumentKind kind = ArgumentKind::positional;
  std::uint32_t name = kNoNode;
  NodeId value = kNoNode;
};

/// Distinct names, numbered in order of their first use.
class NameTable {
 public:
  std::uint32_t add(std::string_view name);
  NameView operator[](std::uint32_t name) const noexcept { return {names_[name].text, names_[name].hash}; }
  std::size_t size() const noexcept { return names_.size(); }

 private:
  struct Name {
    std::string text;
    std::uint32_t hash;
  };
  /// A deque, because the index refers to the texts.
  std::deque<Name> names_;
  NameIndex index_;
};

/// The parsed form of a text: nodes refer to each other by index, so nothing about it recurses.
struct Ast {
  std::vector<Node> nodes;
  std::vector<NodeId> children;
  std::vector<Argument> arguments;
  std::vector<Value> constants;
  NameTable names;

  const Node& operator[](NodeId id) const noexcept { return nodes[id]; }
};

/// Where a name occurs among the free names of an expression.
struct NameUses {
  std::vector<std::uint32_t> required;  ///< in order of first use
  std::vector<std::uint32_t> tested;    ///< only as the direct operand of `is [not] defined` or `undefined`
};

/// The free bare identifiers of an expression (format.md 4.8), without the constants of the language.
NameUses free_names(const Ast& ast, NodeId root);

/// Calls `visit` for every `name` node below `root`, in order of the text; `tested` says whether it is the
/// direct operand of `is defined` or `is undefined`.
void for_each_name(const Ast& ast, NodeId root, const std::function<void(NodeId node, bool tested)>& visit);

/// true, false, none and their title-case forms, or null.
const Value* language_constant(NameView name) noexcept;

}  // namespace kernelpack::expr
