#include "expr/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/number_text.hpp"
#include "expr/builtins.hpp"
#include "expr/text.hpp"

namespace kernelpack::expr {
namespace {

struct Operator {
  int level;
  Op op;
  std::size_t tokens;
};

constexpr int kOr = 0;
constexpr int kAnd = 1;
constexpr int kNot = 2;
constexpr int kComparison = 3;
constexpr int kSum = 4;
constexpr int kProduct = 5;
constexpr int kPower = 6;

Op comparison_of(std::string_view text) {
  if (text == "==") return Op::equal;
  if (text == "!=") return Op::not_equal;
  if (text == "<") return Op::less;
  if (text == "<=") return Op::less_equal;
  return text == ">" ? Op::greater : Op::greater_equal;
}

Op product_of(std::string_view text) {
  if (text == "*") return Op::multiply;
  if (text == "/") return Op::divide;
  return text == "//" ? Op::floor_divide : Op::modulo;
}

/// The binary operator that starts at `token`; keywords count by position only.
std::optional<Operator> operator_at(const Token& token, const Token* following) {
  switch (token.kind) {
    case TokenKind::name:
      if (token.text == "or") return Operator{kOr, Op::or_, 1};
      if (token.text == "and") return Operator{kAnd, Op::and_, 1};
      if (token.text == "in") return Operator{kComparison, Op::in, 1};
      if (token.text == "not" && following && following->kind == TokenKind::name && following->text == "in") {
        return Operator{kComparison, Op::not_in, 2};
      }
      return std::nullopt;
    case TokenKind::comparison:
      return Operator{kComparison, comparison_of(token.text), 1};
    case TokenKind::additive:
      return Operator{kSum,
                      token.text == "+"   ? Op::add
                      : token.text == "-" ? Op::subtract
                                          : Op::concatenate,
                      1};
    case TokenKind::multiplicative:
      return Operator{kProduct, product_of(token.text), 1};
    case TokenKind::power:
      return Operator{kPower, Op::power, 1};
    default:
      return std::nullopt;
  }
}

}  // namespace

/// Counts one level of what recurses.
class Parser::Nesting {
 public:
  explicit Nesting(Parser& parser) : parser_(parser) {
    if (++parser_.depth_ <= parser_.depth_limit_) return;
    throw parser_.faults_.at(
        ErrorKind::limit,
        fmt::format("The expression is nested deeper than the budget expression_depth ({}) allows",
                    parser_.depth_limit_),
        parser_.peek().span);
  }
  ~Nesting() { --parser_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Parser& parser_;
};

Parser::Parser(Ast& ast, const std::vector<Token>& tokens, const Faults& faults, const Budgets& budgets)
    : ast_(ast),
      tokens_(tokens),
      faults_(faults),
      depth_limit_(std::min(budgets.expression_depth, kMaxDepth)) {}

const Token& Parser::take() noexcept {
  const Token& token = tokens_[position_];
  if (position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool Parser::accept(TokenKind kind) noexcept {
  if (!at(kind)) return false;
  take();
  return true;
}

bool Parser::accept_name(std::string_view name) noexcept {
  if (!at_name(name)) return false;
  take();
  return true;
}

const Token& Parser::expect(TokenKind kind, std::string_view expected) {
  if (!at(kind)) unexpected(expected);
  return take();
}

void Parser::unexpected(std::string_view expected) const {
  faults_.fail(peek().span, fmt::format("There is {} where {} is expected", describe(peek()), expected));
}

NodeId Parser::add(Node node) {
  const auto id = static_cast<NodeId>(ast_.nodes.size());
  node.first = id;
  ast_.nodes.push_back(node);
  return id;
}

/// A node whose left operand is `node.a`: continues the spine of that operand.
NodeId Parser::add_spine(Node node) {
  const NodeId id = add(node);
  ast_.nodes[id].first = ast_.nodes[node.a].first;
  ast_.nodes[node.a].next = id;
  ast_.nodes[id].begin = ast_.nodes[node.a].begin;
  ast_.nodes[id].end = static_cast<std::uint32_t>(end_of_last());
  return id;
}

NodeId Parser::name_node(const Token& token) {
  Node node;
  node.op = Op::name;
  node.a = ast_.names.add(token.text);
  node.begin = static_cast<std::uint32_t>(token.span.begin);
  node.end = static_cast<std::uint32_t>(token.span.end);
  return add(node);
}

NodeId Parser::expression() {
  const NodeId value = binary(kOr);
  if (!accept_name("if")) return value;
  Node node;
  node.op = Op::ternary;
  node.b = value;
  node.a = binary(kOr);
  if (accept_name("else")) {
    const Nesting nesting(*this);
    node.c = expression();
  }
  node.begin = ast_.nodes[value].begin;
  node.end = static_cast<std::uint32_t>(end_of_last());
  return add(node);
}

NodeId Parser::sequence(bool primaries) {
  const std::size_t begin = peek().span.begin;
  std::vector<NodeId> items = {primaries ? primary() : expression()};
  if (!at(TokenKind::comma)) return items.front();
  while (accept(TokenKind::comma)) items.push_back(primaries ? primary() : expression());
  Node node;
  node.op = Op::tuple;
  node.a = static_cast<std::uint32_t>(ast_.children.size());
  node.b = static_cast<std::uint32_t>(items.size());
  ast_.children.insert(ast_.children.end(), items.begin(), items.end());
  node.begin = static_cast<std::uint32_t>(begin);
  node.end = static_cast<std::uint32_t>(end_of_last());
  return add(node);
}

NodeId Parser::binary(int level) {
  NodeId left = level <= kNot && at_name("not") ? negation() : tested();
  while (true) {
    const Token* following = position_ + 1 < tokens_.size() ? &tokens_[position_ + 1] : nullptr;
    const std::optional<Operator> found = operator_at(peek(), following);
    if (!found || found->level < level) return left;
    for (std::size_t i = 0; i < found->tokens; ++i) take();
    Node node;
    node.op = found->op;
    node.a = left;
    node.b = binary(found->level + 1);
    left = add_spine(node);
  }
}

NodeId Parser::negation() {
  const Nesting nesting(*this);
  Node node;
  node.op = Op::not_;
  // In the reference a second `not` behind the operand starts over and drops the first: `not a not b` is `not
  // b`.
  while (at_name("not")) {
    node.begin = static_cast<std::uint32_t>(take().span.begin);
    node.a = binary(kNot);
    node.end = static_cast<std::uint32_t>(end_of_last());
  }
  return add(node);
}

NodeId Parser::tested() {
  NodeId operand = filtered();
  while (accept_name("is")) {
    Node node;
    node.op = Op::test;
    node.a = operand;
    node.flag = accept_name("not");
    const Token& start = peek();
    const NodeId name = primary();
    if (ast_.nodes[name].op != Op::name) faults_.fail(start.span, "The name of a test is expected behind is");
    node.b = ast_.nodes[name].a;
    node.builtin = find_test(ast_.names[node.b]);
    operand = add_spine(node);
  }
  return operand;
}

NodeId Parser::filtered() {
  NodeId operand = signed_operand();
  while (accept(TokenKind::pipe)) {
    const Token& start = peek();
    const NodeId made = filter();
    Node node = ast_.nodes[made];
    if (node.op != Op::filter) faults_.fail(start.span, "The name of a filter is expected behind |");
    node.a = operand;
    operand = add_spine(node);
  }
  return operand;
}

NodeId Parser::filter() {
  const NodeId name = primary();
  if (ast_.nodes[name].op != Op::name) return name;
  Node node = ast_.nodes[name];
  node.op = Op::filter;
  node.b = node.a;
  node.a = kNoNode;
  node.builtin = find_filter(ast_.names[node.b]);
  if (at(TokenKind::open_parenthesis)) {
    const ArgumentRange range = arguments();
    node.c = range.first;
    node.d = range.count;
    // The reference reads members and calls here, and fails when it applies them as a filter.
    const NodeId call = add(node);
    node.flag = postfix(call) != call;
  }
  node.next = kNoNode;
  return add(node);
}

NodeId Parser::signed_operand() {
  const Token& token = peek();
  if (token.kind != TokenKind::sign && !(token.kind == TokenKind::additive && token.text != "~")) {
    return postfix(primary());
  }
  const Nesting nesting(*this);
  take();
  Node node;
  node.op = token.text == "-" ? Op::minus : Op::plus;
  node.a = signed_operand();
  node.begin = static_cast<std::uint32_t>(token.span.begin);
  node.end = static_cast<std::uint32_t>(end_of_last());
  return add(node);
}

NodeId Parser::postfix(NodeId operand) {
  while (true) {
    Node node;
    node.a = operand;
    if (accept(TokenKind::dot)) {
      const Token& start = peek();
      const NodeId property = primary();
      const Node& found = ast_.nodes[property];
      if (found.op == Op::name) {
        node.op = Op::member;
        node.b = found.a;
      } else if (found.op == Op::number && ast_.constants[found.a].is_integer()) {
        node.op = Op::index;
        node.flag = true;
        node.b = property;
      } else {
        faults_.fail(start.span, "A name or an integer is expected behind the dot");
      }
    } else if (at(TokenKind::open_bracket)) {
      const std::size_t begin = take().span.begin;
      operand = subscript(operand, begin);
      continue;
    } else if (at(TokenKind::open_parenthesis)) {
      const ArgumentRange range = arguments();
      node.op = Op::call;
      node.b = range.first;
      node.c = range.count;
    } else {
      return operand;
    }
    operand = add_spine(node);
  }
}

NodeId Parser::subscript(NodeId object, std::size_t begin) {
  const Nesting nesting(*this);
  // As in the reference: parts need no separator, and without a colon only the first one counts.
  std::vector<NodeId> parts;
  bool slice = false;
  while (!at(TokenKind::close_bracket)) {
    const bool absent = accept(TokenKind::colon);
    parts.push_back(absent ? kNoNode : expression());
    if (absent || accept(TokenKind::colon)) slice = true;
  }
  take();
  if (parts.empty()) faults_.fail({begin, end_of_last()}, "The subscript is empty");
  if (slice && parts.size() > 3) faults_.fail({begin, end_of_last()}, "A slice has more than three parts");
  Node node;
  node.op = slice ? Op::slice : Op::index;
  node.a = object;
  node.b = parts[0];
  if (slice && parts.size() > 1) node.c = parts[1];
  if (slice && parts.size() > 2) node.d = parts[2];
  return add_spine(node);
}

ArgumentRange Parser::arguments() {
  return argument_list(false);
}

ArgumentRange Parser::parameters() {
  return argument_list(true);
}

Argument Parser::keyword_argument(NodeId name) {
  const Token& equals = take();
  if (ast_.nodes[name].op != Op::name) faults_.fail(equals.span, "A keyword before = must be a name");
  return {ArgumentKind::keyword, ast_.nodes[name].a, expression()};
}

ArgumentRange Parser::argument_list(bool parameters) {
  const Nesting nesting(*this);
  expect(TokenKind::open_parenthesis, "(");
  std::vector<Argument> list;
  std::unordered_set<std::uint32_t> names;
  bool keyword = false;
  bool spread = false;
  while (!at(TokenKind::close_parenthesis)) {
    const Token start = peek();
    const bool star = at(TokenKind::multiplicative) && start.text == "*";
    if (parameters && (star || at(TokenKind::power)))
      faults_.fail(start.span, "A parameter cannot be unpacked");
    if (accept(TokenKind::power)) {
      list.push_back({ArgumentKind::keyword_spread, kNoNode, expression()});
      accept(TokenKind::comma);
      if (!at(TokenKind::close_parenthesis)) faults_.fail(peek().span, "No argument may follow one with **");
      break;
    }
    Argument argument;
    if (star) {
      if (spread) faults_.fail(start.span, "Only one argument may be unpacked with *");
      spread = true;
      take();
      argument.kind = ArgumentKind::spread;
      argument.value = expression();
    } else {
      argument.value = expression();
      if (at(TokenKind::equals)) argument = keyword_argument(argument.value);
      if (parameters) {
        if (argument.kind == ArgumentKind::positional) {
          const Node& node = ast_.nodes[argument.value];
          if (node.op != Op::name) faults_.fail(start.span, "A parameter must be a name");
          argument.name = node.a;
        }
        if (!names.insert(argument.name).second)
          faults_.fail(start.span, "Two parameters have the same name");
      }
      if (argument.kind == ArgumentKind::keyword) {
        keyword = true;
      } else if (keyword) {
        faults_.fail(start.span, parameters ? "A parameter without default follows one with a default"
                                            : "A positional argument follows a keyword argument");
      } else if (spread) {
        faults_.fail(start.span, "A positional argument follows one that is unpacked with *");
      }
    }
    list.push_back(argument);
    accept(TokenKind::comma);
  }
  take();
  const ArgumentRange range{static_cast<std::uint32_t>(ast_.arguments.size()),
                            static_cast<std::uint32_t>(list.size())};
  ast_.arguments.insert(ast_.arguments.end(), list.begin(), list.end());
  return range;
}

NodeId Parser::primary() {
  const Token& token = peek();
  Node node;
  switch (token.kind) {
    case TokenKind::number: {
      take();
      const bool plus = token.text.front() == '+';
      const double value = nearest_double(token.text.substr(plus ? 1 : 0));
      const bool fraction = token.text.find('.') != std::string_view::npos;
      node.op = Op::number;
      node.a = static_cast<std::uint32_t>(ast_.constants.size());
      ast_.constants.push_back(fraction ? Value::floating(value) : Value::integer(value));
      break;
    }
    case TokenKind::string: {
      std::string text;
      while (at(TokenKind::string)) append_text(text, string_value(take()));
      node.op = Op::string;
      node.a = static_cast<std::uint32_t>(ast_.constants.size());
      ast_.constants.push_back(Value::string(std::move(text)));
      break;
    }
    case TokenKind::name:
      take();
      return name_node(token);
    case TokenKind::open_parenthesis: {
      const Nesting nesting(*this);
      take();
      const NodeId inner = sequence();
      expect(TokenKind::close_parenthesis, ")");
      return inner;
    }
    case TokenKind::open_bracket:
      return list_display();
    case TokenKind::open_brace:
      return dict_display();
    default:
      unexpected("an operand");
  }
  node.begin = static_cast<std::uint32_t>(token.span.begin);
  node.end = static_cast<std::uint32_t>(end_of_last());
  return add(node);
}

NodeId Parser::list_display() {
  const Nesting nesting(*this);
  Node node;
  node.op = Op::list;
  node.begin = static_cast<std::uint32_t>(take().span.begin);
  std::vector<NodeId> items;
  while (!at(TokenKind::close_bracket)) {
    items.push_back(expression());
    accept(TokenKind::comma);
  }
  take();
  node.a = static_cast<std::uint32_t>(ast_.children.size());
  node.b = static_cast<std::uint32_t>(items.size());
  ast_.children.insert(ast_.children.end(), items.begin(), items.end());
  node.end = static_cast<std::uint32_t>(end_of_last());
  return add(node);
}

NodeId Parser::dict_display() {
  const Nesting nesting(*this);
  Node node;
  node.op = Op::dict;
  node.begin = static_cast<std::uint32_t>(take().span.begin);
  std::vector<NodeId> items;
  while (!at(TokenKind::close_brace)) {
    items.push_back(expression());
    expect(TokenKind::colon, ": between key and value");
    items.push_back(expression());
    accept(TokenKind::comma);
  }
  take();
  node.a = static_cast<std::uint32_t>(ast_.children.size());
  node.b = static_cast<std::uint32_t>(items.size() / 2);
  ast_.children.insert(ast_.children.end(), items.begin(), items.end());
  node.end = static_cast<std::uint32_t>(end_of_last());
  return add(node);
}

}  // namespace kernelpack::expr
