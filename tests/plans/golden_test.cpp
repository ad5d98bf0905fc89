// Plans of our own packages, per case and device, against stored texts. KERNELPACK_UPDATE_GOLDENS=1 writes
// them.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "kernelpack/package.hpp"
#include "kernelpack/request.hpp"
#include "plan/planner.hpp"

namespace kernelpack {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLeastPlans = 92;
constexpr std::size_t kFileBytes = 16u << 20;

/// The plan for people, then the shaders.
std::string text_of(const Package& package, const json::Value& request, const DeviceFacts& facts) {
  try {
    const Request read = Request::from_json(json::write(request), "request", package);
    const Plan plan =
        plan::make_plan(package.model(), read.bind(package), facts,
                        {.allow_missing_templates = false, .buffers = read.buffers, .profile = {}});
    std::string text = to_string(plan);
    for (const PlannedPass& pass : plan.passes)
      text += fmt::format("\n---- {}\n{}\n", pass.id, pass.wgsl.value_or("none"));
    return text;
  } catch (const Error& error) {
    return error.line() + "\n";
  }
}

TEST(GoldenPlans, EqualTheStoredTexts) {
  const fs::path root = fs::path(KERNELPACK_SOURCE_DIR) / "tests";
  const char* update = std::getenv("KERNELPACK_UPDATE_GOLDENS");
  const bool writing = update != nullptr && std::string_view(update) == "1";
  std::size_t compared = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "plans")) {
    if (entry.path().extension() != ".json") continue;
    const json::Document cases =
        json::parse(read_file(entry.path(), kFileBytes), entry.path().filename().string());
    const Package package =
        Package::load(fs::path(KERNELPACK_SOURCE_DIR) / cases.root.find("package")->string());
    const fs::path folder = root / "plans" / entry.path().stem();
    std::set<std::string> outcomes;
    for (const json::Value& device : cases.root.find("devices")->items()) {
      const DeviceFacts facts = DeviceFacts::from_json(
          read_file(root / "devices" / (device.string() + ".json"), kFileBytes), device.string());
      for (const json::Member& request : cases.root.find("cases")->members()) {
        const fs::path golden = folder / fmt::format("{}.{}.txt", request.key, device.string());
        const std::string text = text_of(package, request.value, facts);
        outcomes.insert(text.substr(0, text.find('\n')));
        ++compared;
        if (writing) {
          fs::create_directories(folder);
          std::ofstream(golden, std::ios::binary) << text;
          continue;
        }
        ASSERT_TRUE(fs::exists(golden)) << golden << " is absent; KERNELPACK_UPDATE_GOLDENS=1 writes it";
        EXPECT_EQ(text, read_file(golden, kFileBytes))
            << golden << "; KERNELPACK_UPDATE_GOLDENS=1 writes what is planned now";
      }
    }
    for (const PackageSummary::Variant& variant : package.describe().variants)
      EXPECT_TRUE(outcomes.contains(fmt::format("plan of {}: variant {}", package.op_id(), variant.id)))
          << entry.path() << " has no plan of " << variant.id;
  }
  std::printf("%zu plans equal their goldens\n", compared);
  EXPECT_GE(compared, kLeastPlans);
}

}  // namespace
}  // namespace kernelpack
