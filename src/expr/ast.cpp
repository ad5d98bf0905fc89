#include "expr/ast.hpp"

#include <algorithm>
#include <array>

#include "expr/builtins.hpp"

namespace kernelpack::expr {

std::uint32_t NameTable::add(std::string_view name) {
  const auto name_at = [this](std::size_t i) { return NameView(names_[i].text, names_[i].hash); };
  const NameView wanted(name);
  if (const std::size_t known = index_.find(wanted, name_at); known != NameIndex::kAbsent) {
    return static_cast<std::uint32_t>(known);
  }
  names_.push_back({std::string(name), wanted.hash});
  index_.add_last(names_.size(), name_at);
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
