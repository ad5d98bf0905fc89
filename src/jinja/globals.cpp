#include "jinja/globals.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "expr/eval.hpp"
#include "expr/operators.hpp"
#include "expr/print.hpp"
#include "expr/text.hpp"

namespace kernelpack::jinja {
namespace {

using expr::Call;
using expr::Dict;
using expr::fail;
using expr::Value;

bool is_nothing(const Value& value) {
  return value.is_undefined() || value.is_none();
}

Value range(Call& call) {
  expr::Meter& meter = call.evaluator->meter();
  // As the reference's optional parameters: a second argument that is absent makes the first one the end.
  const bool only_stop = is_nothing(call[1]);
  const auto bound = [&](const Value& value, double absent) {
    return is_nothing(value) ? absent : to_number(value, meter);
  };
  if (!only_stop && !call[0].is_number()) {
    fail(fmt::format("The start of range is {}, not a number", name_value(call[0])));
  }
  const double start = only_stop ? 0 : call[0].number();
  const double stop = bound(only_stop ? call[0] : call[1], std::nan(""));
  const double step = is_nothing(call[2]) ? 1 : to_number(call[2], meter);
  if (step == 0) fail("The step of range is 0");
  const double count = std::ceil((stop - start) / step);
  if (count > static_cast<double>(meter.budgets().list_length)) meter.list(meter.budgets().list_length + 1);
  std::vector<Value> items;
  for (double i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (items.size() >= meter.budgets().list_length) meter.list(items.size() + 1);
    meter.step();
    items.push_back(Value::number(i));
  }
  return Value::list(std::move(items));
}

/// One [key, value] of a namespace: a list of two, or a string of two characters.
void add_pair(Dict& entries, const Value& pair) {
  std::vector<Value> parts;
  if (pair.is_list_or_tuple()) {
    parts.assign(pair.items().begin(), pair.items().end());
  } else if (pair.is_string() && pair.string().size() <= 8) {
    for (const std::string_view point : expr::code_points(pair.string()))
      parts.push_back(Value::string(std::string(point)));
  }
  if (parts.size() != 2 || !parts[0].is_string()) {
    fail(fmt::format("The argument of namespace holds {} where a pair of a string and a value is expected",
                     describe(pair)));
  }
  entries.set(parts[0], parts[1]);
}

class MakeNamespace final : public expr::Function {
 public:
  std::string_view name() const noexcept override { return "namespace"; }
  bool takes_keywords() const noexcept override { return true; }
  bool from_host() const noexcept override { return false; }

  Value call(Call& call) const override {
    expr::Meter& meter = call.evaluator->meter();
    if (call.arguments.size() > 1) {
      fail(fmt::format("The function namespace is given {} arguments and takes one", call.arguments.size()));
    }
    Dict entries;
    if (call.arguments.size() == 1) {
      const Value& source = call[0];
      if (source.is_dict()) {
        meter.list(source.dict().size());
        for (const Dict::Entry& entry : source.dict().entries()) entries.set(entry.key, entry.value);
      } else if (source.is_list_or_tuple()) {
        meter.list(source.items().size());
        for (const Value& pair : source.items()) add_pair(entries, pair);
      } else {
        fail(fmt::format("The argument of namespace is {}, not a dict or a list of pairs",
                         name_value(source)));
      }
    }
    if (call.keywords != nullptr) {
      for (const Dict::Entry& entry : call.keywords->entries()) entries.set(entry.key, entry.value);
    }
    Value made = Value::name_space(std::move(entries));
    call.evaluator->adopt_namespace(made);
    return made;
  }
};

Value raise_exception(Call& call) {
  std::string message;
  if (!is_nothing(call[0])) expr::append_joined(message, call[0], call.evaluator->meter());
  fail(fmt::format("The template gives up with the message ({})", expr::to_valid_utf8(std::move(message))));
}

}  // namespace

const expr::Scope& globals() noexcept {
  static const expr::Scope scope(
      nullptr, Dict{{"range", Value::function("range", range)},
                    {"namespace", Value::function(std::make_shared<const MakeNamespace>())},
                    {"raise_exception", Value::function("raise_exception", raise_exception)}});
  return scope;
}

}  // namespace kernelpack::jinja
