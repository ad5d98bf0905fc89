// The shared cases on both generations and libraries.
#include <cstdio>
#include <map>
#include <set>

#include "gpu_run.hpp"
#include "shared_calls.hpp"

namespace kernelpack::conformance {
namespace {

class SharedCases : public ConformanceTest {
 protected:
  /// On the device with all features and, with `everywhere`, on that without any. Returns the results on the
  /// first.
  Tensor run(const cpu::SharedCase& shared, bool everywhere) {
    SCOPED_TRACE(shared.label + " " + std::string(to_string(shared.op.data.dtype())));
    const Problem problem(kernel(), shared.op);
    Tensor output;
    for (const Place* place : {&no_features(), &all_features()}) {
      if (place == &no_features() && !everywhere) continue;
      if (shared.op.data.dtype() == DType::float16 && !has_halves(*place)) {
        EXPECT_EQ(plan_if_any(kernel(), bind(kernel(), shared.op), place->facts), nullptr);
        ++refused_;
        continue;
      }
      Result result = expect_right(kernel(), *place, problem, {}, shared.exact);
      cpu::expect_as_written(shared, result.output, 1e-6);
      variants_.insert(result.variant);
      ++ran_;
      output = std::move(result.output);
    }
    return output;
  }
  void expect_counts(std::size_t runs, std::size_t variants) const {
    std::printf("%zu runs by %zu variants, %zu refused without shader-f16\n", ran_, variants_.size(),
                refused_);
    EXPECT_GE(ran_ + refused_, runs);
    EXPECT_GE(variants_.size(), variants);
    EXPECT_EQ(refused_ > 0, first_generation());
  }

  std::size_t ran_ = 0;
  std::size_t refused_ = 0;
  std::set<std::string> variants_;
};

TEST_P(SharedCases, EveryCase) {
  KERNELPACK_REQUIRE_SHARED("cases.json");
  const json::Document document = cpu::read_shared("cases.json");
  std::size_t entries = 0;
  for (const json::Value& entry : document.root.items()) {
    for (const DType dtype : {DType::float32, DType::float16}) {
      std::map<std::string, std::vector<double>> outputs;
      const std::vector<cpu::SharedCase> calls = shared_calls(entry, dtype);
      // Shaders take long to compile, so the sizes that a case is repeated for run on one device.
      for (const cpu::SharedCase& shared : calls)
        outputs[shared.label] = cpu::doubles_of(run(shared, &shared == &calls[0] || long_form()));
      if (entry.find("id")->string() == "outer_broadcast_moe") {
        EXPECT_NE(outputs.at("outer_broadcast_moe, outer"), outputs.at("outer_broadcast_moe, inner"));
      }
    }
    ++entries;
  }
  EXPECT_GE(entries, 12u);
  expect_counts(long_form() ? 290 : 170, 3);
}

TEST_P(SharedCases, OnnxRuntimeShapes) {
  KERNELPACK_REQUIRE_SHARED("onnxruntime_shapes.json");
  for (const cpu::SharedCase& shared : cpu::onnxruntime_cases(cpu::read_shared("onnxruntime_shapes.json")))
    run(shared, true);
  expect_counts(32, 1);
}

// [B, 1, Q, K] fits neither broadcast. Nothing is guessed: without the attribute that chooses one, the
// request is refused, and the message names it.
TEST_P(SharedCases, MiddleBroadcastIsNotGuessed) {
  KERNELPACK_REQUIRE_SHARED("cases.json");
  const json::Document document = cpu::read_shared("cases.json");
  std::size_t refused = 0;
  for (const json::Value& entry : document.root.items()) {
    if (!entry.find("is_inner_broadcast")->is_null()) continue;
    for (const DType dtype : {DType::float32, DType::float16}) {
      const std::vector<NamedSpec> specs{{"data", {dtype, cpu::shape_of(*entry.find("shape_data"))}},
                                         {"bias", {dtype, cpu::shape_of(*entry.find("shape_bias"))}}};
      try {
        kernel().bind(specs, {.attributes = {{"axis", entry.find("axis")->number()}}});
        ADD_FAILURE() << "a broadcast was guessed";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::contract);
        EXPECT_NE(error.message().find("is_inner_broadcast"), std::string::npos) << error.line();
        ++refused;
      }
    }
  }
  EXPECT_GE(refused, 2u);
}

KERNELPACK_FOR_EACH_SETTING(SharedCases);

}  // namespace
}  // namespace kernelpack::conformance
