#include "expr/ast.hpp"

#include <algorithm>
#include <array>

#include "expr/builtins.hpp"

namespace kernelpack::expr {

std::uint32_t NameTable::add(std::string_view name) {
  const std::uint32_t hash = name_hash(name);
  if (slots_.size() < (names_.size() + 1) * 2) {
    slots_.assign(std::max<std::size_t>(16, slots_.size() * 4), 0);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      std::size_t slot = names_[i].hash & (slots_.size() - 1);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::uint32_t>(i + 1);
    }
  }
  std::size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
    const Name& known = names_[slots_[slot] - 1];
    if (known.hash == hash && known.text == name) return slots_[slot] - 1;
  }
  names_.push_back({std::string(name), hash});
  slots_[slot] = static_cast<std::uint32_t>(names_.size());
  return static_cast<std::uint32_t>(names_.size() - 1);
}

namespace {

using Visit = std::function<void(NodeId, bool)>;

void walk(const Ast& ast, NodeId root, const Visit& visit);

void walk_arguments(const Ast& ast, std::uint32_t first, std::uint32_t count, const Visit& visit) {
  for (std::uint32_t i = first; i < first + count; ++i) walk(ast, ast.arguments[i].value, visit);
}

void walk_leaf(const Ast& ast, const Node& node, const Visit& visit) {
  switch (node.op) {
    case Op::list:
    case Op::tuple:
      for (std::uint32_t i = 0; i < node.b; ++i) walk(ast, ast.children[node.a + i], visit);
      return;
    case Op::dict:
      for (std::uint32_t i = 0; i < 2 * node.b; ++i) walk(ast, ast.children[node.a + i], visit);
      return;
    case Op::plus:
    case Op::minus:
    case Op::not_:
      walk(ast, node.a, visit);
      return;
    case Op::ternary:
      walk(ast, node.b, visit);
      walk(ast, node.a, visit);
      walk(ast, node.c, visit);
      return;
    default:
      return;
  }
}

bool is_definedness(const Ast& ast, const Node& node) {
  if (node.op != Op::test) return false;
  const std::string_view name = ast.names[node.b].text;
  return name == "defined" || name == "undefined";
}

void walk(const Ast& ast, NodeId root, const Visit& visit) {
  if (root == kNoNode) return;
  NodeId id = ast[root].first;
  if (ast[id].op == Op::name) {
    visit(id, id != root && is_definedness(ast, ast[ast[id].next]));
  } else {
    walk_leaf(ast, ast[id], visit);
  }
  while (id != root) {
    id = ast[id].next;
    const Node& node = ast[id];
    switch (node.op) {
      case Op::test:
      case Op::member:
        break;
      case Op::filter:
        if (node.c != kNoNode) walk_arguments(ast, node.c, node.d, visit);
        break;
      case Op::call:
        walk_arguments(ast, node.b, node.c, visit);
        break;
      case Op::slice:
        walk(ast, node.b, visit);
        walk(ast, node.c, visit);
        walk(ast, node.d, visit);
        break;
      default:
        walk(ast, node.b, visit);
    }
  }
}

}  // namespace

void for_each_name(const Ast& ast, NodeId root, const Visit& visit) {
  walk(ast, root, visit);
}

const Value* language_constant(NameView name) noexcept {
  struct Constant {
    std::string_view name;
    Value value;
  };
  static const std::array<Constant, 6> constants = {{{"true", Value::boolean(true)},
                                                     {"false", Value::boolean(false)},
                                                     {"none", Value::none()},
                                                     {"True", Value::boolean(true)},
                                                     {"False", Value::boolean(false)},
                                                     {"None", Value::none()}}};
  for (const Constant& constant : constants) {
    if (constant.name == name.text) return &constant.value;
  }
  return nullptr;
}

NameUses free_names(const Ast& ast, NodeId root) {
  NameUses uses;
  std::vector<bool> required(ast.names.size(), false);
  std::vector<bool> tested(ast.names.size(), false);
  for_each_name(ast, root, [&](NodeId id, bool is_tested) {
    const std::uint32_t name = ast[id].a;
    if (language_constant(ast.names[name]) != nullptr) return;
    if (is_tested) {
      if (!tested[name]) uses.tested.push_back(name);
      tested[name] = true;
    } else {
      if (!required[name]) uses.required.push_back(name);
      required[name] = true;
    }
  });
  std::erase_if(uses.tested, [&](std::uint32_t name) { return required[name]; });
  return uses;
}

}  // namespace kernelpack::expr
