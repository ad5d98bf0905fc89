#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "expr/builtins.hpp"
#include "expr/operators.hpp"
#include "expr/print.hpp"
#include "expr/text.hpp"

namespace kernelpack::expr {
namespace {

[[noreturn]] void wrong_argument(std::string_view method, std::string_view expected, const Value& given) {
  fail(fmt::format("The argument of {} is {} where {} is expected", method, name_value(given), expected));
}

/// Methods of the reference get keyword arguments as one more positional argument, a dict.
Value argument_or_keywords(const Call& call, std::size_t index) {
  if (index == call.arguments.size() && call.keywords != nullptr) return Value::dict(*call.keywords);
  return call[index];
}

std::size_t argument_count(const Call& call) {
  return call.arguments.size() + (call.keywords != nullptr ? 1 : 0);
}

Value edge(const Value& owner, const Call& call, std::string_view method,
           bool (*matches)(std::string_view, std::string_view)) {
  if (argument_count(call) == 0) fail(fmt::format("The method {} needs an argument", method));
  const Value pattern = argument_or_keywords(call, 0);
  if (pattern.is_string()) return Value::boolean(matches(owner.string(), pattern.string()));
  if (!pattern.is_list_or_tuple()) wrong_argument(method, "a string or a list of strings", pattern);
  for (const Value& item : pattern.items()) {
    if (!item.is_string()) wrong_argument(method, "a string or a list of strings", item);
    if (matches(owner.string(), item.string())) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Value starts_with(const Value& owner, Call& call, Meter&) {
  return edge(owner, call, "startswith", [](std::string_view text, std::string_view part) {
    return text.substr(0, part.size()) == part;
  });
}

Value ends_with(const Value& owner, Call& call, Meter&) {
  return edge(owner, call, "endswith", [](std::string_view text, std::string_view part) {
    return text.size() >= part.size() && text.substr(text.size() - part.size()) == part;
  });
}

/// Runs of characters between white space; from `limit` words on, the rest of the text is the last one.
std::vector<std::string_view> split_words(std::string_view text, double limit, Meter& meter) {
  std::vector<std::string_view> words;
  text = trim_start(text);
  while (!text.empty()) {
    meter.step();
    if (limit != -1 && static_cast<double>(words.size()) >= limit) {
      words.push_back(text);
      break;
    }
    std::size_t end = 0;
    while (end < text.size()) {
      const Symbol symbol = symbol_at(text, end);
      if (is_space(symbol.value)) break;
      end += symbol.length;
    }
    words.push_back(text.substr(0, end));
    text = trim_start(text.substr(end));
  }
  return words;
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator, double limit,
                                       Meter& meter) {
  std::vector<std::string_view> parts;
  std::vector<std::size_t> starts;
  std::size_t begin = 0;
  while (true) {
    meter.step();
    const std::size_t end = find_text(text, separator, begin);
    starts.push_back(begin);
    parts.push_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) break;
    begin = end + separator.size();
  }
  const auto count = static_cast<double>(parts.size());
  if (limit == -1 || !(count > limit)) return parts;
  // As JavaScript's splice: a negative start counts from the end.
  const double from = std::isnan(limit) ? 0 : limit < 0 ? std::max(count + limit, 0.0) : limit;
  const auto kept = static_cast<std::size_t>(from);
  parts.resize(kept);
  parts.push_back(text.substr(starts[kept]));
  return parts;
}

Value split(const Value& owner, Call& call, Meter& meter) {
  const std::size_t count = argument_count(call);
  const Value separator = count > 0 ? argument_or_keywords(call, 0) : Value::none();
  if (!separator.is_string() && !separator.is_none()) wrong_argument("split", "a string or none", separator);
  const Value limit = count > 1 ? argument_or_keywords(call, 1) : Value::integer(-1);
  if (!limit.is_integer()) wrong_argument("split", "an int", limit);
  if (separator.is_string() && separator.string().empty()) fail("The separator of split is empty");
  meter.scan(owner.string().size() * 4);
  const std::vector<std::string_view> parts =
      separator.is_none() ? split_words(owner.string(), limit.number(), meter)
                          : split_at(owner.string(), separator.string(), limit.number(), meter);
  meter.list(parts.size());
  std::vector<Value> items;
  items.reserve(parts.size());
  for (const std::string_view part : parts) items.push_back(Value::string(std::string(part)));
  return Value::list(std::move(items));
}

Value transformed(const Value& owner, std::string (*change)(std::string_view), Meter& meter) {
  meter.text(owner.string().size());
  return Value::string(change(owner.string()));
}

std::string capitalized(std::string_view text) {
  std::string result(text);
  if (!result.empty()) result[0] = ascii_upper(result[0]);
  return result;
}

Value pair(const Dict::Entry& entry) {
  return Value::list(std::vector<Value>{entry.key, entry.value});
}

Value dict_get(const Value& owner, Call& call, Meter&) {
  const Value key = argument_or_keywords(call, 0);
  if (!key.is_string()) wrong_argument("get", "a string", key);
  if (const Value* found = owner.dict().find(key.string())) return *found;
  return argument_count(call) > 1 ? argument_or_keywords(call, 1) : Value::none();
}

template <class Project>
Value projected(const Value& owner, Meter& meter, Project project) {
  meter.list(owner.dict().size());
  std::vector<Value> items;
  items.reserve(owner.dict().size());
  for (const Dict::Entry& entry : owner.dict().entries()) items.push_back(project(entry));
  return Value::list(std::move(items));
}

Value dict_items(const Value& owner, Call&, Meter& meter) {
  return projected(owner, meter, pair);
}

Value dict_sort(const Value& owner, Call& call, Meter& meter) {
  const auto option = [&call](std::size_t index, std::string_view name, Value absent) {
    if (index < call.arguments.size()) return call.arguments[index];
    const Value* given = call.keywords != nullptr ? call.keywords->find(name) : nullptr;
    return given != nullptr ? *given : absent;
  };
  const Value case_sensitive = option(0, "case_sensitive", Value::boolean(false));
  if (!case_sensitive.is_boolean()) wrong_argument("dictsort", "a bool (case_sensitive)", case_sensitive);
  const Value by = option(1, "by", Value::string("key"));
  if (!by.is_string() || (by.string() != "key" && by.string() != "value")) {
    wrong_argument("dictsort", "\"key\" or \"value\" (by)", by);
  }
  const Value reverse = option(2, "reverse", Value::boolean(false));
  if (!reverse.is_boolean()) wrong_argument("dictsort", "a bool (reverse)", reverse);
  meter.list(owner.dict().size());
  std::vector<Value> items;
  for (const Dict::Entry& entry : owner.dict().entries()) items.push_back(pair(entry));
  const std::size_t column = by.string() == "key" ? 0 : 1;
  sort_items(
      items,
      [&](const Value& a, const Value& b) {
        const int order =
            compare_for_sort(a.items()[column], b.items()[column], case_sensitive.boolean(), meter);
        return reverse.boolean() ? -order : order;
      },
      meter);
  return Value::list(std::move(items));
}

constexpr std::array<MemberEntry, 18> kMembers = {{
    {MemberOf::string, "length", "", "UTF-16 units",
     [](const Value& v, Call&, Meter&) { return Value::integer(static_cast<double>(v.string_length())); }},
    {MemberOf::string, "upper", "()", "ASCII letters in upper case",
     [](const Value& v, Call&, Meter& m) { return transformed(v, to_upper, m); }},
    {MemberOf::string, "lower", "()", "ASCII letters in lower case",
     [](const Value& v, Call&, Meter& m) { return transformed(v, to_lower, m); }},
    {MemberOf::string, "title", "()", "each word's first letter in upper case",
     [](const Value& v, Call&, Meter& m) { return transformed(v, to_title, m); }},
    {MemberOf::string, "capitalize", "()", "the first letter in upper case, the rest unchanged",
     [](const Value& v, Call&, Meter& m) { return transformed(v, capitalized, m); }},
    {MemberOf::string, "strip", "()", "without white space at both ends",
     [](const Value& v, Call&, Meter& m) {
       return transformed(
           v, [](std::string_view text) { return std::string(trim(text)); }, m);
     }},
    {MemberOf::string, "lstrip", "()", "without white space at the start",
     [](const Value& v, Call&, Meter& m) {
       return transformed(
           v, [](std::string_view text) { return std::string(trim_start(text)); }, m);
     }},
    {MemberOf::string, "rstrip", "()", "without white space at the end",
     [](const Value& v, Call&, Meter& m) {
       return transformed(
           v, [](std::string_view text) { return std::string(trim_end(text)); }, m);
     }},
    {MemberOf::string, "startswith", "(prefix)", "whether it starts with a string or with one of a list",
     starts_with},
    {MemberOf::string, "endswith", "(suffix)", "whether it ends with a string or with one of a list",
     ends_with},
    {MemberOf::string, "split", "(sep=none, maxsplit=-1)", "the parts between separators, or the words",
     split},
    {MemberOf::string, "replace", "(old, new, count=none)",
     "with the first count occurrences, or all, replaced", replace_method},
    {MemberOf::list, "length", "", "number of items",
     [](const Value& v, Call&, Meter&) { return Value::integer(static_cast<double>(v.items().size())); }},
    {MemberOf::dict, "get", "(key, default=none)", "the value of a key", dict_get},
    {MemberOf::dict, "items", "()", "list of [key, value]", dict_items},
    {MemberOf::dict, "keys", "()", "list of keys",
     [](const Value& v, Call&, Meter& m) {
       return projected(v, m, [](const Dict::Entry& e) { return e.key; });
     }},
    {MemberOf::dict, "values", "()", "list of values",
     [](const Value& v, Call&, Meter& m) {
       return projected(v, m, [](const Dict::Entry& e) { return e.value; });
     }},
    {MemberOf::dict, "dictsort", "(case_sensitive=false, by=\"key\", reverse=false)",
     "list of [key, value], sorted", dict_sort},
}};

/// A method together with the value it belongs to.
class BoundMethod final : public Function {
 public:
  BoundMethod(Value owner, const MemberEntry& entry) : owner_(std::move(owner)), entry_(entry) {}
  std::string_view name() const noexcept override { return entry_.name; }
  Value call(Call& call) const override {
    Meter fallback{Budgets{}};
    return entry_.apply(owner_, call, call.meter != nullptr ? *call.meter : fallback);
  }
  bool takes_keywords() const noexcept override { return true; }
  bool from_host() const noexcept override { return false; }

 private:
  Value owner_;
  const MemberEntry& entry_;
};

const MemberEntry* find_member(MemberOf owner, NameView name) {
  const auto found = std::find_if(kMembers.begin(), kMembers.end(), [&](const MemberEntry& entry) {
    return entry.owner == owner && entry.name == name.text;
  });
  return found == kMembers.end() ? nullptr : &*found;
}

}  // namespace

std::span<const MemberEntry> members() noexcept {
  return kMembers;
}

Value builtin_member(const Value& owner, NameView name, Meter& meter) {
  const MemberOf kind = owner.is_string() ? MemberOf::string
                        : owner.is_dict() ? MemberOf::dict
                                          : MemberOf::list;
  const MemberEntry* entry = find_member(kind, name);
  if (entry == nullptr) return {};
  if (entry->is_method())
    return Value::function(std::make_shared<const BoundMethod>(owner, *entry), owner.depth());
  Call none;
  return entry->apply(owner, none, meter);
}

std::optional<Value> call_dict_method(const Value& dict, NameView name, Call& call, Meter& meter) {
  const MemberEntry* entry = find_member(MemberOf::dict, name);
  if (entry == nullptr) return std::nullopt;
  return entry->apply(dict, call, meter);
}

Value replace_text(std::string_view text, std::string_view old_text, std::string_view new_text, double count,
                   Meter& meter) {
  double left = count < 0 ? std::numeric_limits<double>::infinity() : count;
  std::string result;
  std::size_t from = 0;
  meter.text(text.size());
  while (from <= text.size() && left > 0) {
    const std::size_t found = find_text(text, old_text, from);
    if (found == std::string_view::npos) break;
    meter.step();
    meter.text(new_text.size());
    --left;
    append_text(result, text.substr(from, found - from));
    append_text(result, new_text);
    meter.reach(result.size());
    from = found + old_text.size();
    if (old_text.empty()) {
      // An empty match lies before each code point and at the end.
      if (from == text.size()) return Value::string(std::move(result));
      const std::size_t length = symbol_at(text, from).length;
      append_text(result, text.substr(from, length));
      from += length;
    }
  }
  append_text(result, text.substr(from));
  meter.reach(result.size());
  return Value::string(std::move(result));
}

Value replace_method(const Value& owner, Call& call, Meter& meter) {
  if (call.arguments.size() < 2) fail("The method replace needs two arguments");
  const Value& old_text = call[0];
  const Value& new_text = call[1];
  if (!old_text.is_string()) wrong_argument("replace", "a string", old_text);
  if (!new_text.is_string()) wrong_argument("replace", "a string", new_text);
  Value count = Value::none();
  if (call.arguments.size() > 2) {
    count = call[2];
  } else if (const Value* given = call.keywords != nullptr ? call.keywords->find("count") : nullptr) {
    count = *given;
  }
  if (!count.is_integer() && !count.is_none()) wrong_argument("replace", "an int or none (count)", count);
  return replace_text(owner.string(), old_text.string(), new_text.string(),
                      count.is_none() ? -1 : count.number(), meter);
}

void sort_items(std::vector<Value>& items, const std::function<int(const Value&, const Value&)>& order,
                Meter& meter) {
  constexpr std::size_t kInsertion = 64;
  if (items.size() < 2) return;
  if (items.size() < kInsertion) {
    // The run that the list starts with, then binary insertion: the order of comparisons that the reference's
    // engine has, which shows only where comparisons contradict each other.
    std::size_t sorted = 2;
    const bool descending = order(items[1], items[0]) < 0;
    while (sorted < items.size() && (order(items[sorted], items[sorted - 1]) < 0) == descending) ++sorted;
    if (descending) std::reverse(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(sorted));
    meter.step(items.size());
    for (std::size_t i = sorted; i < items.size(); ++i) {
      std::size_t low = 0;
      std::size_t high = i;
      while (low < high) {
        meter.step();
        const std::size_t middle = low + (high - low) / 2;
        if (order(items[i], items[middle]) < 0)
          high = middle;
        else
          low = middle + 1;
      }
      std::rotate(items.begin() + static_cast<std::ptrdiff_t>(low),
                  items.begin() + static_cast<std::ptrdiff_t>(i),
                  items.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    return;
  }
  std::vector<Value> merged(items.size());
  for (std::size_t width = 1; width < items.size(); width *= 2) {
    for (std::size_t begin = 0; begin < items.size(); begin += 2 * width) {
      const std::size_t middle = std::min(begin + width, items.size());
      const std::size_t end = std::min(begin + 2 * width, items.size());
      std::size_t left = begin;
      std::size_t right = middle;
      for (std::size_t out = begin; out < end; ++out) {
        meter.step();
        const bool take_right = left == middle || (right < end && order(items[right], items[left]) < 0);
        merged[out] = std::move(take_right ? items[right++] : items[left++]);
      }
    }
    items.swap(merged);
  }
}

}  // namespace kernelpack::expr
