// docs/package-format.md shows tests/packages/scale and what becomes of it.
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "contract/bind.hpp"
#include "kernelpack/package.hpp"
#include "plan/planner.hpp"

namespace kernelpack {
namespace {

constexpr std::size_t kFileBytes = 1u << 20;

/// The text of the page's code blocks of that language, in order.
std::vector<std::string> blocks(const std::string& page, const std::string& language) {
  std::vector<std::string> found;
  const std::string open = "```" + language + "\n";
  for (std::size_t at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
    at += open.size();
    const std::size_t end = page.find("```", at);
    found.push_back(page.substr(at, end - at));
    at = end;
  }
  return found;
}

TEST(Documents, TheWorkedExampleIsTrue) {
  const std::filesystem::path root = KERNELPACK_SOURCE_DIR;
  const std::filesystem::path folder = root / "tests/packages/scale/build/webgpu";
  const std::string page = read_file(root / "docs/package-format.md", kFileBytes);
  const std::vector<std::string> json = blocks(page, "json");
  const std::vector<std::string> wgsl = blocks(page, "wgsl");
  ASSERT_EQ(json.size(), 1u);
  ASSERT_EQ(wgsl.size(), 2u);
  EXPECT_EQ(json[0], read_file(folder / "manifest.json", kFileBytes));
  EXPECT_EQ(wgsl[0], read_file(folder / "scale.wgsl.jinja", kFileBytes));

  const Package package = Package::load(folder);
  const Call call = contract::bind(package.model(), std::vector<NamedSpec>{{"x", {DType::float16, {8, 100}}}},
                                   {.arguments = {{"factor", 1.0}}});
  DeviceFacts facts;
  facts.features = {"shader-f16"};
  const Plan plan = plan::make_plan(package.model(), call, facts);
  EXPECT_EQ(plan.variant, "vec4");
  const PlannedPass& pass = plan.passes.at(0);
  EXPECT_EQ(pass.wgsl.value_or("") + "\n", wgsl[1]);
  EXPECT_EQ(pass.workgroups, (std::array<std::uint32_t, 3>{4, 1, 1}));
  EXPECT_EQ(pass.bindings.at(2).words, (std::vector<std::uint32_t>{800, 0x3F800000u, 0, 0}));
}

}  // namespace
}  // namespace kernelpack
