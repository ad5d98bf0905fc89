#include "expr/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/number_text.hpp"
#include "expr/print.hpp"
#include "expr/text.hpp"

namespace kernelpack::expr {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool is_numeric(const Value& value) {
  return value.is_number() || value.is_boolean();
}

double numeric(const Value& value) {
  return value.is_boolean() ? (value.boolean() ? 1.0 : 0.0) : value.number();
}

/// undefined and none are one thing here, as they are in the reference's raw values.
bool is_nothing(const Value& value) {
  return value.kind() <= Kind::none;
}

[[noreturn]] void mismatch(Op op, const Value& left, const Value& right) {
  fail(fmt::format("The operator {} does not apply to {} and {}", spelling(op), name_value(left),
                   name_value(right)));
}

Value tagged(double value, bool integer) {
  return integer ? Value::integer(value) : Value::floating(value);
}

/// Nothing for an operator that numbers do not have.
std::optional<Value> arithmetic(Op op, const Value& left, const Value& right) {
  const double a = left.number();
  const double b = right.number();
  const bool integer = left.is_integer() && right.is_integer();
  switch (op) {
    case Op::add:
      return tagged(a + b, integer);
    case Op::subtract:
      return tagged(a - b, integer);
    case Op::multiply:
      return tagged(a * b, integer);
    case Op::divide:
      return Value::floating(a / b);
    case Op::floor_divide:
      return tagged(std::floor(a / b), integer);
    case Op::modulo:
      return tagged(std::fmod(a, b), integer);
    case Op::less:
      return Value::boolean(a < b);
    case Op::less_equal:
      return Value::boolean(a <= b);
    case Op::greater:
      return Value::boolean(a > b);
    case Op::greater_equal:
      return Value::boolean(a >= b);
    default:
      return std::nullopt;
  }
}

Value raise(const Value& left, const Value& right) {
  const double base = numeric(left);
  const double exponent = numeric(right);
  if (base == 0 && exponent < 0)
    fail(fmt::format("Zero is raised to a negative power ({})", describe(right)));
  const double result = power(base, exponent);
  if (!std::isfinite(result)) {
    fail(fmt::format("The power {} ** {} is not a finite number", describe(left), describe(right)));
  }
  const auto is_float = [](const Value& value) { return value.is_number() && !value.is_integer(); };
  return tagged(result, !is_float(left) && !is_float(right) && exponent >= 0);
}

Value concatenated(const Value& left, const Value& right, Meter& meter) {
  std::string text;
  if (left.is_string() && right.is_string()) text.reserve(left.string().size() + right.string().size());
  append_joined(text, left, meter);
  std::string tail;
  append_joined(tail, right, meter);
  meter.reach(text.size() + tail.size());
  append_text(text, tail);
  return Value::string(std::move(text));
}

bool contains_identical(const Value& list, const Value& item, Meter& meter) {
  meter.step(list.items().size());
  return std::any_of(list.items().begin(), list.items().end(), [&](const Value& each) {
    if (each.is_string() && item.is_string()) meter.scan(item.string().size());
    return each.identical(item);
  });
}

/// Whether `left in right`, or nothing where the pair has no such relation.
std::optional<bool> member_of(const Value& left, const Value& right, Meter& meter) {
  if (right.is_list_or_tuple() && !left.is_list_or_tuple()) return contains_identical(right, left, meter);
  if (left.is_string() && right.is_string()) {
    meter.scan(right.string().size());
    return find_text(right.string(), left.string()) != std::string_view::npos;
  }
  if (left.is_string() && right.is_dict()) return right.dict().find(left.string()) != nullptr;
  return std::nullopt;
}

/// An operand of == that is no container, as text or number.
struct Primitive {
  bool is_text = false;
  std::string text;
  double number = kNaN;
};

bool is_container(const Value& value) {
  return value.kind() > Kind::string;
}

Primitive primitive(const Value& value, Meter& meter) {
  Primitive result;
  // Functions and native objects equal nothing but themselves.
  if (value.kind() >= Kind::function) return result;
  if (is_numeric(value)) {
    result.number = numeric(value);
  } else {
    result.is_text = true;
    result.text = joined_text(value, meter);
  }
  return result;
}

}  // namespace

std::string_view spelling(Op op) noexcept {
  switch (op) {
    case Op::or_:
      return "or";
    case Op::and_:
      return "and";
    case Op::equal:
      return "==";
    case Op::not_equal:
      return "!=";
    case Op::less:
      return "<";
    case Op::less_equal:
      return "<=";
    case Op::greater:
      return ">";
    case Op::greater_equal:
      return ">=";
    case Op::in:
      return "in";
    case Op::not_in:
      return "not in";
    case Op::add:
    case Op::plus:
      return "+";
    case Op::subtract:
    case Op::minus:
      return "-";
    case Op::concatenate:
      return "~";
    case Op::multiply:
      return "*";
    case Op::divide:
      return "/";
    case Op::floor_divide:
      return "//";
    case Op::modulo:
      return "%";
    case Op::power:
      return "**";
    case Op::not_:
      return "not";
    default:
      return "?";
  }
}

bool loosely_equal(const Value& left, const Value& right, Meter& meter) {
  if (left.is_number() && right.is_number()) return left.number() == right.number();
  if (left.is_string() && right.is_string()) {
    meter.scan(std::min(left.string().size(), right.string().size()));
    return left.identical(right);
  }
  if (is_nothing(left) || is_nothing(right)) return is_nothing(left) && is_nothing(right);
  if (is_container(left) && is_container(right)) {
    // Lists and tuples share their kind of identity: the very same items.
    return left.identical(right);
  }
  const Primitive a = primitive(left, meter);
  const Primitive b = primitive(right, meter);
  if (a.is_text && b.is_text) return a.text == b.text;
  const double x = a.is_text ? javascript_to_number(a.text) : a.number;
  const double y = b.is_text ? javascript_to_number(b.text) : b.number;
  return x == y;
}

double to_number(const Value& value, Meter& meter) {
  if (is_numeric(value)) return numeric(value);
  if (is_nothing(value) || value.kind() >= Kind::function) return kNaN;
  if (value.is_list_or_tuple()) {
    // Inside the text of a list, none and undefined are empty here: the items are plain values of the host.
    if (value.items().empty()) return 0;
    if (value.items().size() > 1) return kNaN;
    const Value& item = value.items().front();
    if (is_nothing(item)) return 0;
    if (item.is_boolean()) return kNaN;
    return to_number(item, meter);
  }
  if (!value.is_string()) return kNaN;
  meter.scan(value.string().size());
  return javascript_to_number(value.string());
}

double power(double base, double exponent) noexcept {
  // JavaScript differs from C for a base of magnitude one with an infinite or NaN exponent.
  if (std::isnan(exponent)) return kNaN;
  if (std::abs(base) == 1 && std::isinf(exponent)) return kNaN;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (exponent >= 0 && exponent <= 1100 && std::nearbyint(exponent) == exponent &&
      std::nearbyint(base) == base && std::abs(base) < kExact) {
    double result = 1;
    double factor = base;
    bool exact = true;
    for (auto left = static_cast<unsigned>(exponent); left != 0 && exact; left >>= 1) {
      if ((left & 1u) != 0) result *= factor;
      if (left > 1) factor *= factor;
      exact = std::abs(result) < kExact && (left <= 1 || std::abs(factor) < kExact);
    }
    if (exact) return result;
  }
  return std::pow(base, exponent);
}

Value apply_sign(Op op, const Value& operand) {
  if (!is_numeric(operand)) {
    fail(fmt::format("The sign {} does not apply to {}", spelling(op), name_value(operand)));
  }
  // Multiplied rather than negated: that gives int minus zero for -false and -0, as in the reference.
  const double result = (op == Op::minus ? -1.0 : 1.0) * numeric(operand);
  return tagged(result, operand.is_boolean() || operand.is_integer());
}

Value apply_binary(Op op, const Value& left, const Value& right, Meter& meter) {
  if (left.is_number() && right.is_number()) {
    if (std::optional<Value> result = arithmetic(op, left, right)) return std::move(*result);
  }
  if (op == Op::equal) return Value::boolean(loosely_equal(left, right, meter));
  if (op == Op::not_equal) return Value::boolean(!loosely_equal(left, right, meter));
  const bool membership = op == Op::in || op == Op::not_in;
  if (membership && right.is_undefined()) return Value::boolean(op == Op::not_in);
  if (is_nothing(left) || is_nothing(right)) {
    fail(fmt::format("An operand of {} is {}: {} {} {}", spelling(op),
                     to_string(is_nothing(left) ? left.kind() : right.kind()), describe(left), spelling(op),
                     describe(right)));
  }
  if (op == Op::concatenate) return concatenated(left, right, meter);
  if (op == Op::power && is_numeric(left) && is_numeric(right)) return raise(left, right);
  if (membership) {
    const std::optional<bool> found = member_of(left, right, meter);
    if (!found) mismatch(op, left, right);
    return Value::boolean(*found == (op == Op::in));
  }
  if (op == Op::add && left.is_list_or_tuple() && right.is_list_or_tuple()) {
    meter.list(left.items().size() + right.items().size());
    std::vector<Value> items;
    items.reserve(left.items().size() + right.items().size());
    items.insert(items.end(), left.items().begin(), left.items().end());
    items.insert(items.end(), right.items().begin(), right.items().end());
    return Value::list(std::move(items));
  }
  if (op == Op::add && (left.is_string() || right.is_string())) return concatenated(left, right, meter);
  mismatch(op, left, right);
}

int compare_for_sort(const Value& left, const Value& right, bool case_sensitive, Meter& meter) {
  if ((left.is_none() && right.is_none()) || (left.is_undefined() && right.is_undefined())) return 0;
  if (is_numeric(left) && is_numeric(right)) {
    const double a = numeric(left);
    const double b = numeric(right);
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (!left.is_string() || !right.is_string()) {
    fail(fmt::format("There is no order between {} and {}", name_value(left), name_value(right)));
  }
  meter.scan(left.string().size() + right.string().size());
  if (case_sensitive) return compare_units(left.string(), right.string());
  return compare_units(to_lower(left.string()), to_lower(right.string()));
}

Value element_at(const Value& sequence, double index) {
  const std::size_t length = sequence.is_string() ? sequence.string_length() : sequence.items().size();
  const auto count = static_cast<double>(length);
  double at = std::isnan(index) ? 0 : index;
  if (at < 0) at += count;
  if (!(at >= 0 && at < count)) return {};
  const auto position = static_cast<std::size_t>(at);
  if (!sequence.is_string()) return sequence.items()[position];
  const std::string& text = sequence.string();
  if (length == text.size()) return Value::string(std::string(1, text[position]));
  return Value::string(unit_at(text, position));
}

Value slice_of(const Value& sequence, const Value& start, const Value& stop, const Value& step,
               Meter& meter) {
  std::vector<std::string_view> points;
  if (sequence.is_string()) {
    meter.scan(sequence.string().size() * 16);
    points = code_points(sequence.string());
  }
  const auto length = static_cast<double>(sequence.is_string() ? points.size() : sequence.items().size());
  const auto or_default = [](const Value& bound, double absent) {
    return bound.is_number() ? bound.number() : absent;
  };
  const double stride = or_default(step, 1);
  const double direction = stride > 0 ? 1 : stride < 0 ? -1 : stride;
  // As JavaScript's Math.min and Math.max: NaN wins, and then the slice is empty.
  const auto least = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b);
  };
  const auto most = [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b); };
  double first = 0;
  double last = 0;
  if (direction >= 0) {
    first = or_default(start, 0);
    first = first < 0 ? most(length + first, 0) : least(first, length);
    last = or_default(stop, length);
    last = last < 0 ? most(length + last, 0) : least(last, length);
  } else {
    first = or_default(start, length - 1);
    first = first < 0 ? most(length + first, -1) : least(first, length - 1);
    last = or_default(stop, -1);
    last = last < -1 ? most(length + last, -1) : least(last, length - 1);
  }
  std::string text;
  std::vector<Value> items;
  for (double i = first; direction * i < direction * last; i += stride) {
    meter.step();
    const auto at = static_cast<std::size_t>(i);
    if (sequence.is_string())
      append_text(text, points[at]);
    else
      items.push_back(sequence.items()[at]);
  }
  if (sequence.is_string()) return Value::string(std::move(text));
  return Value::list(std::move(items));
}

}  // namespace kernelpack::expr
