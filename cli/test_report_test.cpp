#include "test_report.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kernelpack::cli {
namespace {

TestReport report() {
  TestReport made;
  made.package = "./mine";
  made.op = "test.Mine";
  made.devices = {{"cpu", "cpu (avx3, 2 threads)", "", false}, {"gpu", "A GPU (vulkan, Dawn)", "1.2", false}};
  made.variants = {"fast", "plain", "never"};
  made.notes = {"a note"};
  made.cases = 2;
  TestRow planned{"one", "plan", {"fast", "plain"}, true};
  TestRow cpu{"one", "cpu", {}, false, TestOutcome::ok, 0.25, 2e-6};
  TestRow gpu{"one",
              "gpu",
              {"fast"},
              false,
              TestOutcome::failed,
              std::numeric_limits<double>::infinity(),
              3e-3,
              "1 of 2 elements of y are wrong"};
  TestRow skipped{"two", "gpu", {}, false, TestOutcome::skipped, -1, -1, "no_variant: none"};
  made.rows = {planned, cpu, gpu, skipped};
  return made;
}

TEST(TestReport, PrintsATable) {
  EXPECT_EQ(to_text(report()), R"(test.Mine, 2 cases
cpu: cpu (avx3, 2 threads)
gpu: A GPU (vulkan, Dawn), 1.2

  case  device  variant              tolerance  time     result
  one   plan    2 variants (pinned)  -          -        ok
  one   cpu     -                    0.250      2.0 us   ok
  one   gpu     fast                 inf        3.00 ms  FAILED
      1 of 2 elements of y are wrong
  two   gpu     -                    -          -        skipped
      no_variant: none

tolerance: the worst element's difference from the reference, in parts of what
is allowed.
Variants that planning chose (2 of 3): fast, plain; not: never.
Variants that ran on the GPU (1 of 3): fast; not: plain, never.
2 ok, 1 failed, 1 skipped
)");
}

TEST(TestReport, SaysNothingOfWhatIsNotThere) {
  TestReport empty;
  empty.op = "test.Mine";
  empty.variants = {"plain"};
  empty.cases = 1;
  empty.rows = {TestRow{"one", "cpu", {}, false, TestOutcome::unchecked, -1, 1e-6}};
  EXPECT_EQ(to_text(empty), R"(test.Mine, 1 case

  case  device  variant  tolerance  time    result
  one   cpu     -        -          1.0 us  unchecked

0 ok, 1 unchecked
)");
}

TEST(TestReport, TellsEverythingInJson) {
  const Json json = to_json(report());
  EXPECT_EQ(json["schema"], "kernelpack-test/1");
  EXPECT_EQ(json["devices"][1]["driver"], "1.2");
  EXPECT_EQ(json["notes"][0], "a note");
  EXPECT_EQ(json["results"][0]["variants"], (Json{"fast", "plain"}));
  EXPECT_EQ(json["results"][0]["pinned"], true);
  EXPECT_FALSE(json["results"][0].contains("seconds"));
  EXPECT_FALSE(json["results"][1].contains("reason"));
  EXPECT_EQ(json["results"][2]["ofTolerance"], "Infinity");
  EXPECT_EQ(json["results"][2]["result"], "failed");
  EXPECT_EQ(json["variants"][0], (Json{{"id", "fast"}, {"planned", 1}, {"ran", 1}}));
  EXPECT_EQ(json["variants"][1], (Json{{"id", "plain"}, {"planned", 1}, {"ran", 0}}));
  EXPECT_EQ(json["summary"], (Json{{"ok", 2}, {"failed", 1}, {"skipped", 1}, {"unchecked", 0}}));
}

}  // namespace
}  // namespace kernelpack::cli
