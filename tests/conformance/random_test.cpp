// Random calls of both generations on both libraries against the reference. KERNELPACK_TEST_SEED=N draws
// others.
#include <cstdio>
#include <map>
#include <set>

#include <fmt/format.h>

#include "random_call.hpp"

namespace kernelpack::conformance {
namespace {

constexpr std::uint64_t kCases = 400;
constexpr std::uint64_t kLongCases = 2000;
/// Choices of what goes into the text of shaders, which take long to compile.
constexpr std::uint64_t kChoices = 40;

std::mt19937_64 numbers(std::uint64_t stream, std::uint64_t index) {
  std::seed_seq seed{cpu::test_seed() & 0xffffffffu, cpu::test_seed() >> 32, stream, index};
  return std::mt19937_64(seed);
}

class Random : public ConformanceTest {
 protected:
  /// What variant is to run: mostly the one that planning chooses, at times any other that takes the call.
  std::string draw_variant(std::mt19937_64& random, const RandomCall& drawn, const Place& place) const {
    if (random() % 3 != 0) return "";
    std::vector<std::string> able;
    for (const std::string& variant : variants())
      if (plan_if_any(kernel(), bind(kernel(), drawn, variant), place.facts) != nullptr)
        able.push_back(variant);
    return able.empty() ? "" : able[random() % able.size()];
  }
  static Call bind(const Kernel& kernel, const RandomCall& drawn, const std::string& variant) {
    return kernel.bind(
        std::vector<NamedSpec>{{"data", {drawn.dtype, drawn.data}}, {"bias", {drawn.dtype, drawn.bias}}},
        {.attributes = {{"axis", drawn.axis}, {"is_inner_broadcast", drawn.inner}},
         .tunables = drawn.tunables,
         .variant = variant});
  }
};

TEST_P(Random, CallsAgreeWithTheReference) {
  const std::vector<TunableRange> tunables = read_benchmark_cases(kernel().package()).tunables;
  const std::uint64_t cases = long_form() ? kLongCases : kCases;
  std::map<std::string, std::size_t> reached;
  std::set<std::string> places_reached;
  std::size_t refused = 0, pinned = 0, tuned = 0;
  std::printf("seed %llu\n", static_cast<unsigned long long>(cpu::test_seed()));
  for (std::uint64_t i = 0; i < cases && !HasFailure(); ++i) {
    // The first generation writes row counts and broadcast into its shaders; nothing of the current one
    // depends on them, so that they may change from case to case.
    const std::uint64_t choice = long_form() && !first_generation() ? i : i % kChoices;
    std::mt19937_64 random = numbers(0, choice);
    const Place& place = places()[random() % places().size()];
    RandomCall drawn = random_call(random, tunables, choice % 20 == 19);
    const std::string variant = draw_variant(random, drawn, place);
    std::mt19937_64 values = numbers(1, i);
    if (!first_generation() && variant.empty()) draw_rows(values, drawn);
    SCOPED_TRACE(fmt::format("case {} of seed {}: {}, {}, {}", i, cpu::test_seed(), describe(drawn),
                             place.name, variant.empty() ? "no variant pinned" : variant));
    if (drawn.dtype == DType::float16 && !has_halves(place)) {
      EXPECT_EQ(plan_if_any(kernel(), bind(kernel(), drawn, ""), place.facts), nullptr);
      ++refused;
      continue;
    }
    const Problem problem(kernel(), random_values(values, drawn));
    const Result result = expect_right(kernel(), place, problem, {variant, drawn.tunables});
    ++reached[result.variant];
    places_reached.insert(place.name);
    pinned += !variant.empty();
    tuned += !drawn.tunables.empty();
  }
  std::printf("%llu cases, %zu with a pinned variant, %zu with tunables, %zu refused without shader-f16\n",
              static_cast<unsigned long long>(cases), pinned, tuned, refused);
  for (const auto& [variant, count] : reached) std::printf("  %s %zu\n", variant.c_str(), count);
  EXPECT_GE(reached.size(), first_generation() ? 3u : 7u);
  EXPECT_EQ(places_reached.size(), places().size());
  EXPECT_GE(cases - refused, long_form() ? 1600u : 320u);
}

KERNELPACK_FOR_EACH_SETTING(Random);

}  // namespace
}  // namespace kernelpack::conformance
