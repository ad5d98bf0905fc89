#pragma once

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "expr/scope.hpp"

namespace kernelpack::expr {

/// Budgets that nothing reaches: the oracle has none.
inline Budgets no_budgets() {
  Budgets budgets;
  budgets.evaluation_steps = std::numeric_limits<std::uint64_t>::max();
  budgets.rendered_bytes = std::numeric_limits<std::size_t>::max() / 2;
  budgets.list_length = std::numeric_limits<std::size_t>::max() / 2;
  budgets.json_depth = 1000;
  return budgets;
}

/// The function that scopes of the corpora hold: whether a list has the argument.
inline Value membership(const json::Value& list) {
  std::set<std::string> names;
  for (const json::Value& item : list.items()) names.insert(item.string());
  return Value::function("has", [names](Call& call) {
    return Value::boolean(call[0].is_string() && names.count(call[0].string()) != 0);
  });
}

/// A scope value in the notation of tests/oracle/oracle.mjs.
inline Value scope_value(const json::Value& json) {
  if (json.kind() == json::Kind::array) {
    std::vector<Value> items;
    for (const json::Value& item : json.items()) items.push_back(scope_value(item));
    return Value::list(std::move(items));
  }
  if (json.kind() != json::Kind::object) return Value::of(json);
  if (const json::Value* special = json.find("$")) {
    if (special->string() == "undefined") return Value::undefined();
    if (special->string() == "nan") return Value::number(std::nan(""));
    if (special->string() == "infinity") return Value::number(std::numeric_limits<double>::infinity());
    return membership(*json.find("of"));
  }
  Dict entries;
  for (const json::Member& member : json.members()) entries.set(member.key, scope_value(member.value));
  return Value::dict(std::move(entries));
}

/// Calls `visit` for each line of a corpus with its scope, and returns the number of lines.
inline std::size_t for_each_case(
    const std::string& path, const std::function<void(const json::Value& line, const Scope& scope)>& visit) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) throw std::runtime_error("The corpus " + path + " is missing");
  const json::Document head = json::parse(text, path, no_budgets());
  std::map<std::string, Scope> scopes;
  for (const json::Member& scope : head.root.find("scopes")->members()) {
    Scope& made = scopes[scope.key];
    for (const json::Member& name : scope.value.members()) made.set(name.key, scope_value(name.value));
  }
  std::size_t count = 0;
  for (; std::getline(file, text); ++count) {
    const json::Document line = json::parse(text, path, no_budgets());
    visit(line.root, scopes.at(line.root.find("s")->string()));
  }
  return count;
}

}  // namespace kernelpack::expr
