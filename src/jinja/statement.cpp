#include "jinja/statement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "expr/text.hpp"
#include "expr/token.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::jinja {
namespace {

using expr::Op;
using expr::Parser;
using expr::Token;
using expr::TokenKind;

/// A statement tag that ends a block, to be read on by the statement that the block belongs to.
struct Terminator {
  std::string_view name;
  std::vector<Token> tokens;
};

class ProgramParser {
 public:
  ProgramParser(std::string_view text, const expr::Faults& faults, const Budgets& budgets)
      : text_(text), faults_(faults), budgets_(budgets) {
    program_.loop = program_.ast.names.add("loop");
    program_.caller = program_.ast.names.add("caller");
    program_.kwargs = program_.ast.names.add("kwargs");
    program_.varargs = program_.ast.names.add("varargs");
    program_.name_space = program_.ast.names.add("namespace");
  }

  Program parse() {
    program_.main = block({}, nullptr);
    const std::vector<std::uint32_t> read = names_read(program_);
    program_.reads_loop = std::find(read.begin(), read.end(), program_.loop) != read.end();
    return std::move(program_);
  }

 private:
  /// Parses up to a tag that is named in `ends`, which goes to `terminator`; with none, up to the end of the
  /// text.
  Block block(std::initializer_list<std::string_view> ends, Terminator* terminator) {
    if (depth_ > std::min(budgets_.expression_depth, expr::kMaxDepth)) {
      throw faults_.at(
          ErrorKind::limit,
          fmt::format("The blocks are nested deeper than the budget expression_depth ({}) allows",
                      budgets_.expression_depth),
          {position_, position_});
    }
    ++depth_;
    std::vector<std::uint32_t> ids;
    std::optional<Terminator> end;
    while (position_ < text_.size() && !end) {
      if (read_text(ids) || read_comment()) continue;
      if (text_[position_ + 1] == '{') {
        ids.push_back(print_tag());
      } else {
        end = statement_tag(ends, ids);
      }
    }
    --depth_;
    if (terminator != nullptr) {
      if (!end) {
        faults_.fail(
            {text_.size(), text_.size()},
            fmt::format("The template ends inside a block that needs {{% {} %}}", *(ends.end() - 1)));
      }
      *terminator = std::move(*end);
    }
    const Block made{static_cast<std::uint32_t>(program_.order.size()),
                     static_cast<std::uint32_t>(ids.size())};
    program_.order.insert(program_.order.end(), ids.begin(), ids.end());
    return made;
  }

  std::uint32_t add(const Statement& statement) {
    program_.statements.push_back(statement);
    return static_cast<std::uint32_t>(program_.statements.size() - 1);
  }

  bool strips_before(std::size_t tag) const { return text_.substr(tag + 2, 1) == "-"; }

  void skip_spaces() { position_ = text_.size() - expr::trim_start(text_.substr(position_)).size(); }

  /// Text up to the next tag.
  bool read_text(std::vector<std::uint32_t>& ids) {
    std::size_t end = position_;
    while (true) {
      end = std::min(text_.find('{', end), text_.size());
      if (end + 1 >= text_.size()) end = text_.size();
      if (end == text_.size() || text_[end + 1] == '%' || text_[end + 1] == '{' || text_[end + 1] == '#')
        break;
      ++end;
    }
    if (end == position_) return false;
    std::string_view piece = text_.substr(position_, end - position_);
    if (end < text_.size() && strips_before(end)) piece = expr::trim_end(piece);
    if (!piece.empty()) {
      Statement statement;
      statement.span = {position_, position_ + piece.size()};
      ids.push_back(add(statement));
    }
    position_ = end;
    return true;
  }

  bool read_comment() {
    if (text_[position_ + 1] != '#') return false;
    const std::size_t inside = position_ + 2 + (strips_before(position_) ? 1 : 0);
    const std::size_t end = text_.find("#}", inside);
    if (end == std::string_view::npos)
      faults_.fail({position_, position_ + 2}, "The comment that starts here has no end");
    position_ = end + 2;
    if (end > inside && text_[end - 1] == '-') skip_spaces();
    return true;
  }

  /// The tokens of the tag at `position_`, closed by a token of that kind.
  std::vector<Token> tag_tokens(TokenKind close) {
    const std::size_t begin = position_;
    position_ += strips_before(begin) ? 3 : 2;
    std::vector<Token> tokens = expr::read_tokens(text_, position_, faults_);
    const Token& last = tokens.back();
    if (last.kind == TokenKind::end) faults_.fail({begin, begin + 2}, "The tag that starts here has no end");
    if (last.kind != close) {
      faults_.fail(last.span, fmt::format("The tag ends with {} where {} is expected", last.text,
                                          close == TokenKind::close_statement ? "%}" : "}}"));
    }
    if (last.text.front() == '-') skip_spaces();
    return tokens;
  }

  Parser parser(const std::vector<Token>& tokens) { return Parser(program_.ast, tokens, faults_, budgets_); }

  std::uint32_t print_tag() {
    const std::size_t begin = position_;
    const std::vector<Token> tokens = tag_tokens(TokenKind::close_expression);
    Parser parser = this->parser(tokens);
    Statement statement;
    statement.kind = StatementKind::print;
    statement.node = parser.expression();
    parser.expect(TokenKind::close_expression, "}}");
    statement.span = {begin, tokens.back().span.end};
    return add(statement);
  }

  std::optional<Terminator> statement_tag(std::initializer_list<std::string_view> ends,
                                          std::vector<std::uint32_t>& ids) {
    std::vector<Token> tokens = tag_tokens(TokenKind::close_statement);
    const Token name = tokens.front();
    if (name.kind != TokenKind::name) {
      faults_.fail(name.span,
                   fmt::format("There is {} where the name of a statement is expected", describe(name)));
    }
    if (std::find(ends.begin(), ends.end(), name.text) != ends.end())
      return Terminator{name.text, std::move(tokens)};
    Parser parser = this->parser(tokens);
    parser.take();
    if (name.text == "set")
      ids.push_back(set(parser, name.span));
    else if (name.text == "if")
      ids.push_back(if_(parser, name.span));
    else if (name.text == "for")
      ids.push_back(for_(parser, name.span));
    else if (name.text == "macro")
      ids.push_back(macro(parser, name.span));
    else if (name.text == "call")
      ids.push_back(call(parser, name.span));
    else if (name.text == "filter")
      ids.push_back(filter(parser, name.span));
    else if (name.text == "break")
      ids.push_back(jump(parser, StatementKind::break_, name.span));
    else if (name.text == "continue")
      ids.push_back(jump(parser, StatementKind::continue_, name.span));
    else
      faults_.fail(name.span,
                   fmt::format("The statement {} is unknown or has nothing to end here", name.text));
    return std::nullopt;
  }

  void close(Parser& parser) { parser.expect(TokenKind::close_statement, "%}"); }

  /// The end tag of a block holds its name alone.
  void close(const Terminator& terminator) {
    Parser parser = this->parser(terminator.tokens);
    parser.take();
    close(parser);
  }

  Block closed_block(std::string_view end) {
    Terminator terminator;
    const Block made = block({end}, &terminator);
    close(terminator);
    return made;
  }

  std::uint32_t jump(Parser& parser, StatementKind kind, SourceSpan span) {
    close(parser);
    Statement statement;
    statement.kind = kind;
    statement.span = span;
    return add(statement);
  }

  std::uint32_t set(Parser& parser, SourceSpan span) {
    Statement statement;
    statement.kind = StatementKind::set;
    statement.span = span;
    statement.target = parser.sequence();
    if (parser.accept(TokenKind::equals)) {
      statement.node = parser.sequence();
      close(parser);
    } else {
      close(parser);
      statement.body = closed_block("endset");
    }
    return add(statement);
  }

  /// A chain of elif is read by a loop and nested afterwards, from its end.
  std::uint32_t if_(Parser& first, SourceSpan span) {
    std::vector<Statement> branches;
    Block otherwise;
    const auto branch = [&](Parser& parser, SourceSpan place, Terminator& terminator) {
      Statement statement;
      statement.kind = StatementKind::if_;
      statement.span = place;
      statement.node = parser.expression();
      close(parser);
      statement.body = block({"elif", "else", "endif"}, &terminator);
      branches.push_back(statement);
    };
    Terminator terminator;
    branch(first, span, terminator);
    while (terminator.name == "elif") {
      const std::vector<Token> tokens = std::move(terminator.tokens);
      Parser parser = this->parser(tokens);
      const SourceSpan place = parser.take().span;
      branch(parser, place, terminator);
    }
    if (terminator.name == "else") {
      close(terminator);
      otherwise = closed_block("endif");
    } else {
      close(terminator);
    }
    std::uint32_t id = 0;
    for (std::size_t i = branches.size(); i-- > 0;) {
      branches[i].otherwise = otherwise;
      id = add(branches[i]);
      otherwise = {static_cast<std::uint32_t>(program_.order.size()), 1};
      program_.order.push_back(id);
    }
    return id;
  }

  std::uint32_t for_(Parser& parser, SourceSpan span) {
    Statement statement;
    statement.kind = StatementKind::for_;
    statement.span = span;
    statement.target = parser.sequence(true);
    const Op target = program_.ast[statement.target].op;
    if (target != Op::name && target != Op::tuple) {
      faults_.fail(program_.ast[statement.target].span(),
                   "The loop variable must be a name or a list of names");
    }
    if (!parser.accept_name("in")) {
      faults_.fail(parser.peek().span,
                   fmt::format("There is {} where in is expected", describe(parser.peek())));
    }
    statement.node = parser.expression();
    close(parser);
    Terminator terminator;
    statement.body = block({"else", "endfor"}, &terminator);
    close(terminator);
    if (terminator.name == "else") statement.otherwise = closed_block("endfor");
    return add(statement);
  }

  std::uint32_t name_of(Parser& parser, std::string_view what) {
    const SourceSpan place = parser.peek().span;
    const NodeId node = parser.primary();
    if (program_.ast[node].op != Op::name)
      faults_.fail(place, fmt::format("The name of {} is expected", what));
    return node;
  }

  std::uint32_t macro(Parser& parser, SourceSpan span) {
    Statement statement;
    statement.kind = StatementKind::macro;
    statement.span = span;
    statement.name = program_.ast[name_of(parser, "the macro")].a;
    statement.parameters = parser.parameters();
    close(parser);
    statement.body = closed_block("endmacro");
    find_special_arguments(statement);
    return add(statement);
  }

  std::uint32_t call(Parser& parser, SourceSpan span) {
    Statement statement;
    statement.kind = StatementKind::call;
    statement.span = span;
    if (parser.at(TokenKind::open_parenthesis)) statement.parameters = parser.parameters();
    statement.node = name_of(parser, "the macro to call");
    statement.arguments = parser.arguments();
    close(parser);
    statement.body = closed_block("endcall");
    find_special_arguments(statement);
    return add(statement);
  }

  std::uint32_t filter(Parser& parser, SourceSpan span) {
    Statement statement;
    statement.kind = StatementKind::filter;
    statement.span = span;
    statement.node = parser.filter();
    close(parser);
    statement.body = closed_block("endfilter");
    return add(statement);
  }

  void find_special_arguments(Statement& statement);

  std::string_view text_;
  const expr::Faults& faults_;
  const Budgets& budgets_;
  std::size_t position_ = 0;
  std::size_t depth_ = 0;
  Program program_;
};

/// Calls `read` for each name that expressions evaluate and `declare` for each name that statements set, in
/// the order in which Jinja visits them. Objects whose members are set are visited only with
/// `assigned_objects`.
template <class Read, class Declare>
class Visitor {
 public:
  Visitor(const Program& program, Read read, Declare declare, bool assigned_objects = false)
      : program_(program), read_(read), declare_(declare), assigned_objects_(assigned_objects) {}

  void block(Block block) {
    for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
      statement(program_.statements[program_.order[i]]);
    }
  }

 private:
  void expression(NodeId node) {
    if (node == kNoNode) return;
    expr::for_each_name(program_.ast, node, [&](NodeId name, bool) { read_(program_.ast[name].a); });
  }

  void values(ArgumentRange range) {
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
      const expr::Argument& argument = program_.ast.arguments[i];
      if (argument.kind != expr::ArgumentKind::positional || argument.name == kNoNode)
        expression(argument.value);
    }
  }

  void parameters(ArgumentRange range) {
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i)
      declare_(program_.ast.arguments[i].name);
    values(range);
  }

  void target(NodeId node) {
    const expr::Node& found = program_.ast[node];
    if (found.op == Op::name) {
      declare_(found.a);
      return;
    }
    if (found.op != Op::tuple) {
      if (assigned_objects_) expression(node);
      return;
    }
    for (std::uint32_t i = 0; i < found.b; ++i) target(program_.ast.children[found.a + i]);
  }

  void statement(const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::text:
      case StatementKind::break_:
      case StatementKind::continue_:
        return;
      case StatementKind::print:
        expression(statement.node);
        return;
      case StatementKind::if_: {
        const Statement* branch = &statement;
        expression(branch->node);
        block(branch->body);
        while (const Statement* next = program_.next_branch(*branch)) {
          branch = next;
          expression(branch->node);
          block(branch->body);
        }
        block(branch->otherwise);
        return;
      }
      case StatementKind::for_: {
        target(statement.target);
        const expr::Node& node = program_.ast[statement.node];
        const bool filtered = node.op == Op::ternary && node.c == kNoNode;
        expression(filtered ? node.b : statement.node);
        block(statement.body);
        block(statement.otherwise);
        if (filtered) expression(node.a);
        return;
      }
      case StatementKind::set:
        target(statement.target);
        expression(statement.node);
        block(statement.body);
        return;
      case StatementKind::macro:
        parameters(statement.parameters);
        block(statement.body);
        return;
      case StatementKind::call:
        expression(statement.node);
        values(statement.arguments);
        parameters(statement.parameters);
        block(statement.body);
        return;
      case StatementKind::filter: {
        block(statement.body);
        const expr::Node& node = program_.ast[statement.node];
        if (node.op == Op::filter && node.c != kNoNode) values({node.c, node.d});
        return;
      }
    }
  }

  const Program& program_;
  Read read_;
  Declare declare_;
  bool assigned_objects_;
};

void ProgramParser::find_special_arguments(Statement& statement) {
  // Whether a body wants `kwargs` or `varargs`: it reads the name before anything in it sets it.
  bool declares_kwargs = false;
  bool declares_varargs = false;
  const auto declare = [&](std::uint32_t name) {
    declares_kwargs = declares_kwargs || name == program_.kwargs;
    declares_varargs = declares_varargs || name == program_.varargs;
  };
  const auto read = [&](std::uint32_t name) {
    if (name == program_.kwargs && !declares_kwargs) statement.uses_kwargs = true;
    if (name == program_.varargs && !declares_varargs) statement.uses_varargs = true;
  };
  for (std::uint32_t i = 0; i < statement.parameters.count; ++i) {
    declare(program_.ast.arguments[statement.parameters.first + i].name);
  }
  Visitor(program_, read, declare).block(statement.body);
}

}  // namespace

Program parse_program(std::string_view text, const expr::Faults& faults, const Budgets& budgets) {
  return ProgramParser(text, faults, budgets).parse();
}

std::vector<std::uint32_t> names_read(const Program& program) {
  std::vector<std::uint32_t> names;
  std::vector<bool> seen(program.ast.names.size(), false);
  const auto read = [&](std::uint32_t name) {
    if (!seen[name]) names.push_back(name);
    seen[name] = true;
  };
  Visitor(
      program, read, [](std::uint32_t) {}, true)
      .block(program.main);
  return names;
}

}  // namespace kernelpack::jinja
