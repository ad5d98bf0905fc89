#include "webgpu/pipelines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "webgpu/device_fixture_test.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

class PipelinesTest : public DeviceTest {
 protected:
  // Passes whose texts differ, so that each needs a pipeline of its own.
  std::vector<PlannedPass> passes(std::size_t count) {
    static int unique = 0;
    std::vector<PlannedPass> made;
    for (std::size_t i = 0; i < count; ++i) {
      PlannedPass pass = add_plan(64).passes[0];
      pass.id = "pass" + std::to_string(i);
      pass.wgsl = *pass.wgsl + "// " + std::to_string(++unique) + "\n";
      made.push_back(std::move(pass));
    }
    return made;
  }
  static std::vector<const PlannedPass*> pointers(const std::vector<PlannedPass>& list) {
    std::vector<const PlannedPass*> result;
    for (const PlannedPass& pass : list) result.push_back(&pass);
    return result;
  }
};

TEST_P(PipelinesTest, CompilesSeveralAndCountsThem) {
  PipelineCache cache(engine_->device());
  std::vector<PlannedPass> list = passes(9);
  list.push_back(list[0]);
  cache.get(list[3]);
  std::vector<std::size_t> steps;
  cache.get_all(pointers(list), [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, 9u);
    steps.push_back(done);
  });
  EXPECT_EQ(steps, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(cache.compiled(), 9u);
  for (const PlannedPass& pass : list) EXPECT_NE(cache.get(pass)->pipeline.get(), nullptr);
  EXPECT_EQ(cache.compiled(), 9u) << "compiled again";
  std::size_t calls = 0;
  cache.get_all(pointers(list), [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(done, total);
    ++calls;
  });
  EXPECT_EQ(calls, 1u);
}

TEST_P(PipelinesTest, NamesTheFirstThatFailsAndCompilesTheOthers) {
  PipelineCache cache(engine_->device());
  std::vector<PlannedPass> list = passes(8);
  list[2].entry_point = "absent";
  list[5].wgsl = "fn broken( {}";
  try {
    cache.get_all(pointers(list));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::shader);
    EXPECT_NE(error.message().find("pass pass2 "), std::string::npos) << error.report();
  }
  EXPECT_EQ(cache.compiled(), 6u);
  EXPECT_THROW(cache.get(list[5]), Error);
  cache.get(list[7]);
  EXPECT_EQ(cache.compiled(), 6u);
}

TEST_P(PipelinesTest, ProgressMayUseTheDevice) {
  PipelineCache cache(engine_->device());
  const std::vector<PlannedPass> list = passes(4);
  std::size_t runs = 0;
  cache.get_all(pointers(list), [&](std::size_t, std::size_t) {
    const Tensor in = Tensor::from(std::vector<float>(64, 1.0f), {64});
    Tensor out(DType::float32, {64});
    run(*engine_, add_plan(64),
        std::vector<HostTensor>{{&in.view()}, {&in.view()}, {nullptr, &out.mutable_view()}});
    EXPECT_EQ(out.values<float>()[0], 2.0f);
    ++runs;
  });
  EXPECT_EQ(runs, 5u);
}

TEST_P(PipelinesTest, PrewarmsPlansWithoutUploadingAnythingLater) {
  Plan two = add_plan(64);
  two.passes.push_back(two.passes[0]);
  two.passes[1].id = "again";
  two.passes[1].wgsl = *two.passes[1].wgsl + "// prewarmed\n";
  Plan empty = add_plan(64);
  empty.passes[0].wgsl = *empty.passes[0].wgsl + "// never needed\n";
  empty.passes[0].workgroups = {0, 1, 1};
  const auto before = engine_->pipelines().compiled();
  const std::vector<std::shared_ptr<const Plan>> plans{std::make_shared<const Plan>(two),
                                                       std::make_shared<const Plan>(empty)};
  prewarm(*engine_, plans, {});
  const auto after = engine_->pipelines().compiled();
  EXPECT_GE(after, before + 1);
  EXPECT_LE(after, before + 2) << "a pass without workgroups was compiled";
  const auto program = engine_->program(plans[0]);
  EXPECT_EQ(engine_->pipelines().compiled(), after);
  EXPECT_EQ(program->passes.size(), 2u);
}

KERNELPACK_FOR_EACH_LIBRARY(PipelinesTest);

}  // namespace
}  // namespace kernelpack::webgpu
