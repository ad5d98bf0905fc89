#include "package/families.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "package/suggest.hpp"

namespace kernelpack::package {
namespace {

using Values = std::map<std::string, const json::Value*, std::less<>>;

/// A set of placeholder values with the words that name it in a message.
struct Case {
  std::string label;
  Values values;
  std::vector<json::Value> owned;  ///< keys of axes, which are values made here
};

// A placeholder `{name}` in a text: its extent and its name.
struct Placeholder {
  std::size_t begin;
  std::size_t end;
  std::string_view name;
};

std::optional<Placeholder> next_placeholder(std::string_view text, std::size_t from) {
  for (std::size_t begin = text.find('{', from); begin != std::string_view::npos;
       begin = text.find('{', begin + 1)) {
    const std::size_t close = text.find_first_of("{}", begin + 1);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view name = text.substr(begin + 1, close - begin - 1);
    if (text[close] == '}' && is_name(name)) return Placeholder{begin, close + 1, name};
  }
  return std::nullopt;
}

std::optional<Placeholder> whole_placeholder(std::string_view text) {
  const auto found = next_placeholder(text, 0);
  if (found && found->begin == 0 && found->end == text.size()) return found;
  return std::nullopt;
}

// Expansion multiplies text, so what it makes is charged against the budget of a manifest.
void spend(const Node& family, std::size_t& bytes_left, std::size_t bytes) {
  if (bytes > bytes_left)
    throw error_at(ErrorKind::limit,
                   fmt::format("The expanded families exceed the budget for a manifest ({} bytes)",
                               family.source().budgets.json_bytes),
                   family.origin(), family.source().document.text, family.value().span);
  bytes_left -= bytes;
}

// Writes one template out for one case. Spans of the template are kept, so faults point into the manifest.
class Expander {
 public:
  Expander(const Node& family, const Case& values, std::size_t& bytes_left)
      : family_(family), case_(values), bytes_left_(bytes_left) {}

  std::optional<json::Value> expand(const Node& node, bool is_variant) {
    spend(16);
    switch (node.value().kind()) {
      case json::Kind::string:
        return string(node);
      case json::Kind::array:
        return array(node);
      case json::Kind::object:
        return object(node, is_variant);
      default:
        return node.value();
    }
  }

 private:
  void spend(std::size_t bytes) { package::spend(family_, bytes_left_, bytes); }

  const json::Value* find(std::string_view name) const {
    const auto found = case_.values.find(name);
    return found == case_.values.end() ? nullptr : found->second;
  }

  void unresolved(const Node& node, SourceSpan span, std::string_view name) const {
    std::vector<std::string> known;
    for (const auto& entry : case_.values) known.push_back(entry.first);
    node.fault_at(span, fmt::format("The placeholder ({}) has no value{}", name, suggestion(name, known)));
  }

  std::string text(const Node& node, SourceSpan span, std::string_view pattern) {
    std::string result;
    std::size_t done = 0;
    while (const auto placeholder = next_placeholder(pattern, done)) {
      result += pattern.substr(done, placeholder->begin - done);
      done = placeholder->end;
      const json::Value* value = find(placeholder->name);
      if (value == nullptr) {
        unresolved(node, span, placeholder->name);
      } else if (value->is_string()) {
        report_leftover(node, *value);
        result += value->string();
      } else if (value->is_number()) {
        result += javascript_number_text(value->number());
      } else if (value->is_boolean()) {
        result += value->boolean() ? "true" : "false";
      } else {
        node.fault_at(span, fmt::format("The placeholder ({}) stands inside a text, but its value is {}",
                                        placeholder->name, describe(*value)));
      }
    }
    result += pattern.substr(done);
    spend(result.size());
    return result;
  }

  // A copy of a case's value that stands in for a whole string; it is charged and must hold no placeholder.
  json::Value copy(const Node& node, const json::Value& value) {
    charge(value);
    report_leftover(node, value);
    json::Value result = value;
    result.span = node.value().span;
    return result;
  }

  void report_leftover(const Node& node, const json::Value& value) const {
    if (const auto left = leftover(value))
      node.fault(fmt::format("The placeholder ({}) is left over after replacement", *left));
  }

  void charge(const json::Value& value) {
    spend(16);
    if (value.is_string()) spend(value.string().size());
    if (value.is_array())
      for (const json::Value& item : value.items()) charge(item);
    if (value.is_object())
      for (const json::Member& member : value.members()) charge(member.value);
  }

  std::optional<std::string> leftover(const json::Value& value) const {
    if (value.is_string()) {
      if (const auto found = next_placeholder(value.string(), 0)) return std::string(found->name);
    } else if (value.is_array()) {
      for (const json::Value& item : value.items())
        if (auto found = leftover(item)) return found;
    } else if (value.is_object()) {
      for (const json::Member& member : value.members())
        if (auto found = leftover(member.value)) return found;
    }
    return std::nullopt;
  }

  json::Value string(const Node& node) {
    const std::string& pattern = node.value().string();
    if (const auto whole = whole_placeholder(pattern)) {
      if (const json::Value* value = find(whole->name)) return copy(node, *value);
      unresolved(node, node.value().span, whole->name);
    }
    json::Value result = json::Value::make(text(node, node.value().span, pattern));
    result.span = node.value().span;
    return result;
  }

  json::Value array(const Node& node) {
    std::vector<json::Value> items;
    for (const Node& item : items_of(node)) {
      if (const json::Value* value = substitute(item); value != nullptr && value->is_array()) {
        for (const json::Value& spliced : value->items()) items.push_back(copy(item, spliced));
      } else if (value != nullptr && value->is_null()) {
        item.fault("A list item cannot be deleted: its placeholder stands for null");
      } else if (auto expanded = expand(item, false)) {
        items.push_back(std::move(*expanded));
      }
    }
    json::Value result = json::Value::make(std::move(items));
    result.span = node.value().span;
    return result;
  }

  json::Value object(const Node& node, bool is_variant) {
    std::vector<json::Member> members;
    for (const NamedNode& member : members_of(node)) {
      if (member.name == "use" || member.name == "$use") {
        member.node.fault_at(member.name_span,
                             fmt::format("The member ({}) is not allowed in a family", member.name));
        continue;
      }
      const json::Value* value = substitute(member.node);
      if (value != nullptr && value->is_null()) {
        if (member.name == "id" || (is_variant && member.name == "passes"))
          member.node.fault(
              fmt::format("The key ({}) cannot be deleted: its placeholder stands for null", member.name));
        continue;
      }
      std::string key = text(member.node, member.name_span, member.name);
      const bool taken = std::any_of(members.begin(), members.end(),
                                     [&](const json::Member& earlier) { return earlier.key == key; });
      if (taken) {
        member.node.fault_at(member.name_span,
                             fmt::format("The key ({}) occurs twice after replacement", key));
        continue;
      }
      if (auto expanded = expand(member.node, false))
        members.push_back({std::move(key), std::move(*expanded), member.name_span});
    }
    json::Value result = json::Value::make(std::move(members));
    result.span = node.value().span;
    return result;
  }

  // The value that a string consisting of one placeholder stands for, or null.
  const json::Value* substitute(const Node& node) const {
    if (!node.value().is_string()) return nullptr;
    const auto whole = whole_placeholder(node.value().string());
    return whole ? find(whole->name) : nullptr;
  }

  const Node& family_;
  const Case& case_;
  std::size_t& bytes_left_;
};

// The members of a record as placeholder values; `$`-keys are skipped.
Values record(const Node& node) {
  Values values;
  for (const NamedNode& member : members_of(node)) {
    if (member.name.starts_with('$')) continue;
    if (check_name(member, "a placeholder")) values.emplace(member.name, &member.node.value());
  }
  return values;
}

std::vector<Case> plain_cases(const Node& list) {
  std::vector<Case> cases;
  const auto records = items_of(list);
  if (is_empty_list(list)) list.fault("The list cases is empty");
  for (const Node& node : records) {
    for (const NamedNode& member : members_of(node))
      if (member.name.starts_with('$'))
        member.node.fault_at(member.name_span,
                             fmt::format("The name of a placeholder ({}) starts with $", member.name));
    cases.push_back({fmt::format("case {}", cases.size()), record(node), {}});
  }
  return cases;
}

struct AxisEntry {
  std::string key;
  Values values;
};

struct Axis {
  std::string name;
  std::vector<AxisEntry> entries;

  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    for (const AxisEntry& entry : entries) names.push_back(entry.key);
    return names;
  }
};

Axis read_axis(const NamedNode& member) {
  Axis axis;
  check_name(member, "an axis");
  axis.name = std::string(member.name);
  const auto records = items_of(member.node);
  if (is_empty_list(member.node)) member.node.fault(fmt::format("The axis ({}) is empty", member.name));
  for (const Node& node : records) {
    if (!node.value().is_object()) {
      node.fault(fmt::format("An entry of axis ({}) is {}, but an object is expected", member.name,
                             describe(node.value())));
      continue;
    }
    const json::Value* key = node.value().find("$key");
    if (key == nullptr) {
      node.fault(fmt::format("The required key ($key) is missing in an entry of axis ({})", member.name));
      continue;
    }
    const auto name = read_name(node.child("$key", *key));
    if (!name) continue;
    for (const AxisEntry& earlier : axis.entries)
      if (earlier.key == *name)
        node.child("$key", *key)
            .fault(fmt::format("The key ({}) occurs twice in axis ({})", *name, member.name));
    for (const NamedNode& value : members_of(node))
      if (value.name.starts_with('$') && value.name != "$key")
        value.node.fault_at(value.name_span,
                            fmt::format("The name of a placeholder ({}) starts with $", value.name));
    axis.entries.push_back({*name, record(node)});
  }
  return axis;
}

void check_disjoint(const Node& axes, const Axis& axis, const Axis& other) {
  for (const AxisEntry& entry : axis.entries) {
    for (const auto& [name, value] : entry.values) {
      if (name == axis.name || name == other.name)
        axes.fault_at(value->span, fmt::format("The value name ({}) of axis ({}) is the name of an axis",
                                               name, axis.name));
      for (const AxisEntry& opposite : other.entries)
        if (opposite.values.contains(name) && axis.name < other.name) {
          axes.fault_at(value->span, fmt::format("The value name ({}) belongs to both axes ({} and {})", name,
                                                 axis.name, other.name));
          return;
        }
    }
  }
}

// The place of a cell that `{axis: key, axis: key}` selects, or nothing after a fault.
std::optional<std::pair<std::string, std::string>> selected(const Node& node, const Axis& first,
                                                            const Axis& second) {
  std::pair<std::string, std::string> cell;
  for (const Axis* axis : {&first, &second}) {
    const json::Value* value = node.value().find(axis->name);
    if (value == nullptr) {
      node.fault(fmt::format("The selector of axis ({}) is missing", axis->name));
      return std::nullopt;
    }
    const Node child = node.child(axis->name, *value);
    const auto key = read_string(child);
    if (!key) return std::nullopt;
    const auto keys = axis->keys();
    if (std::find(keys.begin(), keys.end(), *key) == keys.end()) {
      child.fault(fmt::format("The axis ({}) has no key ({}){}", axis->name, *key, suggestion(*key, keys)));
      return std::nullopt;
    }
    (axis == &first ? cell.first : cell.second) = *key;
  }
  return cell;
}

std::vector<Case> axis_cases(const Node& axes, const std::optional<Node>& exclude,
                             const std::optional<Node>& overrides, std::size_t& bytes_left) {
  std::vector<Case> cases;
  const auto members = members_of(axes);
  if (members.size() != 2) {
    if (axes.value().is_object())
      axes.fault(fmt::format("The number of axes ({}) is not two", members.size()));
    return cases;
  }
  const Axis first = read_axis(members[0]), second = read_axis(members[1]);
  check_disjoint(axes, first, second);
  check_disjoint(axes, second, first);

  std::vector<std::pair<std::string, std::string>> excluded;
  if (exclude) {
    for (const Node& node : items_of(*exclude)) {
      ObjectReader reader(node, "a cell of exclude");
      if (!reader.is_object()) continue;
      reader.ignore(first.name);
      reader.ignore(second.name);
      reader.finish();
      if (const auto cell = selected(node, first, second)) excluded.push_back(*cell);
    }
  }
  std::map<std::pair<std::string, std::string>, Values> replaced;
  if (overrides) {
    for (const Node& node : items_of(*overrides)) {
      if (!node.value().is_object()) {
        node.fault(fmt::format("A case is {}, but an object is expected", describe(node.value())));
        continue;
      }
      const auto cell = selected(node, first, second);
      if (!cell) continue;
      Values values = record(node);
      values.erase(first.name);
      values.erase(second.name);
      if (!replaced.emplace(*cell, std::move(values)).second)
        node.fault(fmt::format("The cell ({}={}, {}={}) is overridden twice", first.name, cell->first,
                               second.name, cell->second));
    }
  }
  for (const AxisEntry& outer : first.entries) {
    for (const AxisEntry& inner : second.entries) {
      const std::pair<std::string, std::string> cell{outer.key, inner.key};
      if (std::find(excluded.begin(), excluded.end(), cell) != excluded.end()) continue;
      Case entry;
      entry.label = fmt::format("{}={}, {}={}", first.name, outer.key, second.name, inner.key);
      entry.values = outer.values;
      entry.values.insert(inner.values.begin(), inner.values.end());
      if (const auto found = replaced.find(cell); found != replaced.end())
        for (const auto& [name, value] : found->second) entry.values[name] = value;
      entry.owned.reserve(2);
      entry.owned.push_back(json::Value::make(outer.key));
      entry.owned.push_back(json::Value::make(inner.key));
      entry.values.emplace(first.name, &entry.owned[0]);
      entry.values.emplace(second.name, &entry.owned[1]);
      spend(axes, bytes_left, 64 * (entry.values.size() + 1));
      cases.push_back(std::move(entry));
    }
  }
  if (cases.empty() && !first.entries.empty() && !second.entries.empty())
    axes.fault("No cell of the axes remains after exclude");
  return cases;
}

void expand_family(const Node& family, std::vector<VariantText>& result, std::size_t& bytes_left) {
  ObjectReader reader(family, "a family of variants");
  reader.string("description");
  const auto templates = reader.need("variants");
  const auto cases_node = reader.get("cases");
  const auto axes = reader.get("axes");
  const auto exclude = axes ? reader.get("exclude") : std::nullopt;
  reader.finish();
  if (!templates) return;
  const auto members = items_of(*templates);
  if (is_empty_list(*templates)) templates->fault("The list variants of a family is empty");

  const std::vector<Case> cases =
      axes ? axis_cases(*axes, exclude, cases_node, bytes_left) : plain_cases(*cases_node);
  Source& source = family.source();
  for (const Case& entry : cases) {
    for (const Node& member : members) {
      if (source.faults.full()) return;
      source.note = fmt::format("While expanding {} of {}", entry.label, family.pointer());
      Expander expander(family, entry, bytes_left);
      const std::size_t faults = source.faults.size();
      auto value = expander.expand(member, true);
      // Half a variant would only be reported a second time.
      if (value && source.faults.size() == faults)
        result.push_back({nullptr, std::move(*value), member.pointer(), source.note});
    }
  }
  source.note.clear();
}

}  // namespace

std::vector<VariantText> expand_variants(const Node& variants) {
  std::vector<VariantText> result;
  std::size_t bytes_left = variants.source().budgets.json_bytes;
  for (const Node& node : items_of(variants)) {
    const bool family = node.value().find("cases") != nullptr || node.value().find("axes") != nullptr;
    if (family) {
      expand_family(node, result, bytes_left);
    } else {
      result.push_back({&node.value(), {}, node.pointer(), {}});
    }
  }
  return result;
}

}  // namespace kernelpack::package
