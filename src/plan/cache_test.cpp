#include "plan/cache.hpp"

#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "kernelpack/error.hpp"

namespace kernelpack::plan {
namespace {

Call call_of(std::int64_t rows) {
  Call call;
  call.op = "test.Op";
  call.inputs = {{.name = "x", .dtype = DType::float32, .storage = DType::float32, .shape = {rows, 4}}};
  call.outputs = {{.name = "y", .dtype = DType::float32, .storage = DType::float32, .shape = {rows, 4}}};
  call.types = {{"T", DType::float32, DType::float32}};
  call.attributes = {{"axis", -1}};
  return call;
}

Plan plan_named(std::string variant) {
  Plan plan;
  plan.variant = std::move(variant);
  return plan;
}

TEST(PlanCache, SameKeySamePlan) {
  Cache cache;
  int made = 0;
  const auto get = [&](const Call& call, const DeviceFacts& facts, const PlanOptions& options = {}) {
    return cache.get(call, facts, options, [&] { return plan_named(std::to_string(++made)); });
  };
  const auto first = get(call_of(1), {});
  EXPECT_EQ(get(call_of(1), {}).get(), first.get());
  EXPECT_EQ(made, 1);
  EXPECT_EQ(cache.size(), 1u);

  std::set<const Plan*> plans{first.get()};
  const auto differs = [&](const Call& call, const DeviceFacts& facts, const PlanOptions& options = {}) {
    const int before = made;
    const auto plan = get(call, facts, options);
    EXPECT_EQ(made, before + 1);
    EXPECT_TRUE(plans.insert(plan.get()).second);
    EXPECT_EQ(get(call, facts, options).get(), plan.get());
  };
  const auto changed = [](auto change) {
    Call call = call_of(1);
    change(call);
    return call;
  };
  differs(call_of(2), {});
  differs(changed([](Call& call) { call.inputs[0].dtype = DType::float16; }), {});
  differs(changed([](Call& call) { call.inputs[0].storage = DType::int32; }), {});
  differs(changed([](Call& call) { call.inputs[0].packed = true; }), {});
  differs(changed([](Call& call) { call.inputs[0].saturating = true; }), {});
  differs(changed([](Call& call) { call.outputs.clear(); }), {});
  differs(changed([](Call& call) { call.types[0].name = "U"; }), {});
  differs(changed([](Call& call) { call.attributes[0].value = "text"; }), {});
  differs(changed([](Call& call) { call.attributes[0].value = std::vector<int>{1, 2}; }), {});
  differs(changed([](Call& call) { call.arguments = {{"n", 3}}; }), {});
  differs(changed([](Call& call) { call.tunables = {{"N", true}}; }), {});
  differs(changed([](Call& call) { call.variant = "v"; }), {});
  DeviceFacts facts;
  facts.features = {"subgroups"};
  differs(call_of(1), facts);
  facts.features = {"shader-f16"};
  differs(call_of(1), facts);
  facts.limits = {{"maxBufferSize", 1000}};
  differs(call_of(1), facts);
  facts.limits = {{"maxComputeWorkgroupStorageSize", 1000}};
  differs(call_of(1), facts);
  facts.architecture = "hopper";
  differs(call_of(1), facts);
  facts.subgroup_matrix_configs.emplace();
  differs(call_of(1), facts);
  differs(call_of(1), {}, {.allow_missing_templates = true, .buffers = {}, .profile = {}});
  differs(call_of(1), {}, {.allow_missing_templates = false, .buffers = {{"x", "b", 0}}, .profile = {}});
  differs(call_of(1), {}, {.allow_missing_templates = false, .buffers = {{"y", "b", 0}}, .profile = {}});
  differs(call_of(1), {}, {.allow_missing_templates = false, .buffers = {}, .profile = {{"N", 1}}});
}

TEST(PlanCache, ForgetsTheOldest) {
  Cache cache(2);
  int made = 0;
  const auto get = [&](std::int64_t rows) {
    return cache.get(call_of(rows), {}, {}, [&] { return plan_named(std::to_string(++made)); });
  };
  const auto first = get(1);
  get(2);
  get(3);
  EXPECT_EQ(cache.size(), 2u);
  get(2);
  EXPECT_EQ(made, 3);
  get(1);
  EXPECT_EQ(made, 4);
  EXPECT_EQ(first->variant, "1");
}

TEST(PlanCache, PlansOutliveIt) {
  std::shared_ptr<const Plan> plan;
  {
    Cache cache;
    plan = cache.get(call_of(1), {}, {}, [] { return plan_named("kept"); });
  }
  EXPECT_EQ(plan->variant, "kept");
}

TEST(PlanCache, AFailureLeavesNoTrace) {
  Cache cache;
  const auto fail = []() -> Plan { throw Error(ErrorKind::limit, "The plan fails"); };
  EXPECT_THROW(cache.get(call_of(1), {}, {}, fail), Error);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.get(call_of(1), {}, {}, [] { return plan_named("made"); })->variant, "made");
}

TEST(PlanCache, ThreadsGetOnePlanPerKey) {
  constexpr std::size_t kThreads = 8;
  constexpr std::int64_t kKeys = 20;
  Cache cache;
  std::vector<std::vector<const Plan*>> seen(kThreads);
  std::vector<std::shared_ptr<const Plan>> kept[kThreads];
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 50; ++round)
        for (std::int64_t key = 0; key < kKeys; ++key) {
          const auto plan = cache.get(call_of(key), {}, {}, [&] { return plan_named(std::to_string(key)); });
          EXPECT_EQ(plan->variant, std::to_string(key));
          if (round == 49) {
            seen[thread].push_back(plan.get());
            kept[thread].push_back(plan);
          }
        }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t thread = 1; thread < kThreads; ++thread) EXPECT_EQ(seen[thread], seen[0]);
  EXPECT_EQ(cache.size(), static_cast<std::size_t>(kKeys));
}

}  // namespace
}  // namespace kernelpack::plan
