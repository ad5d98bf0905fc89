#include "contract/inference.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "base/shape.hpp"
#include "contract/scope.hpp"

namespace kernelpack::contract {
namespace {

// The derives that can be reached from those names; a derive map can be long and an output needs few of them.
std::set<std::string> reachable(const package::Model& model, std::vector<std::string> names) {
  std::map<std::string_view, const package::NamedFormula*> derives;
  for (const package::NamedFormula& derive : model.derive) derives.emplace(derive.name, &derive);
  std::set<std::string> found;
  while (!names.empty()) {
    const auto derive = derives.find(names.back());
    names.pop_back();
    if (derive == derives.end() || !found.insert(derive->second->name).second) continue;
    for (std::string& next : package::names_of(derive->second->value)) names.push_back(std::move(next));
  }
  return found;
}

[[noreturn]] void refuse(const package::Port& port, const std::string& text) {
  throw Error(ErrorKind::contract, fmt::format("The shape of output {} is inferred as {}", port.name, text),
              fmt::format("output {}", port.name));
}

}  // namespace

struct ShapeInference::State {
  expr::Scope namespaces;
  expr::Scope derives;
  std::map<std::string, Error> failed;

  State(const package::Model& model, const Call& call, const Budgets& budgets)
      : namespaces(base_scope(model, call, device_value(DeviceFacts{}), false)), derives(&namespaces) {
    std::vector<std::string> names;
    for (const package::Port& port : model.outputs)
      if (port.shape)
        for (std::string& name : package::names_of(*port.shape)) names.push_back(std::move(name));
    // Code that reads `derive.x` names no derive: it may need any of them.
    const bool indirect = std::find(names.begin(), names.end(), "derive") != names.end();
    const std::set<std::string> wanted = reachable(model, std::move(names));
    expr::Dict all;
    for (const package::NamedFormula& derive : model.derive) {
      if (!indirect && !wanted.contains(derive.name)) continue;
      try {
        expr::Value value = package::evaluate(derive.value, derives, budgets);
        if (indirect) {
          all.set(derive.name, value);
          namespaces.set("derive", expr::Value::dict(all));
        }
        derives.set(derive.name, std::move(value));
      } catch (const Error& error) {
        failed.emplace(derive.name, error);
      }
    }
  }

  // The failure of a derive that the shape needs, if there is one: it explains more than a name that is not
  // there.
  const Error* cause(const package::Model& model, const package::Formula& shape) const {
    const std::set<std::string> needed = reachable(model, package::names_of(shape));
    for (const package::NamedFormula& derive : model.derive)
      if (const auto found = failed.find(derive.name); found != failed.end() && needed.contains(derive.name))
        return &found->second;
    return nullptr;
  }
};

ShapeInference::State& ShapeInference::state() {
  if (!state_) state_ = std::make_shared<State>(model_, call_, budgets_);
  return *state_;
}

Shape ShapeInference::infer(const package::Port& port) {
  State& current = state();
  expr::Value value;
  try {
    value = package::evaluate(*port.shape, current.derives, budgets_);
  } catch (Error& error) {
    const Error* cause = current.cause(model_, *port.shape);
    Error thrown = cause != nullptr ? *cause : error;
    thrown.add_context(fmt::format("While inferring the shape of output {} of {}", port.name, model_.op_id));
    throw thrown;
  }
  if (!value.is_list_or_tuple()) refuse(port, fmt::format("{}, which is no list", expr::describe(value)));
  Shape shape;
  shape.reserve(value.items().size());
  for (const expr::Value& item : value.items()) {
    if (!item.is_number() || !(item.number() >= 0) || item.number() != std::floor(item.number()) ||
        item.number() > static_cast<double>(kMaxExactInteger))
      refuse(port, fmt::format("{}, but dimension {} ({}) is not a non-negative integer",
                               expr::describe(value), shape.size(), expr::describe(item)));
    shape.push_back(static_cast<std::int64_t>(item.number()));
  }
  return shape;
}

}  // namespace kernelpack::contract
