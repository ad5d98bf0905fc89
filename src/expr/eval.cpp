#include "expr/eval.hpp"

#include <fmt/format.h>

#include "expr/builtins.hpp"
#include "expr/operators.hpp"
#include "expr/print.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

const Value kUndefined;

/// Keeps a part of `storage`'s own content: the part is copied out before the whole is given up.
const Value& keep(Value part, Value& storage) {
  storage = std::move(part);
  return storage;
}

}  // namespace

std::size_t Frame::position(std::uint32_t name) const noexcept {
  if (!index_.empty()) {
    const auto found = index_.find(name);
    return found == index_.end() ? variables_.size() : found->second;
  }
  std::size_t i = 0;
  while (i < variables_.size() && variables_[i].first != name) ++i;
  return i;
}

const Value* Frame::find(std::uint32_t name) const noexcept {
  const std::size_t found = position(name);
  return found == variables_.size() ? nullptr : &variables_[found].second;
}

void Frame::set(std::uint32_t name, Value value) {
  constexpr std::size_t kScanned = 32;
  const std::size_t found = position(name);
  if (found < variables_.size()) {
    variables_[found].second = std::move(value);
    return;
  }
  variables_.emplace_back(name, std::move(value));
  if (variables_.size() <= kScanned) return;
  if (index_.empty()) {
    for (std::size_t i = 0; i < variables_.size(); ++i) index_.emplace(variables_[i].first, i);
  } else {
    index_.emplace(name, found);
  }
}

void Frame::clear() noexcept {
  variables_.clear();
  index_.clear();
}

Evaluator::~Evaluator() {
  // While all of them are held here, giving up the content of one cannot end another: no recursion, no cycle
  // left.
  for (const Value& value : namespaces_) {
    const Dict content = std::move(value.name_space().entries);
    value.name_space().entries.clear();
  }
}

void Evaluator::Nesting::exceed(std::size_t& depth) {
  --depth;
  throw Error(ErrorKind::limit,
              fmt::format("The evaluation nests deeper than allowed ({} levels)", kEvaluationDepth));
}

const Value& Evaluator::lookup(std::uint32_t name, const Frame* frame) const noexcept {
  if (name == local_name_) {
    const Value* found = frame != nullptr ? frame->find(name) : nullptr;
    return found != nullptr ? *found : values_[name] != nullptr ? *values_[name] : kUndefined;
  }
  for (; frame != nullptr; frame = frame->parent) {
    if (const Value* found = frame->find(name)) return *found;
  }
  const Value* value = values_[name];
  return value != nullptr ? *value : kUndefined;
}

Value Evaluator::evaluate(NodeId root, Frame* frame) {
  Value storage;
  const Value& result = walk(root, frame, storage);
  if (&result == &storage) return storage;
  return result;
}

void Evaluator::print(NodeId root, Frame* frame, std::string& out) {
  Value storage;
  const Value& value = walk(root, frame, storage);
  try {
    print(value, out);
  } catch (const Error& error) {
    if (!error.where().empty()) throw;
    faults_.rethrow(error, ast_[root].span());
  }
}

void Evaluator::print(const Value& value, std::string& out) {
  if (!value.is_string()) {
    append_printed(out, value, meter_);
    return;
  }
  meter_.text(value.string().size());
  meter_.reach(out.size() + value.string().size());
  out += value.string();
}

const Value& Evaluator::walk(NodeId root, Frame* frame, Value& storage) {
  NodeId id = ast_[root].first;
  try {
    const Nesting nesting(*this);
    meter_.step();
    const Value* value = &leaf(ast_[id], frame, storage);
    while (id != root) {
      id = ast_[id].next;
      meter_.step();
      value = &step(ast_[id], *value, frame, storage);
      if (sink_ != nullptr) sink_->evaluated(ast_[id].span(), *value);
    }
    return *value;
  } catch (const Error& error) {
    if (!error.where().empty()) throw;
    faults_.rethrow(error, ast_[id].span());
  }
}

const Value& Evaluator::leaf(const Node& node, Frame* frame, Value& storage) {
  switch (node.op) {
    case Op::number:
    case Op::string:
      return ast_.constants[node.a];
    case Op::name: {
      const Value& value = lookup(node.a, frame);
      if (sink_ != nullptr) sink_->evaluated(node.span(), value);
      return value;
    }
    case Op::list:
      return keep(list_of(node, frame), storage);
    case Op::tuple: {
      std::vector<Value> items;
      items.reserve(node.b);
      for (std::uint32_t i = 0; i < node.b; ++i) items.push_back(evaluate(ast_.children[node.a + i], frame));
      return keep(Value::tuple(std::move(items)), storage);
    }
    case Op::dict:
      return keep(dict_of(node, frame), storage);
    case Op::plus:
    case Op::minus: {
      Value inner;
      return keep(apply_sign(node.op, walk(node.a, frame, inner)), storage);
    }
    case Op::not_: {
      Value inner;
      return keep(Value::boolean(!walk(node.a, frame, inner).truthy()), storage);
    }
    case Op::ternary: {
      bool condition = false;
      {
        Value inner;
        condition = walk(node.a, frame, inner).truthy();
      }
      if (condition) return walk(node.b, frame, storage);
      return node.c == kNoNode ? kUndefined : walk(node.c, frame, storage);
    }
    default:
      throw Error(ErrorKind::internal, "A node of the expression has no evaluation");
  }
}

const Value& Evaluator::step(const Node& node, const Value& left, Frame* frame, Value& storage) {
  switch (node.op) {
    case Op::or_:
      if (left.truthy()) return left;
      return walk(node.b, frame, storage);
    case Op::and_:
      if (!left.truthy()) return left;
      return walk(node.b, frame, storage);
    case Op::test:
      return keep(test(node, left), storage);
    case Op::filter:
      return keep(apply_filter(node, left, frame), storage);
    case Op::member:
      return member(ast_.names[node.b], left, storage);
    case Op::index:
      return index(node, left, frame, storage);
    case Op::slice:
      return keep(slice(node, left, frame), storage);
    case Op::call: {
      // The reference evaluates the arguments before the callee; a callee has no effects, so the order is
      // free.
      const Arguments given = arguments(node.b, node.c, frame);
      return keep(call(left, given, frame, node.span()), storage);
    }
    default: {
      Value inner;
      const Value& right = walk(node.b, frame, inner);
      return keep(apply_binary(node.op, left, right, meter_), storage);
    }
  }
}

Value Evaluator::list_of(const Node& node, Frame* frame) {
  meter_.list(node.b);
  std::vector<Value> items;
  items.reserve(node.b);
  for (std::uint32_t i = 0; i < node.b; ++i) items.push_back(evaluate(ast_.children[node.a + i], frame));
  return Value::list(std::move(items));
}

Value Evaluator::dict_of(const Node& node, Frame* frame) {
  meter_.list(node.b);
  Dict entries;
  entries.reserve(node.b);
  for (std::uint32_t i = 0; i < node.b; ++i) {
    const NodeId key_node = ast_.children[node.a + 2 * i];
    Value key = evaluate(key_node, frame);
    if (!key.is_string()) {
      faults_.fail(ast_[key_node].span(),
                   fmt::format("The key of a dict is {}, not a string", name_value(key)));
    }
    entries.set(std::move(key), evaluate(ast_.children[node.a + 2 * i + 1], frame));
  }
  return Value::dict(std::move(entries));
}

const Value& Evaluator::member(NameView name, const Value& object, Value& storage) {
  switch (object.kind()) {
    case Kind::dict:
      if (const Value* found = object.dict().find(name)) {
        return &object == &storage ? keep(*found, storage) : *found;
      }
      return keep(builtin_member(object, name, meter_), storage);
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
      return keep(builtin_member(object, name, meter_), storage);
    case Kind::namespace_: {
      // Copied: what is evaluated next may assign to the namespace.
      const Value* found = object.name_space().entries.find(name);
      return keep(found != nullptr ? *found : Value(), storage);
    }
    case Kind::object:
      return keep(object.object().member(name).value_or(Value()), storage);
    default:
      return kUndefined;
  }
}

const Value& Evaluator::index(const Node& node, const Value& object, Frame* frame, Value& storage) {
  Value inner;
  const Value& key = walk(node.b, frame, inner);
  if (key.is_string()) return member(NameView(key.string()), object, storage);
  const bool sequence = object.is_string() || object.is_list_or_tuple();
  if (!sequence || !key.is_integer()) {
    fail(fmt::format("The index of {} is {}, not {}", name_value(object), name_value(key),
                     sequence ? "an int or a string" : "a string"));
  }
  if (object.is_string()) meter_.scan(object.string().size());
  return keep(element_at(object, key.number()), storage);
}

Value Evaluator::slice(const Node& node, const Value& object, Frame* frame) {
  if (!object.is_string() && !object.is_list_or_tuple()) {
    fail(fmt::format("What is sliced is {}, not a list or a string", name_value(object)));
  }
  const auto bound = [&](NodeId id) {
    if (id == kNoNode) return Value();
    Value value = evaluate(id, frame);
    if (!value.is_integer() && !value.is_undefined()) {
      faults_.fail(ast_[id].span(), fmt::format("The bound of a slice is {}, not an int", name_value(value)));
    }
    return value;
  };
  const Value start = bound(node.b);
  const Value stop = bound(node.c);
  const Value stride = bound(node.d);
  return slice_of(object, start, stop, stride, meter_);
}

Value Evaluator::test(const Node& node, const Value& operand) {
  if (node.builtin == kNoBuiltin) fail(fmt::format("There is no test named {}", ast_.names[node.b].text));
  return Value::boolean(tests()[node.builtin].holds(operand, nullptr) != node.flag);
}

Value Evaluator::apply_filter(const Node& node, const Value& operand, Frame* frame) {
  if (node.flag || node.builtin == kNoBuiltin) {
    fail(node.flag ? "What follows | is not a filter"
                   : fmt::format("There is no filter named {}", ast_.names[node.b].text));
  }
  const FilterEntry& entry = filters()[node.builtin];
  Arguments given;
  if (node.c != kNoNode) given = arguments(node.c, node.d, frame);
  Call call{.arguments = given.positional,
            .keywords = given.keywords.empty() ? nullptr : &given.keywords,
            .meter = &meter_,
            .evaluator = this,
            .frame = frame};
  std::optional<Value> result = entry.apply(operand, {.name = entry.name,
                                                      .parentheses = node.c != kNoNode,
                                                      .literals = given.literals,
                                                      .call = call,
                                                      .meter = meter_});
  if (!result) {
    fail(fmt::format("The filter {}{} does not apply to {}", entry.name,
                     node.c != kNoNode ? " with parentheses" : "", name_value(operand)));
  }
  return std::move(*result);
}

Evaluator::Arguments Evaluator::arguments(std::uint32_t first, std::uint32_t count, Frame* frame) {
  Arguments given;
  // As in the reference, the positional part comes before all keyword values.
  for (std::uint32_t i = first; i < first + count; ++i) {
    const Argument& argument = ast_.arguments[i];
    const bool positional = argument.kind == ArgumentKind::positional;
    given.literals = given.literals && positional && ast_[argument.value].op == Op::string;
    if (positional) given.positional.push_back(evaluate(argument.value, frame));
    if (argument.kind != ArgumentKind::spread) continue;
    const Value list = evaluate(argument.value, frame);
    if (!list.is_list_or_tuple()) {
      faults_.fail(ast_[argument.value].span(),
                   fmt::format("What * unpacks is {}, not a list", name_value(list)));
    }
    meter_.list(given.positional.size() + list.items().size());
    given.positional.insert(given.positional.end(), list.items().begin(), list.items().end());
  }
  for (std::uint32_t i = first; i < first + count; ++i) {
    const Argument& argument = ast_.arguments[i];
    const auto add = [&](std::string_view name, Value value) {
      if (given.keywords.find(name) != nullptr) {
        faults_.fail(ast_[argument.value].span(),
                     fmt::format("The keyword argument {} is given twice", name));
      }
      given.keywords.set(name, std::move(value));
    };
    if (argument.kind == ArgumentKind::keyword)
      add(ast_.names[argument.name].text, evaluate(argument.value, frame));
    if (argument.kind != ArgumentKind::keyword_spread) continue;
    const Value dict = evaluate(argument.value, frame);
    if (!dict.is_dict()) {
      faults_.fail(ast_[argument.value].span(),
                   fmt::format("What ** unpacks is {}, not a dict", name_value(dict)));
    }
    meter_.list(dict.dict().size());
    for (const Dict::Entry& entry : dict.dict().entries()) add(entry.key.string(), entry.value);
  }
  return given;
}

Value Evaluator::call(const Value& callee, const Arguments& given, Frame* frame, SourceSpan span) {
  try {
    if (callee.kind() != Kind::function) {
      fail(fmt::format("What is called is {}, not a function", name_value(callee)));
    }
    const Function& function = callee.function();
    if (!given.keywords.empty() && !function.takes_keywords()) {
      fail(fmt::format("The function {} is given the keyword argument {} and takes none", function.name(),
                       given.keywords.entries().front().key.string()));
    }
    Call made{.arguments = given.positional,
              .keywords = given.keywords.empty() ? nullptr : &given.keywords,
              .meter = &meter_,
              .evaluator = this,
              .frame = frame};
    Value result = function.call(made);
    if (!function.from_host()) return result;
    return result.is_undefined() ? Value::none() : result.as_scope_value();
  } catch (const Error& error) {
    if (!error.where().empty()) throw;
    faults_.rethrow(error, span);
  }
}

}  // namespace kernelpack::expr
