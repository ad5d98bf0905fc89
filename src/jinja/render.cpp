#include "jinja/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_set>
#include <utility>

#include "expr/builtins.hpp"
#include "expr/print.hpp"
#include "expr/text.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::jinja {
namespace {

using expr::Op;
using expr::Value;

/// `break` or `continue` inside a macro acts on the loop of its caller: it leaves the expression that called.
struct LoopControl {
  Flow flow;
  SourceSpan span;
};

/// A macro, or `caller` inside one: a body with parameters.
class Body final : public expr::Function {
 public:
  /// `home`: the frame of a call block; a macro runs in the frame of its caller instead.
  Body(Renderer& renderer, const Statement& statement, std::string name, expr::Frame* home)
      : renderer_(renderer), statement_(statement), name_(std::move(name)), home_(home) {}

  std::string_view name() const noexcept override { return name_; }
  Value call(expr::Call& call) const override {
    return Value::string(renderer_.call_body(statement_, name_, call, home_ != nullptr ? home_ : call.frame));
  }
  bool takes_keywords() const noexcept override { return true; }
  bool from_host() const noexcept override { return false; }

 private:
  Renderer& renderer_;
  const Statement& statement_;
  std::string name_;
  expr::Frame* home_;
};

/// Keys of `loop`, made once.
const std::array<Value, 9>& loop_keys() {
  static const std::array<Value, 9> keys = {
      Value::string("index"),     Value::string("index0"),   Value::string("revindex"),
      Value::string("revindex0"), Value::string("first"),    Value::string("last"),
      Value::string("length"),    Value::string("previtem"), Value::string("nextitem")};
  return keys;
}

}  // namespace

Renderer::Scoped::Scoped(Renderer& renderer, Frame* parent) : renderer_(renderer) {
  if (renderer.free_.empty()) {
    frame_ = &renderer.frames_.emplace_back();
    // Giving the frame back must not need memory.
    if (renderer.free_.capacity() < renderer.frames_.size())
      renderer.free_.reserve(2 * renderer.frames_.size());
  } else {
    frame_ = renderer.free_.back();
    renderer.free_.pop_back();
  }
  frame_->parent = parent;
}

Renderer::Scoped::~Scoped() {
  if (frame_->captured) return;
  frame_->clear();
  renderer_.free_.push_back(frame_);
}

Renderer::Renderer(const Program& program, std::string_view text, const expr::Faults& faults,
                   expr::Meter& meter, const Value* const* values)
    : program_(program),
      text_(text),
      faults_(faults),
      meter_(meter),
      evaluator_(program.ast, faults, meter, values) {
  evaluator_.set_local_name(program.name_space);
}

std::string Renderer::render() {
  std::string out;
  out.reserve(text_.size());
  const Scoped frame(*this, nullptr);
  Flow flow = Flow::normal;
  SourceSpan place{0, 0};
  try {
    flow = block(program_.main, frame.get(), out);
  } catch (const LoopControl& control) {
    flow = control.flow;
    place = control.span;
  }
  if (flow != Flow::normal) {
    fail(place,
         fmt::format("The statement {} stands outside a loop", flow == Flow::break_ ? "break" : "continue"));
  }
  expr::join_halves(out);
  return expr::to_valid_utf8(std::move(out));
}

Flow Renderer::block(const Block& block, Frame* frame, std::string& out) {
  for (std::uint32_t i = block.first; i < block.first + block.count; ++i) {
    const Statement& next = program_.statements[program_.order[i]];
    const Flow flow = statement(next, frame, out);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Flow Renderer::statement(const Statement& statement, Frame* frame, std::string& out) {
  try {
    const expr::Evaluator::Nesting nesting(evaluator_);
    meter_.step();
    switch (statement.kind) {
      case StatementKind::text: {
        const std::size_t size = statement.span.end - statement.span.begin;
        meter_.scan(size);
        meter_.reach(out.size() + size);
        out.append(text_.substr(statement.span.begin, size));
        return Flow::normal;
      }
      case StatementKind::print:
        evaluator_.print(statement.node, frame, out);
        return Flow::normal;
      case StatementKind::if_:
        return if_(statement, frame, out);
      case StatementKind::for_:
        return for_(statement, frame, out);
      case StatementKind::set:
        return set(statement, frame);
      case StatementKind::macro:
        macro(statement, frame);
        return Flow::normal;
      case StatementKind::call:
        call(statement, frame, out);
        return Flow::normal;
      case StatementKind::filter:
        return filter(statement, frame, out);
      case StatementKind::break_:
        return Flow::break_;
      case StatementKind::continue_:
        return Flow::continue_;
    }
  } catch (const Error& error) {
    if (!error.where().empty()) throw;
    faults_.rethrow(error, statement.span);
  }
  return Flow::normal;
}

Flow Renderer::if_(const Statement& first, Frame* frame, std::string& out) {
  const Statement* branch = &first;
  while (!evaluator_.evaluate(branch->node, frame).truthy()) {
    const Statement* next = program_.next_branch(*branch);
    if (next == nullptr) return block(branch->otherwise, frame, out);
    branch = next;
  }
  return block(branch->body, frame, out);
}

void Renderer::check_unpacking(const Statement& statement, const Value& item) {
  const expr::Node& target = program_.ast[statement.target];
  if (target.op != Op::tuple) return;
  if (!item.is_list()) {
    fail(target.span(),
         fmt::format("The item of the loop is {}, not a list that can be unpacked", name_value(item)));
  }
  if (item.items().size() != target.b) {
    fail(target.span(), fmt::format("The item ({}) of the loop has {} parts and the loop has {} variables",
                                    describe(item), item.items().size(), target.b));
  }
}

void Renderer::bind_loop(const Statement& statement, const Value& item, Frame* frame) {
  const expr::Node& target = program_.ast[statement.target];
  if (target.op == Op::name) {
    frame->set(target.a, item);
    return;
  }
  for (std::uint32_t i = 0; i < target.b; ++i) {
    const expr::Node& name = program_.ast[program_.ast.children[target.a + i]];
    if (name.op != Op::name) fail(name.span(), "A loop variable is not a name");
    frame->set(name.a, item.items()[i]);
  }
}

std::vector<Value> Renderer::kept_items(const Statement& statement, Frame* frame) {
  const expr::Node& node = program_.ast[statement.node];
  const bool filtered = node.op == Op::ternary && node.c == kNoNode;
  const Value iterable = evaluator_.evaluate(filtered ? node.b : statement.node, frame);
  std::vector<Value> items;
  if (iterable.is_list_or_tuple()) {
    items.assign(iterable.items().begin(), iterable.items().end());
  } else if (iterable.is_dict()) {
    for (const expr::Dict::Entry& entry : iterable.dict().entries()) items.push_back(entry.key);
  } else {
    fail(node.span(), fmt::format("The loop runs over {}, not a list or a dict", name_value(iterable)));
  }
  meter_.list(items.size());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    check_unpacking(statement, items[i]);
    if (filtered) {
      const Scoped scope(*this, frame);
      bind_loop(statement, items[i], scope.get());
      if (!evaluator_.evaluate(node.a, scope.get()).truthy()) continue;
    }
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  items.resize(kept);
  return items;
}

Value Renderer::loop_value(const std::vector<Value>& items, std::size_t index) const {
  const auto count = [](std::size_t value) { return Value::integer(static_cast<double>(value)); };
  const std::size_t length = items.size();
  const std::array<Value, 9> values = {count(index + 1),
                                       count(index),
                                       count(length - index),
                                       count(length - index - 1),
                                       Value::boolean(index == 0),
                                       Value::boolean(index + 1 == length),
                                       count(length),
                                       index > 0 ? items[index - 1] : Value(),
                                       index + 1 < length ? items[index + 1] : Value()};
  expr::Dict loop;
  loop.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) loop.set(loop_keys()[i], values[i]);
  return Value::dict(std::move(loop));
}

Flow Renderer::for_(const Statement& statement, Frame* parent, std::string& out) {
  const Scoped frame(*this, parent);
  const std::vector<Value> items = kept_items(statement, frame.get());
  bool completed = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    meter_.step();
    if (program_.reads_loop) frame->set(program_.loop, loop_value(items, i));
    bind_loop(statement, items[i], frame.get());
    // The text of an iteration that break or continue ends is discarded.
    const std::size_t before = out.size();
    Flow flow = Flow::normal;
    try {
      flow = block(statement.body, frame.get(), out);
    } catch (const LoopControl& control) {
      flow = control.flow;
    }
    if (flow == Flow::normal) {
      completed = true;
      continue;
    }
    out.resize(before);
    if (flow == Flow::break_) break;
  }
  return completed ? Flow::normal : block(statement.otherwise, frame.get(), out);
}

Flow Renderer::set(const Statement& statement, Frame* frame) {
  if (statement.node == kNoNode) {
    std::string text;
    const Flow flow = block(statement.body, frame, text);
    if (flow != Flow::normal) return flow;
    expr::join_halves(text);
    assign(statement.target, Value::string(std::move(text)), frame);
    return Flow::normal;
  }
  const expr::Node& node = program_.ast[statement.node];
  if (node.op == Op::filter && node.c == kNoNode && node.builtin != expr::kNoBuiltin) {
    const std::string_view name = expr::filters()[node.builtin].name;
    if (name == "first" || name == "last") {
      // The reference's filters give nothing for an empty list, and `set` makes that undefined.
      const Value operand = evaluator_.evaluate(node.a, frame);
      if (operand.is_list_or_tuple() && operand.items().empty()) {
        assign(statement.target, Value(), frame);
        return Flow::normal;
      }
      assign(statement.target, evaluator_.apply_filter(node, operand, frame), frame);
      return Flow::normal;
    }
  }
  assign(statement.target, evaluator_.evaluate(statement.node, frame), frame);
  return Flow::normal;
}

void Renderer::assign(NodeId target, Value value, Frame* frame) {
  const expr::Node& node = program_.ast[target];
  switch (node.op) {
    case Op::name:
      frame->set(node.a, std::move(value));
      return;
    case Op::tuple: {
      if (!value.is_list_or_tuple()) {
        fail(node.span(), fmt::format("The value is {}, not a list that can be unpacked", name_value(value)));
      }
      if (value.items().size() != node.b) {
        fail(node.span(), fmt::format("The value ({}) has {} parts and set has {} names", describe(value),
                                      value.items().size(), node.b));
      }
      for (std::uint32_t i = 0; i < node.b; ++i) {
        const expr::Node& name = program_.ast[program_.ast.children[node.a + i]];
        if (name.op != Op::name) fail(name.span(), "What is set is not a name");
        frame->set(name.a, value.items()[i]);
      }
      return;
    }
    case Op::member:
    case Op::index:
    case Op::slice: {
      const Value object = evaluator_.evaluate(node.a, frame);
      if (object.kind() != expr::Kind::namespace_) {
        fail(node.span(), fmt::format("A member of {} is set, which is not a namespace", name_value(object)));
      }
      // As in the reference, ns[name] stands for ns.name here.
      const bool named_index = node.op == Op::index && program_.ast[node.b].op == Op::name;
      if (node.op != Op::member && !named_index) fail(node.span(), "The member that is set is not a name");
      const std::uint32_t name = named_index ? program_.ast[node.b].a : node.b;
      meter_.list(object.name_space().entries.size() + 1);
      object.name_space().entries.set(program_.ast.names[name].text, std::move(value));
      return;
    }
    default:
      fail(node.span(), "What is set is neither a name nor a member of a namespace");
  }
}

void Renderer::macro(const Statement& statement, Frame* frame) {
  std::string name(program_.ast.names[statement.name].text);
  frame->set(statement.name,
             Value::function(std::make_shared<const Body>(*this, statement, std::move(name), nullptr)));
}

Flow Renderer::filter(const Statement& statement, Frame* frame, std::string& out) {
  std::string text;
  const Flow flow = block(statement.body, frame, text);
  if (flow != Flow::normal) return flow;
  expr::join_halves(text);
  const expr::Node& node = program_.ast[statement.node];
  if (node.op != Op::filter) fail(node.span(), "The name of a filter is expected");
  evaluator_.print(evaluator_.apply_filter(node, Value::string(std::move(text)), frame), out);
  return Flow::normal;
}

void Renderer::call(const Statement& statement, Frame* frame, std::string& out) {
  for (Frame* each = frame; each != nullptr && !each->captured; each = each->parent) each->captured = true;
  const Value caller = Value::function(std::make_shared<const Body>(*this, statement, "caller", frame));
  const expr::Evaluator::Arguments given =
      evaluator_.arguments(statement.arguments.first, statement.arguments.count, frame);
  const Value callee = evaluator_.evaluate(statement.node, frame);
  const Scoped scope(*this, frame);
  scope->set(program_.caller, caller);
  evaluator_.print(evaluator_.call(callee, given, scope.get(), program_.ast[statement.node].span()), out);
}

std::string Renderer::call_body(const Statement& statement, std::string_view name, const expr::Call& call,
                                Frame* parent) {
  const expr::Evaluator::Nesting nesting(evaluator_);
  const Scoped frame(*this, parent);
  bind_arguments(statement, name, call, frame.get());
  std::string text;
  const Flow flow = block(statement.body, frame.get(), text);
  if (flow != Flow::normal) throw LoopControl{flow, statement.span};
  expr::join_halves(text);
  return text;
}

void Renderer::bind_arguments(const Statement& statement, std::string_view name, const expr::Call& call,
                              Frame* frame) {
  const std::size_t count = statement.parameters.count;
  const std::size_t given = call.arguments.size();
  std::unordered_set<std::string_view> taken;
  // All names are bound before any default is evaluated: a missing one must not be found further out.
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t parameter = program_.ast.arguments[statement.parameters.first + i].name;
    const expr::NameView parameter_name = program_.ast.names[parameter];
    const Value* value = nullptr;
    if (i < given) {
      value = &call.arguments[i];
    } else if (call.keywords != nullptr) {
      value = call.keywords->find(parameter_name);
      if (value != nullptr) taken.insert(parameter_name.text);
    }
    frame->set(parameter, value != nullptr ? *value : Value());
  }
  expr::Dict rest;
  if (call.keywords != nullptr) {
    for (const expr::Dict::Entry& entry : call.keywords->entries()) {
      if (taken.count(entry.key.string()) == 0) rest.set(entry.key, entry.value);
    }
  }
  if (!statement.uses_kwargs && !rest.empty()) {
    expr::fail(fmt::format("The macro {} has no parameter {}", name, rest.entries().front().key.string()));
  }
  if (statement.uses_kwargs) frame->set(program_.kwargs, Value::dict(std::move(rest)));
  if (statement.uses_varargs) {
    const auto first = call.arguments.begin() + static_cast<std::ptrdiff_t>(std::min(given, count));
    frame->set(program_.varargs, Value::list(std::vector<Value>(first, call.arguments.end())));
  } else if (given > count) {
    expr::fail(fmt::format("The macro {} is given {} arguments and has {} parameters", name, given, count));
  }
  for (std::size_t i = given; i < count; ++i) {
    const expr::Argument& parameter = program_.ast.arguments[statement.parameters.first + i];
    if (parameter.kind != expr::ArgumentKind::keyword) continue;
    if (call.keywords != nullptr && call.keywords->find(program_.ast.names[parameter.name]) != nullptr)
      continue;
    frame->set(parameter.name, evaluator_.evaluate(parameter.value, frame));
  }
}

}  // namespace kernelpack::jinja
