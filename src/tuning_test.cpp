#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include <unistd.h>

#include "kernelpack/batch.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/file.hpp"
#include "kernelpack/tuning.hpp"

namespace kernelpack {
namespace {

std::filesystem::path packages() {
  return std::filesystem::path(KERNELPACK_SOURCE_DIR) / "packages";
}

class TuningTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto driver = std::filesystem::path(KERNELPACK_SOURCE_DIR) / "build/webgpu/lavapipe/lvp_icd.json";
    if (std::filesystem::exists(driver)) setenv("VK_DRIVER_FILES", driver.c_str(), 0);
    folder_ = std::filesystem::temp_directory_path() / ("kernelpack-tuning-" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    setenv("KERNELPACK_TUNING", folder_.c_str(), 1);
    try {
      device_ = Device::open();
    } catch (const Error& error) {
      const auto is = [](const char* name, std::string_view value) {
        const char* text = std::getenv(name);
        return text != nullptr && text == value;
      };
      if (is("CI", "true") || is("KERNELPACK_REQUIRE_GPU", "1")) FAIL() << error.report();
      GTEST_SKIP() << error.report();
    }
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    unsetenv("KERNELPACK_TUNING");
  }

  static Kernel kernel() { return Kernel::get((packages() / "com.microsoft.BiasSoftmax").string()); }
  static Call call(const Kernel& kernel) {
    const std::vector<NamedSpec> specs{{"data", {DType::float32, {64, 96}}},
                                       {"bias", {DType::float32, {1, 96}}}};
    return kernel.bind(specs, {.attributes = {{"axis", 1}, {"is_inner_broadcast", 1}}});
  }
  void replace(const std::filesystem::path& file, std::string_view from, std::string_view to) const {
    std::string text = read_input(file, 1 << 20);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    write_file(file, text.replace(at, from.size(), to));
  }
  // What runs take although the file says something else.
  void expect_no_profile(std::string_view note) const {
    const Kernel fresh = kernel();
    const Tuning tuning = find_tuning(fresh.package(), *device_);
    EXPECT_TRUE(tuning.tunables.empty());
    ASSERT_EQ(tuning.notes.size(), 1u);
    EXPECT_NE(tuning.notes[0].find(note), std::string::npos) << tuning.notes[0];
    EXPECT_EQ(*fresh.plan(call(fresh), *device_), *fresh.plan(call(fresh), device_->facts()));
  }

  std::filesystem::path folder_;
  std::optional<Device> device_;
};

TEST_F(TuningTest, LaterRunsPlanWithTheProfile) {
  const Kernel before = kernel();
  const std::shared_ptr<const Plan> untuned = before.plan(call(before), *device_);
  const auto file = save_tuning(before.package(), *device_, {{"LANES_PER_ROW", 4}});
  EXPECT_EQ(file.parent_path(), folder_);
  const Kernel after = kernel();
  EXPECT_EQ(find_tuning(after.package(), *device_).tunables, (NamedValues{{"LANES_PER_ROW", 4}}));
  EXPECT_NE(*after.plan(call(after), *device_), *untuned);
  EXPECT_EQ(*after.plan(call(after), *device_),
            *after.plan(call(after), device_->facts(), {.profile = {{"LANES_PER_ROW", 4}}}));
  // What a caller says is stronger.
  Call overridden = call(after);
  overridden.tunables = {{"LANES_PER_ROW", 8}};
  EXPECT_EQ(*after.plan(overridden, *device_), *after.plan(overridden, device_->facts()));
}

TEST_F(TuningTest, IgnoresWhatThePackageDoesNotOffer) {
  const auto file = save_tuning(kernel().package(), *device_, {{"LANES_PER_ROW", 4}});
  replace(file, "\"LANES_PER_ROW\": 4", "\"LANES_PER_ROW\": 3");
  expect_no_profile("The value of tunable LANES_PER_ROW in the profile (3) is ignored");
  replace(file, "\"LANES_PER_ROW\": 3", "\"LANES_PER_ROW\": {}");
  expect_no_profile("The value of tunable LANES_PER_ROW in the profile (an object) is ignored");
  replace(file, "\"LANES_PER_ROW\": {}", "\"NO_SUCH\": 4");
  expect_no_profile("The tunable NO_SUCH of the profile is ignored");
}

TEST_F(TuningTest, IgnoresStaleAndCorruptProfiles) {
  const auto file = save_tuning(kernel().package(), *device_, {{"LANES_PER_ROW", 4}});
  const std::string good = read_input(file, 1 << 20);
  replace(file, "\"driver\": \"", "\"driver\": \"older ");
  expect_no_profile("another device or driver");
  write_file(file, good);
  replace(file, "\"package\": \"", "\"package\": \"0");
  expect_no_profile("another package");
  for (std::size_t length : {std::size_t{0}, std::size_t{1}, good.size() / 2, good.size() - 2}) {
    write_file(file, std::string_view(good).substr(0, length));
    expect_no_profile("is ignored");
  }
  write_file(file, std::string(std::size_t{2} << 20, '['));
  expect_no_profile("is ignored");
  write_file(file, good);
  EXPECT_EQ(find_tuning(kernel().package(), *device_).tunables.size(), 1u);
}

TEST_F(TuningTest, ReadsWhatWasExported) {
  const Package package = kernel().package();
  std::filesystem::create_directories(folder_);
  const auto file = folder_ / "exported.json";
  write_file(file, tuning_text(package, *device_, {{"WORKGROUP_SIZE", 128}}));
  EXPECT_EQ(read_tuning(file, package, *device_).tunables, (NamedValues{{"WORKGROUP_SIZE", 128}}));
  const Package other = Package::load(packages() / "generations/1.0/com.microsoft.BiasSoftmax");
  EXPECT_THROW(read_tuning(file, other, *device_), Error);
  EXPECT_THROW(save_tuning(package, *device_, {{"WORKGROUP_SIZE", 3}}), Error);
}

TEST_F(TuningTest, OffUsesNone) {
  save_tuning(kernel().package(), *device_, {{"LANES_PER_ROW", 4}});
  setenv("KERNELPACK_TUNING", "off", 1);
  EXPECT_TRUE(find_tuning(kernel().package(), *device_).tunables.empty());
  EXPECT_THROW(save_tuning(kernel().package(), *device_, {}), Error);
}

}  // namespace
}  // namespace kernelpack
