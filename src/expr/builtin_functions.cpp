#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "expr/builtins.hpp"
#include "expr/operators.hpp"
#include "expr/print.hpp"
#include "expr/scope.hpp"

namespace kernelpack::expr {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void wrong(std::string_view argument, const Value& given, std::string_view expected) {
  fail(fmt::format("The argument {} ({}) is not {}", argument, describe(given), expected));
}

std::span<const Value> list_argument(const Call& call, std::size_t index, std::string_view argument) {
  const Value& value = call[index];
  if (!value.is_list_or_tuple()) wrong(argument, value, "a list");
  return value.items();
}

bool is_integral(double value) {
  return std::isfinite(value) && std::nearbyint(value) == value;
}

double count_argument(const Call& call, std::size_t index, std::string_view argument) {
  const Value& value = call[index];
  if (!value.is_number() || !is_integral(value.number()) || value.number() < 0) {
    wrong(argument, value, "a non-negative integer");
  }
  return value.number();
}

/// value modulo count, never negative.
double wrapped(double value, double count) {
  return std::fmod(std::fmod(value, count) + count, count);
}

double count_of(std::span<const Value> items) {
  return static_cast<double>(items.size());
}

/// The position that an axis names in a list that is not empty: any number wraps around (format.md 4.9, dim).
std::size_t wrapped_axis(const Call& call, std::span<const Value> shape, Meter& meter) {
  const double axis = to_number(call[1], meter);
  const double position = wrapped(axis, count_of(shape));
  if (!is_integral(position)) wrong("i", call[1], "an integer");
  return static_cast<std::size_t>(position);
}

Value product(std::span<const Value> items, Meter& meter) {
  meter.step(items.size());
  double result = 1;
  for (const Value& item : items) result *= to_number(item, meter);
  return Value::number(result);
}

/// The product of a shape's dimensions before, behind or besides an axis; 1 for rank 0.
Value part_product(Call& call, Meter& meter, bool before, bool behind) {
  const std::span<const Value> shape = list_argument(call, 0, "s");
  if (shape.empty()) return Value::integer(1);
  const std::size_t axis = wrapped_axis(call, shape, meter);
  double result = 1;
  if (before) result *= product(shape.first(axis), meter).number();
  if (behind) result *= product(shape.subspan(axis + 1), meter).number();
  return Value::number(result);
}

Value made_list(std::span<const Value> items, Meter& meter) {
  meter.list(items.size());
  return Value::list(std::vector<Value>(items.begin(), items.end()));
}

/// A count argument clamped to [0, length].
std::size_t clamped_count(const Call& call, std::size_t index, std::size_t length, Meter& meter) {
  const double count = std::trunc(to_number(call[index], meter));
  if (!(count > 0)) return 0;
  return static_cast<std::size_t>(std::min(count, static_cast<double>(length)));
}

/// An axis in [-rank, rank) as a position.
std::size_t checked_axis(const Value& value, std::string_view argument, std::size_t rank) {
  const auto count = static_cast<double>(rank);
  if (!value.is_number() || !is_integral(value.number()) || value.number() < -count ||
      value.number() >= count) {
    wrong(argument, value, fmt::format("an integer in [-{0}, {0})", rank));
  }
  return static_cast<std::size_t>(value.number() < 0 ? value.number() + count : value.number());
}

Value extreme(Call& call, Meter& meter, bool greatest) {
  double result = greatest ? -kInfinity : kInfinity;
  for (const Value& argument : call.arguments) {
    const double value = to_number(argument, meter);
    if (std::isnan(value) || std::isnan(result))
      result = kNaN;
    else if (greatest ? value > result : value < result)
      result = value;
  }
  return Value::number(result);
}

double ceil_log2(double value) {
  return std::ceil(std::log2(value));
}

Value pow2_ceil(Call& call, Meter& meter) {
  const double x = to_number(call[0], meter);
  if (x <= 1) return Value::integer(1);
  return Value::number(std::exp2(ceil_log2(x)));
}

Value log2_ceil(Call& call, Meter& meter) {
  const double x = to_number(call[0], meter);
  return x <= 1 ? Value::integer(0) : Value::number(ceil_log2(x));
}

Value dim(Call& call, Meter& meter) {
  const std::span<const Value> shape = list_argument(call, 0, "s");
  const double position = wrapped(to_number(call[1], meter), count_of(shape));
  if (shape.empty() || !is_integral(position)) return Value::none();
  return shape[static_cast<std::size_t>(position)];
}

Value fill(Call& call, Meter& meter) {
  const double count = count_argument(call, 1, "n");
  const double most = static_cast<double>(meter.budgets().list_length);
  meter.list(count > most ? meter.budgets().list_length + 1 : static_cast<std::size_t>(count));
  return Value::list(std::vector<Value>(static_cast<std::size_t>(count), call[0]));
}

Value move_axis(Call& call, Meter& meter) {
  const std::span<const Value> shape = list_argument(call, 0, "s");
  if (shape.empty()) wrong("s", call[0], "a list with at least one item");
  const std::size_t from = checked_axis(call[1], "from", shape.size());
  const std::size_t to = checked_axis(call[2], "to", shape.size());
  meter.list(shape.size());
  std::vector<Value> items(shape.begin(), shape.end());
  const Value moved = items[from];
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(from));
  items.insert(items.begin() + static_cast<std::ptrdiff_t>(to), moved);
  return Value::list(std::move(items));
}

Value permute_shape(Call& call, Meter& meter) {
  const std::span<const Value> shape = list_argument(call, 0, "s");
  const std::span<const Value> axes = list_argument(call, 1, "axes");
  if (axes.size() != shape.size()) {
    fail(fmt::format("The number of axes ({}) differs from the rank of s ({})", axes.size(), shape.size()));
  }
  meter.list(shape.size());
  std::vector<bool> used(shape.size(), false);
  std::vector<Value> items;
  for (const Value& each : axes) {
    const std::size_t axis = checked_axis(each, "axes", shape.size());
    if (used[axis]) fail(fmt::format("The argument axes ({}) names axis {} twice", describe(call[1]), axis));
    used[axis] = true;
    items.push_back(shape[axis]);
  }
  return Value::list(std::move(items));
}

Value reversed_axes(Call& call, Meter& meter) {
  const double rank = count_argument(call, 0, "rank");
  const double most = static_cast<double>(meter.budgets().list_length);
  meter.list(rank > most ? meter.budgets().list_length + 1 : static_cast<std::size_t>(rank));
  std::vector<Value> items;
  for (double axis = rank - 1; axis >= 0; --axis) items.push_back(Value::integer(axis));
  return Value::list(std::move(items));
}

std::vector<Value> broadcast(std::span<const Value> a, std::span<const Value> b, Meter& meter) {
  const std::size_t rank = std::max(a.size(), b.size());
  meter.list(rank);
  std::vector<Value> items(rank);
  for (std::size_t i = 1; i <= rank; ++i) {
    const double x = i <= a.size() ? to_number(a[a.size() - i], meter) : 1;
    const double y = i <= b.size() ? to_number(b[b.size() - i], meter) : 1;
    if (x != y && x != 1 && y != 1) {
      fail(fmt::format("The dimensions {} and {} at position {} from the end do not broadcast",
                       describe(Value::number(x)), describe(Value::number(y)), i));
    }
    items[rank - i] = Value::number(x == 1 ? y : x);
  }
  return items;
}

Value broadcast_shape(Call& call, Meter& meter) {
  return Value::list(broadcast(list_argument(call, 0, "a"), list_argument(call, 1, "b"), meter));
}

Value matmul_shape(Call& call, Meter& meter) {
  const std::span<const Value> a = list_argument(call, 0, "a");
  const std::span<const Value> b = list_argument(call, 1, "b");
  if (a.empty()) wrong("a", call[0], "a shape of rank 1 or more");
  if (b.empty()) wrong("b", call[1], "a shape of rank 1 or more");
  const double inner_a = to_number(a.back(), meter);
  const double inner_b = to_number(b.size() == 1 ? b[0] : b[b.size() - 2], meter);
  if (inner_a != inner_b) {
    fail(fmt::format("The inner dimensions of a ({}) and b ({}) differ ({} and {})", describe(call[0]),
                     describe(call[1]), describe(a.back()),
                     describe(b.size() == 1 ? b[0] : b[b.size() - 2])));
  }
  std::vector<Value> items =
      broadcast(a.first(a.size() < 2 ? 0 : a.size() - 2), b.first(b.size() < 2 ? 0 : b.size() - 2), meter);
  if (a.size() > 1) items.push_back(a[a.size() - 2]);
  if (b.size() > 1) items.push_back(b.back());
  return Value::list(std::move(items));
}

Value broadcastable(Call& call, Meter& meter) {
  const std::span<const Value> a = list_argument(call, 0, "a");
  const std::span<const Value> b = list_argument(call, 1, "b");
  if (a.size() > b.size()) return Value::boolean(false);
  meter.step(a.size());
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const double x = to_number(a[a.size() - i], meter);
    if (x != 1 && x != to_number(b[b.size() - i], meter)) return Value::boolean(false);
  }
  return Value::boolean(true);
}

Value same_shape(Call& call, Meter& meter) {
  const std::span<const Value> a = list_argument(call, 0, "a");
  const std::span<const Value> b = list_argument(call, 1, "b");
  meter.step(std::min(a.size(), b.size()));
  return Value::boolean(std::equal(a.begin(), a.end(), b.begin(), b.end(),
                                   [](const Value& x, const Value& y) { return x.identical(y); }));
}

Value has_axis(Call& call, Meter& meter) {
  const std::span<const Value> axes = list_argument(call, 0, "axes");
  const double rank = to_number(call[2], meter);
  const double wanted = wrapped(to_number(call[1], meter), rank);
  meter.step(axes.size());
  return Value::boolean(std::any_of(axes.begin(), axes.end(), [&](const Value& axis) {
    return wrapped(to_number(axis, meter), rank) == wanted;
  }));
}

Value axis_value(Call& call, Meter& meter) {
  const std::span<const Value> values = list_argument(call, 0, "values");
  const std::span<const Value> axes = list_argument(call, 1, "axes");
  const double rank = to_number(call[3], meter);
  const double wanted = wrapped(to_number(call[2], meter), rank);
  meter.step(axes.size());
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (wrapped(to_number(axes[k], meter), rank) == wanted) return k < values.size() ? values[k] : call[4];
  }
  return call[4];
}

Value is_unique_int_list(Call& call, Meter& meter) {
  if (!call[0].is_list_or_tuple() || !call[1].is_number() || !call[2].is_number())
    return Value::boolean(false);
  const double low = call[1].number();
  const double high = call[2].number();
  if (call.arguments.size() > 3 && !call[3].is_number() && !call[3].is_undefined())
    return Value::boolean(false);
  const double rank = call[3].is_number() ? call[3].number() : 0;
  if (!is_integral(low) || !is_integral(high) || !is_integral(rank) || rank < 0) return Value::boolean(false);
  std::unordered_set<double> seen;
  meter.list(call[0].items().size());
  for (const Value& item : call[0].items()) {
    if (!item.is_number() || !is_integral(item.number()) || item.number() < low || item.number() >= high)
      return Value::boolean(false);
    if (!seen.insert(rank > 0 ? wrapped(item.number(), rank) : item.number() + 0.0).second)
      return Value::boolean(false);
  }
  return Value::boolean(true);
}

Value has(Call& call, Meter& meter) {
  const Value& object = call[0];
  const Value& key = call[1];
  if (object.is_undefined() || object.is_none()) return Value::boolean(false);
  const std::string name = key.is_string() ? key.string() : joined_text(key, meter);
  if (object.is_dict()) return Value::boolean(object.dict().find(name) != nullptr);
  if (object.kind() == Kind::object) return Value::boolean(object.object().member(name).has_value());
  if (object.is_list_or_tuple()) {
    const double index = key.is_number() ? key.number() : kNaN;
    return Value::boolean(is_integral(index) && index >= 0 && index < count_of(object.items()));
  }
  return Value::boolean(false);
}

struct DTypeBytes {
  std::string_view name;
  double bytes;
};

/// Bytes of an element in a GPU buffer, by logical and by WGSL name.
constexpr std::array<DTypeBytes, 13> kDTypeBytes = {{{"float16", 2},
                                                     {"float32", 4},
                                                     {"int8", 4},
                                                     {"int16", 4},
                                                     {"int32", 4},
                                                     {"uint8", 4},
                                                     {"uint32", 4},
                                                     {"bool", 4},
                                                     {"int64", 8},
                                                     {"f16", 2},
                                                     {"f32", 4},
                                                     {"i32", 4},
                                                     {"u32", 4}}};

/// Logical names only.
constexpr std::array<DTypeBytes, 9> kOnnxCodes = {{{"float32", 1},
                                                   {"uint8", 2},
                                                   {"int8", 3},
                                                   {"int16", 5},
                                                   {"int32", 6},
                                                   {"int64", 7},
                                                   {"bool", 9},
                                                   {"float16", 10},
                                                   {"uint32", 12}}};

template <class Table>
Value of_dtype(const Call& call, const Table& table) {
  if (call[0].is_string()) {
    for (const DTypeBytes& row : table) {
      if (row.name == call[0].string()) return Value::integer(row.bytes);
    }
  }
  wrong("x", call[0], "the name of a dtype");
}

Value dtype_bytes(Call& call, Meter&) {
  if (call[0].is_string() && call[0].string() == "vec2<u32>") return Value::integer(8);
  return of_dtype(call, kDTypeBytes);
}

Value pick(Call& call, Meter& meter) {
  for (const Value& entry : list_argument(call, 0, "pairs")) {
    meter.step();
    if (!entry.is_list_or_tuple() || entry.items().size() < 2)
      wrong("pairs", entry, "a list of [condition, value]");
    const Value& condition = entry.items()[0];
    // Truth as JavaScript sees it: an empty list is true.
    if (condition.kind() > Kind::string || condition.truthy()) return entry.items()[1];
  }
  return call[1];
}

/// The decision is made where the device is known; see functions().
template <bool kHasF16>
Value f16_ok(Call& call, Meter&) {
  const bool is_f16 = call[0].is_string() && (call[0].string() == "f16" || call[0].string() == "float16");
  return Value::boolean(kHasF16 || !is_f16);
}

constexpr std::array kFunctions = {
    FunctionEntry{"ceil", "(x)", "x rounded up",
                  [](Call& c, Meter& m) { return Value::number(std::ceil(to_number(c[0], m))); }},
    FunctionEntry{"floor", "(x)", "x rounded down",
                  [](Call& c, Meter& m) { return Value::number(std::floor(to_number(c[0], m))); }},
    FunctionEntry{
        "pow", "(a, b)", "a to the power b",
        [](Call& c, Meter& m) { return Value::number(power(to_number(c[0], m), to_number(c[1], m))); }},
    FunctionEntry{"min", "(...)", "the least argument; NaN if one is NaN, +Infinity without arguments",
                  [](Call& c, Meter& m) { return extreme(c, m, false); }},
    FunctionEntry{"max", "(...)", "the greatest argument; NaN if one is NaN, -Infinity without arguments",
                  [](Call& c, Meter& m) { return extreme(c, m, true); }},
    FunctionEntry{
        "ceilDiv", "(a, b)", "a / b rounded up",
        [](Call& c, Meter& m) { return Value::number(std::ceil(to_number(c[0], m) / to_number(c[1], m))); }},
    FunctionEntry{"pow2ceil", "(x)", "the least power of two that is not below x, at least 1", pow2_ceil},
    FunctionEntry{"log2ceil", "(x)", "its exponent", log2_ceil},
    FunctionEntry{"numel", "(s)", "the product of a shape",
                  [](Call& c, Meter& m) { return product(list_argument(c, 0, "s"), m); }},
    FunctionEntry{"dim", "(s, i)", "the dimension at i modulo the rank; none for rank 0", dim},
    FunctionEntry{"rows", "(s, i)", "the product of all dimensions but that at i",
                  [](Call& c, Meter& m) { return part_product(c, m, true, true); }},
    FunctionEntry{"outer", "(s, i)", "the product of the dimensions before i",
                  [](Call& c, Meter& m) { return part_product(c, m, true, false); }},
    FunctionEntry{"inner", "(s, i)", "the product of the dimensions behind i",
                  [](Call& c, Meter& m) { return part_product(c, m, false, true); }},
    FunctionEntry{"prefix", "(s, n)", "the first n items",
                  [](Call& c, Meter& m) {
                    const std::span<const Value> shape = list_argument(c, 0, "s");
                    return made_list(shape.first(clamped_count(c, 1, shape.size(), m)), m);
                  }},
    FunctionEntry{"suffix", "(s, n)", "all but the first n items",
                  [](Call& c, Meter& m) {
                    const std::span<const Value> shape = list_argument(c, 0, "s");
                    return made_list(shape.subspan(clamped_count(c, 1, shape.size(), m)), m);
                  }},
    FunctionEntry{"fill", "(v, n)", "n copies of v", fill},
    FunctionEntry{"moveAxis", "(s, from, to)", "s with one axis moved", move_axis},
    FunctionEntry{"permuteShape", "(s, axes)", "s in the order of axes", permute_shape},
    FunctionEntry{"reversedAxes", "(rank)", "[rank - 1, ..., 0]", reversed_axes},
    FunctionEntry{"broadcastShape", "(a, b)", "the shape that both broadcast to", broadcast_shape},
    FunctionEntry{"matmulShape", "(a, b)", "the shape of the matrix product", matmul_shape},
    FunctionEntry{"broadcastable", "(a, b)", "whether a broadcasts to b", broadcastable},
    FunctionEntry{"sameShape", "(a, b)", "whether two lists have the same items", same_shape},
    FunctionEntry{"hasAxis", "(axes, i, rank)", "whether axes names axis i, modulo rank", has_axis},
    FunctionEntry{"axisValue", "(values, axes, i, rank, default)",
                  "the value that belongs to axis i, or default", axis_value},
    FunctionEntry{"isUniqueIntList", "(l, lo, hi, rank=0)", "whether l holds distinct integers in [lo, hi)",
                  is_unique_int_list},
    FunctionEntry{"has", "(obj, key)", "whether an object has a key", has},
    FunctionEntry{"dtypeBytes", "(x)", "bytes of an element in a buffer", dtype_bytes},
    FunctionEntry{"onnxDtypeCode", "(x)", "the ONNX code of a dtype",
                  [](Call& c, Meter&) { return of_dtype(c, kOnnxCodes); }},
    FunctionEntry{"pick", "(pairs, default)", "the value of the first pair whose condition is true", pick},
    FunctionEntry{"f16Ok", "(x)", "false only for f16 on a device without shader-f16", f16_ok<false>},
};

class BuiltinFunction final : public Function {
 public:
  explicit BuiltinFunction(const FunctionEntry& entry) : entry_(entry) {}
  std::string_view name() const noexcept override { return entry_.name; }
  Value call(Call& call) const override {
    Meter fallback{Budgets{}};
    return entry_.apply(call, call.meter != nullptr ? *call.meter : fallback);
  }

 private:
  FunctionEntry entry_;
};

Dict make_functions(bool shader_f16) {
  Dict names;
  for (FunctionEntry entry : kFunctions) {
    if (shader_f16 && entry.name == "f16Ok") entry.apply = f16_ok<true>;
    names.set(entry.name, Value::function(std::make_shared<const BuiltinFunction>(entry)));
  }
  return names;
}

}  // namespace

std::span<const FunctionEntry> function_table() noexcept {
  return kFunctions;
}

const Scope& functions(bool shader_f16) {
  static const Scope without(nullptr, make_functions(false));
  static const Scope with(nullptr, make_functions(true));
  return shader_f16 ? with : without;
}

const std::vector<std::string_view>& function_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const FunctionEntry& entry : kFunctions) all.push_back(entry.name);
    return all;
  }();
  return names;
}

}  // namespace kernelpack::expr
