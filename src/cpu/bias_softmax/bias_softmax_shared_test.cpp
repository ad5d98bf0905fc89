// The shared cases of other implementations, where they are present.
#include <cstdio>
#include <map>

#include "cpu/bias_softmax/shared_cases_test.hpp"

namespace kernelpack::cpu {
namespace {

TEST(BiasSoftmaxSharedCases, WrittenValues) {
  KERNELPACK_REQUIRE_SHARED("cases.json");
  const json::Document document = read_shared("cases.json");
  std::size_t cases = 0, rows = 0;
  for (const json::Value& entry : document.root.items()) {
    for (const DType dtype : {DType::float32, DType::float16}) {
      for (const SharedCase& shared : written_cases(entry, dtype)) {
        SCOPED_TRACE(shared.label);
        expect_as_written(shared, shared.op.expect_right(), 2e-7);
        rows += shared.rows.size();
        ++cases;
      }
    }
  }
  std::printf("%zu cases with written values, %zu expected rows\n", cases, rows);
  EXPECT_GE(cases, 8u);
  EXPECT_GE(rows, 10u);
}

TEST(BiasSoftmaxSharedCases, EveryCaseHasItsTest) {
  KERNELPACK_REQUIRE_SHARED("cases.json");
  // Cases that describe their values in words are written out in bias_softmax_test.cpp.
  const std::map<std::string, std::string> tests = {
      {"fully_masked_bias_row", "MaskedRowsAreZeroAndOthersUnharmed"},
      {"f32_lowest_mask", "LowestIsAnOrdinaryNumber"},
      {"f16_uniform_4096", "UniformHalvesAreExact"},
      {"flatten_suffix_axis1", "ReducesOverAllAxesFromAxisOn"},
      {"outer_broadcast_moe", "InnerAndOuterTakeOtherBiasRows"},
      {"single_column_is_exact_one", "OneColumnIsExactlyOne"},
      {"max_position_sweep_63", "OneHotRowsAreExact"},
      {"width_boundaries_1023_1025", "WidthsAroundPowersOfTwo"},
      {"long_row_65537", "LongRowsSumToOne"},
      {"nonfinite_row_isolation", "NonFiniteRowsStayAlone"},
      {"causal_8x12x71x71", "CausalMaskLeavesExactZeros"},
  };
  const testing::TestSuite* suite = nullptr;
  for (int i = 0; i < testing::UnitTest::GetInstance()->total_test_suite_count(); ++i) {
    const testing::TestSuite* candidate = testing::UnitTest::GetInstance()->GetTestSuite(i);
    if (std::string(candidate->name()) == "BiasSoftmax") suite = candidate;
  }
  ASSERT_NE(suite, nullptr);
  const json::Document document = read_shared("cases.json");
  int cases = 0;
  for (const json::Value& entry : document.root.items()) {
    const std::string& id = entry.find("id")->string();
    // Deriving is_inner_broadcast from shapes is no part of the kernel.
    if (id == "middle_broadcast_rejected") continue;
    ++cases;
    ASSERT_TRUE(tests.contains(id)) << id;
    bool found = false;
    for (int i = 0; i < suite->total_test_count(); ++i)
      found |= tests.at(id) == suite->GetTestInfo(i)->name();
    EXPECT_TRUE(found) << id;
  }
  std::printf("%d cases\n", cases);
  EXPECT_GE(cases, 11);
}

TEST(BiasSoftmaxSharedCases, OnnxRuntimeShapes) {
  KERNELPACK_REQUIRE_SHARED("onnxruntime_shapes.json");
  const std::vector<SharedCase> cases = onnxruntime_cases(read_shared("onnxruntime_shapes.json"));
  for (const SharedCase& shared : cases) {
    SCOPED_TRACE(shared.label);
    shared.op.expect_right();
  }
  std::printf("%zu cases\n", cases.size());
  EXPECT_GE(cases.size(), 16u);
}

}  // namespace
}  // namespace kernelpack::cpu
