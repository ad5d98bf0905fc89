#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "expr/builtins.hpp"
#include "expr/expression.hpp"
#include "expr/scope.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

struct Row {
  const char* function;  ///< the row of the table in format.md 4.9
  const char* expression;
  const char* expected;  ///< printed; "none", "undefined"; "error" and a part of the message
};

// One block for each row of the table of format.md 4.9.
const std::vector<Row> kRows = {
    // ceil(x) floor(x) pow(a,b): JS Math, with JS Number(x) for the arguments.
    {"ceil", "ceil(2.1)", "3"},
    {"ceil", "ceil(-2.1)", "-2"},
    {"ceil", "ceil('2.5')", "3"},
    {"ceil", "ceil(none)", "NaN"},
    {"ceil", "ceil()", "NaN"},
    {"ceil", "ceil(true)", "1"},
    {"ceil", "ceil([5])", "5"},
    {"ceil", "ceil([])", "0"},
    {"ceil", "ceil([1, 2])", "NaN"},
    {"ceil", "ceil({})", "NaN"},
    {"ceil", "ceil(x=1)", "error keyword argument x"},
    {"floor", "floor(-2.1)", "-3"},
    {"floor", "floor(' 7 ')", "7"},
    {"floor", "floor('')", "0"},
    {"floor", "floor(attrs.missing)", "NaN"},
    {"floor", "floor(1 / 0)", "Infinity"},
    {"pow", "pow(2, 10)", "1024"},
    {"pow", "pow(2, -1)", "0.5"},
    {"pow", "pow(0, -1)", "Infinity"},
    {"pow", "pow(-8, 0.5)", "NaN"},
    {"pow", "pow(attrs.missing, 2)", "NaN"},
    {"pow", "pow(1, 1 / 0)", "NaN"},
    {"pow", "pow(3, 33)", "5559060566555523"},
    // min(...) max(...): NaN if any argument is NaN; no argument: +Infinity / -Infinity.
    {"min", "min(3, 1, 2)", "1"},
    {"min", "min()", "Infinity"},
    {"min", "min(attrs.missing, 3)", "NaN"},
    {"min", "min(3, none)", "NaN"},
    {"min", "min('2', 3)", "2"},
    {"min", "min(*[4, 2])", "2"},
    {"min", "min([4], 5)", "4"},
    {"max", "max(3, 1, 2)", "3"},
    {"max", "max()", "-Infinity"},
    {"max", "max(1, 0 / 0)", "NaN"},
    {"max", "max(true, 0)", "1"},
    {"max", "max(1.5, 2.0)", "2"},
    // ceilDiv(a,b): b = 0 gives ±Infinity or NaN.
    {"ceilDiv", "ceilDiv(7, 2)", "4"},
    {"ceilDiv", "ceilDiv(8, 2)", "4"},
    {"ceilDiv", "ceilDiv(-7, 2)", "-3"},
    {"ceilDiv", "ceilDiv(1, 0)", "Infinity"},
    {"ceilDiv", "ceilDiv(-1, 0)", "-Infinity"},
    {"ceilDiv", "ceilDiv(0, 0)", "NaN"},
    {"ceilDiv", "ceilDiv(attrs.missing, 2)", "NaN"},
    // pow2ceil(x) log2ceil(x): x <= 1: 1 / 0.
    {"pow2ceil", "pow2ceil(1)", "1"},
    {"pow2ceil", "pow2ceil(0)", "1"},
    {"pow2ceil", "pow2ceil(-5)", "1"},
    {"pow2ceil", "pow2ceil(5)", "8"},
    {"pow2ceil", "pow2ceil(64)", "64"},
    {"pow2ceil", "pow2ceil(65)", "128"},
    {"pow2ceil", "pow2ceil(1.5)", "2"},
    {"pow2ceil", "pow2ceil(none)", "NaN"},
    {"log2ceil", "log2ceil(1)", "0"},
    {"log2ceil", "log2ceil(0.25)", "0"},
    {"log2ceil", "log2ceil(64)", "6"},
    {"log2ceil", "log2ceil(65)", "7"},
    {"log2ceil", "log2ceil('x')", "NaN"},
    // numel(s): product; [] 1; undefined error.
    {"numel", "numel([2, 3, 4])", "24"},
    {"numel", "numel([])", "1"},
    {"numel", "numel([0, 5])", "0"},
    {"numel", "numel(shapes.missing)", "error not a list"},
    {"numel", "numel(3)", "error not a list"},
    {"numel", "numel([2, none])", "NaN"},
    {"numel", "numel((2, 3))", "6"},
    // dim(s,i): never out of range; rank 0: none.
    {"dim", "dim([2, 3, 4], 5)", "4"},
    {"dim", "dim([2, 3, 4], -1)", "4"},
    {"dim", "dim([2, 3, 4], -4)", "4"},
    {"dim", "dim([2, 3, 4], 0)", "2"},
    {"dim", "dim([], 0)", "none"},
    {"dim", "dim([2, 3], none)", "none"},
    {"dim", "dim([2, 3], 0.5)", "none"},
    {"dim", "dim(shapes.missing, 0)", "error not a list"},
    // rows(s,i): product of all but that element; rank 0: 1.
    {"rows", "rows([2, 3, 4], 1)", "8"},
    {"rows", "rows([2, 3, 4], -1)", "6"},
    {"rows", "rows([2, 3, 4], 4)", "8"},
    {"rows", "rows([], 0)", "1"},
    {"rows", "rows(4, 0)", "error not a list"},
    // outer(s,i) inner(s,i): product before / after that element; rank 0: 1.
    {"outer", "outer([2, 3, 4], 2)", "6"},
    {"outer", "outer([2, 3, 4], -1)", "6"},
    {"outer", "outer([2, 3, 4], 0)", "1"},
    {"outer", "outer([], 0)", "1"},
    {"outer", "outer(none, 0)", "error not a list"},
    {"inner", "inner([2, 3, 4], 0)", "12"},
    {"inner", "inner([2, 3, 4], -1)", "1"},
    {"inner", "inner([2, 3, 4], -3)", "12"},
    {"inner", "inner([], 0)", "1"},
    {"inner", "inner('ab', 0)", "error not a list"},
    // prefix(s,n) suffix(s,n): n clamped to >= 0.
    {"prefix", "prefix([2, 3, 4], 2)", "[2, 3]"},
    {"prefix", "prefix([2, 3, 4], 9)", "[2, 3, 4]"},
    {"prefix", "prefix([2, 3, 4], -1)", "[]"},
    {"prefix", "prefix([], 1)", "[]"},
    {"prefix", "prefix([2, 3], none)", "[]"},
    {"prefix", "prefix(2, 1)", "error not a list"},
    {"suffix", "suffix([2, 3, 4], 1)", "[3, 4]"},
    {"suffix", "suffix([2, 3, 4], 9)", "[]"},
    {"suffix", "suffix([2, 3, 4], -1)", "[2, 3, 4]"},
    {"suffix", "suffix(2, 1)", "error not a list"},
    // fill(v,n): n must be a non-negative integer.
    {"fill", "fill(7, 3)", "[7, 7, 7]"},
    {"fill", "fill('a', 0)", "[]"},
    {"fill", "fill(1, 4 / 2)", "[1, 1]"},
    {"fill", "fill(1, -1)", "error not a non-negative integer"},
    {"fill", "fill(1, 1.5)", "error not a non-negative integer"},
    {"fill", "fill(1, none)", "error not a non-negative integer"},
    {"fill", "fill(1, 1 / 0)", "error not a non-negative integer"},
    // moveAxis(s,from,to): integer axes in [-r, r).
    {"moveAxis", "moveAxis([2, 3, 4], 0, 2)", "[3, 4, 2]"},
    {"moveAxis", "moveAxis([2, 3, 4], -1, 0)", "[4, 2, 3]"},
    {"moveAxis", "moveAxis([2, 3, 4], 1, 1)", "[2, 3, 4]"},
    {"moveAxis", "moveAxis([2, 3, 4], 3, 0)", "error from (3)"},
    {"moveAxis", "moveAxis([2, 3, 4], 0, -4)", "error to (-4)"},
    {"moveAxis", "moveAxis([2, 3, 4], 0.5, 0)", "error from (0.5)"},
    {"moveAxis", "moveAxis([], 0, 0)", "error at least one item"},
    // permuteShape(s,axes): one axis per dim, integers in [-r, r), unique.
    {"permuteShape", "permuteShape([2, 3, 4], [2, 0, 1])", "[4, 2, 3]"},
    {"permuteShape", "permuteShape([2, 3, 4], [-1, 0, 1])", "[4, 2, 3]"},
    {"permuteShape", "permuteShape([], [])", "[]"},
    {"permuteShape", "permuteShape([2, 3], [0])", "error rank of s (2)"},
    {"permuteShape", "permuteShape([2, 3], [0, 2])", "error axes (2)"},
    {"permuteShape", "permuteShape([2, 3], [1, -1])", "error twice"},
    {"permuteShape", "permuteShape([2, 3], [0, 0.5])", "error axes (0.5)"},
    {"permuteShape", "permuteShape([2, 3], none)", "error not a list"},
    // reversedAxes(rank): non-negative integer.
    {"reversedAxes", "reversedAxes(3)", "[2, 1, 0]"},
    {"reversedAxes", "reversedAxes(0)", "[]"},
    {"reversedAxes", "reversedAxes(-1)", "error not a non-negative integer"},
    {"reversedAxes", "reversedAxes(2.5)", "error not a non-negative integer"},
    // broadcastShape(a,b): right-aligned; 1 yields to the other; unequal non-1 dims: error.
    {"broadcastShape", "broadcastShape([2, 1, 4], [3, 1])", "[2, 3, 4]"},
    {"broadcastShape", "broadcastShape([], [3])", "[3]"},
    {"broadcastShape", "broadcastShape([], [])", "[]"},
    {"broadcastShape", "broadcastShape([0], [1])", "[0]"},
    {"broadcastShape", "broadcastShape([2, 3], [2, 4])", "error 3 and 4"},
    {"broadcastShape", "broadcastShape([0], [2])", "error 0 and 2"},
    {"broadcastShape", "broadcastShape([2], shapes.missing)", "error not a list"},
    // matmulShape(a,b): a[-1] must equal b[-2]; batch dims broadcast; a vector side's own dim is dropped.
    {"matmulShape", "matmulShape([5, 2, 3], [3, 4])", "[5, 2, 4]"},
    {"matmulShape", "matmulShape([2, 3], [7, 3, 4])", "[7, 2, 4]"},
    {"matmulShape", "matmulShape([3], [3, 4])", "[4]"},
    {"matmulShape", "matmulShape([2, 3], [3])", "[2]"},
    {"matmulShape", "matmulShape([3], [3])", "[]"},
    {"matmulShape", "matmulShape([2, 3], [4, 3])", "error 3 and 4"},
    {"matmulShape", "matmulShape([2, 3], [4])", "error 3 and 4"},
    {"matmulShape", "matmulShape([], [3])", "error rank 1 or more"},
    {"matmulShape", "matmulShape([3], [])", "error rank 1 or more"},
    {"matmulShape", "matmulShape([2, 2, 3], [5, 3, 4])", "error 2 and 5"},
    // broadcastable(a,b): rank a <= rank b and each dim of a is 1 or equals b's.
    {"broadcastable", "broadcastable([1, 3], [2, 3])", "true"},
    {"broadcastable", "broadcastable([3], [2, 3])", "true"},
    {"broadcastable", "broadcastable([], [2])", "true"},
    {"broadcastable", "broadcastable([2, 3], [1, 3])", "false"},
    {"broadcastable", "broadcastable([1, 1, 3], [2, 3])", "false"},
    {"broadcastable", "broadcastable(1, [2])", "error not a list"},
    // sameShape(a,b): equal length and elements.
    {"sameShape", "sameShape([2, 3], [2, 3])", "true"},
    {"sameShape", "sameShape([2, 3], [2, 3.0])", "true"},
    {"sameShape", "sameShape([2, 3], [3, 2])", "false"},
    {"sameShape", "sameShape([2], [2, 3])", "false"},
    {"sameShape", "sameShape([], [])", "true"},
    {"sameShape", "sameShape([0 / 0], [0 / 0])", "false"},
    {"sameShape", "sameShape([], none)", "error not a list"},
    // hasAxis(axes,i,rank): some axis ≡ i modulo rank.
    {"hasAxis", "hasAxis([1, -1], 3, 4)", "true"},
    {"hasAxis", "hasAxis([1, -1], -3, 4)", "true"},
    {"hasAxis", "hasAxis([1], 2, 4)", "false"},
    {"hasAxis", "hasAxis([], 0, 4)", "false"},
    {"hasAxis", "hasAxis([0], 0, 0)", "false"},
    {"hasAxis", "hasAxis(1, 0, 4)", "error not a list"},
    // axisValue(values,axes,i,rank,default): values[k] if k is in range, else default.
    {"axisValue", "axisValue([7, 8], [0, -1], 3, 4, 1)", "8"},
    {"axisValue", "axisValue([7, 8], [0, -1], 1, 4, 1)", "1"},
    {"axisValue", "axisValue([7], [0, -1], 3, 4, 1)", "1"},
    {"axisValue", "axisValue([7], [0], 1, 4)", "none"},
    {"axisValue", "axisValue([], [], 0, 0, 5)", "5"},
    {"axisValue", "axisValue(none, [0], 0, 1, 5)", "error not a list"},
    // isUniqueIntList(l,lo,hi,rank=0): malformed arguments give false.
    {"isUniqueIntList", "isUniqueIntList([0, 2, 1], 0, 3)", "true"},
    {"isUniqueIntList", "isUniqueIntList([], 0, 3)", "true"},
    {"isUniqueIntList", "isUniqueIntList([0, 3], 0, 3)", "false"},
    {"isUniqueIntList", "isUniqueIntList([-1, 0], 0, 3)", "false"},
    {"isUniqueIntList", "isUniqueIntList([1, 1], 0, 3)", "false"},
    {"isUniqueIntList", "isUniqueIntList([-1, 2], -3, 3)", "true"},
    {"isUniqueIntList", "isUniqueIntList([-1, 2], -3, 3, 3)", "false"},
    {"isUniqueIntList", "isUniqueIntList([0.5], 0, 3)", "false"},
    {"isUniqueIntList", "isUniqueIntList(['1'], 0, 3)", "false"},
    {"isUniqueIntList", "isUniqueIntList(3, 0, 3)", "false"},
    {"isUniqueIntList", "isUniqueIntList(none, 0, 3)", "false"},
    {"isUniqueIntList", "isUniqueIntList([1], none, 3)", "false"},
    // has(obj,key): own key present; false for undefined.
    {"has", "has(attrs, 'axis')", "true"},
    {"has", "has(attrs, 'nope')", "false"},
    {"has", "has(attrs, 'keys')", "false"},
    {"has", "has(attrs.missing, 'x')", "false"},
    {"has", "has(none, 'x')", "false"},
    {"has", "has({'a': none}, 'a')", "true"},
    {"has", "has(3, 'x')", "false"},
    // dtypeBytes(x): storage bytes; else error.
    {"dtypeBytes", "dtypeBytes('float16')", "2"},
    {"dtypeBytes", "dtypeBytes('int8')", "4"},
    {"dtypeBytes", "dtypeBytes('bool')", "4"},
    {"dtypeBytes", "dtypeBytes('uint8')", "4"},
    {"dtypeBytes", "dtypeBytes('int64')", "8"},
    {"dtypeBytes", "dtypeBytes('vec2<u32>')", "8"},
    {"dtypeBytes", "dtypeBytes('f16')", "2"},
    {"dtypeBytes", "dtypeBytes('u32')", "4"},
    {"dtypeBytes", "dtypeBytes('float64')", "error name of a dtype"},
    {"dtypeBytes", "dtypeBytes(none)", "error name of a dtype"},
    // onnxDtypeCode(x): logical names only.
    {"onnxDtypeCode", "onnxDtypeCode('float32')", "1"},
    {"onnxDtypeCode", "onnxDtypeCode('uint8')", "2"},
    {"onnxDtypeCode", "onnxDtypeCode('int64')", "7"},
    {"onnxDtypeCode", "onnxDtypeCode('bool')", "9"},
    {"onnxDtypeCode", "onnxDtypeCode('float16')", "10"},
    {"onnxDtypeCode", "onnxDtypeCode('uint32')", "12"},
    {"onnxDtypeCode", "onnxDtypeCode('f32')", "error name of a dtype"},
    {"onnxDtypeCode", "onnxDtypeCode('vec2<u32>')", "error name of a dtype"},
    // pick([[c,v],...], default): an empty list is true here; entries must be lists of >= 2.
    {"pick", "pick([[false, 1], [true, 2]], 3)", "2"},
    {"pick", "pick([[0, 1], ['', 2], [none, 3], [0 / 0, 4], [attrs.missing, 5]], 6)", "6"},
    {"pick", "pick([[[], 1]], 2)", "1"},
    {"pick", "pick([[{}, 1]], 2)", "1"},
    {"pick", "pick([], 2)", "2"},
    {"pick", "pick([])", "none"},
    {"pick", "pick([[true, 4 / 2]], 0)", "2"},
    {"pick", "pick([[true]], 2)", "error [condition, value]"},
    {"pick", "pick([true], 2)", "error [condition, value]"},
    {"pick", "pick(none, 2)", "error not a list"},
    // f16Ok(x): false only for f16/float16 without feature shader-f16 (this scope has no device).
    {"f16Ok", "f16Ok('f16')", "false"},
    {"f16Ok", "f16Ok('float16')", "false"},
    {"f16Ok", "f16Ok('f32')", "true"},
    {"f16Ok", "f16Ok(none)", "true"},
};

const Scope& scope() {
  static const Scope names = [] {
    Scope made(&functions(false));
    made.set("attrs", Value::dict({{"axis", Value::number(3)}}));
    made.set("shapes", Value::dict({{"data", Value::list(std::vector<Value>{Value::number(2)})}}));
    return made;
  }();
  return names;
}

std::string outcome(const std::string& text) {
  try {
    const Value value = Expression::parse(text, {}).evaluate(scope());
    if (value.is_none() || value.is_undefined()) return std::string(to_string(value.kind()));
    return print(value);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::expression) << text;
    EXPECT_FALSE(error.where().empty()) << text;
    return std::string("error ").append(error.message());
  }
}

// format.md 4.9, and points 38 to 42 of format.md 15.
TEST(Functions, FollowTheTable) {
  std::set<std::string> covered;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    covered.insert(row.function);
    const std::string got = outcome(row.expression);
    const std::string expected = row.expected;
    if (expected.rfind("error ", 0) == 0) {
      EXPECT_EQ(got.substr(0, 6), "error ");
      EXPECT_NE(got.find(expected.substr(6)), std::string::npos) << got;
    } else {
      EXPECT_EQ(got, expected);
    }
  }
  std::cout << kRows.size() << " calls of " << covered.size() << " functions\n";
  EXPECT_GE(kRows.size(), 170u);
  for (const std::string_view name : function_names())
    EXPECT_EQ(covered.count(std::string(name)), 1u) << name;
}

TEST(Functions, F16IsFineOnADeviceThatHasIt) {
  const Expression expression = Expression::parse("f16Ok('f16') and f16Ok('float16')", {});
  EXPECT_TRUE(expression.evaluate(functions(true)).boolean());
}

// 4.4: a number that a function returns is int if and only if it is integral.
TEST(Functions, ResultsAreRetagged) {
  for (const char* text :
       {"ceil(2.5) is integer", "(pick([[true, 4 / 2]], 0)) is integer", "fill(4 / 2, 1)[0] is integer",
        "numel([1.0, 2.0]) is integer", "prefix([2.0], 1)[0] is integer", "pow(2, -1) is not integer",
        "max(1, 2.0) is integer"}) {
    EXPECT_TRUE(Expression::parse(text, {}).evaluate(scope()).boolean()) << text;
  }
}

// 5.3
TEST(Functions, NamesAreReserved) {
  for (const std::string_view name : function_names()) EXPECT_TRUE(is_reserved_name(name)) << name;
  for (const char* name : {"shapes", "loop", "env", "True", "None", "dict", "DISPATCH_FOLD_WIDTH"}) {
    EXPECT_TRUE(is_reserved_name(name)) << name;
  }
  EXPECT_FALSE(is_reserved_name("rows_per_group"));
}

}  // namespace
}  // namespace kernelpack::expr
