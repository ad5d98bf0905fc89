#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "package/model.hpp"
#include "package/passes.hpp"

namespace kernelpack::package {
namespace {

std::filesystem::path hub() {
  return std::filesystem::path(KERNELPACK_SHARED_DIR) / "hub";
}

bool skip_or_fail() {
  if (std::filesystem::exists(hub())) return false;
  const char* ci = std::getenv("CI");
  if (ci != nullptr && std::string(ci) == "true")
    ADD_FAILURE() << "the shared packages are absent: " << hub();
  return true;
}

// Published packages of both generations load without a fault; their templates are not in the folder.
TEST(Hub, PublishedPackagesLoad) {
  if (skip_or_fail()) GTEST_SKIP() << "no shared packages at " << hub();
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(hub())) {
    if (!std::filesystem::exists(entry.path() / "manifest.json")) continue;
    SCOPED_TRACE(entry.path().filename().string());
    for (const Error& error : Package::validate(entry.path(), {.allow_missing_templates = true}))
      ADD_FAILURE() << error.report();
    const Package package = Package::load(entry.path(), {.allow_missing_templates = true});
    EXPECT_TRUE(package.verified());
    EXPECT_EQ(package.version(), 1);
    EXPECT_FALSE(package.model().variants.empty());
    EXPECT_THROW(Package::load(entry.path()), Error);
    ++count;
  }
  std::printf("%d published packages loaded\n", count);
  EXPECT_GE(count, 8);
}

TEST(Hub, Identity10MapsIntoTheModel) {
  if (skip_or_fail()) GTEST_SKIP() << "no shared packages at " << hub();
  const Package package = Package::load(hub() / "ai.onnx.Identity-1.0", {.allow_missing_templates = true});
  const Model& model = package.model();
  EXPECT_EQ(package.manifest_spec(), "1.0");
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].name, "x");
  EXPECT_EQ(model.inputs[0].scope_names, (std::vector<std::string>{"x", "input"}));
  ASSERT_EQ(model.outputs.size(), 1u);
  EXPECT_EQ(model.outputs[0].name, "y");
  EXPECT_EQ(model.outputs[0].scope_names, (std::vector<std::string>{"y", "output"}));
  const Variant& vec4 = model.variants.at(0);
  const Pass& pass = std::get<Pass>(vec4.passes.at(0).content);
  EXPECT_EQ(pass.bindings.at(0).name, "src");
  EXPECT_EQ(pass.bindings.at(0).target, "x");
  EXPECT_EQ(pass.bindings.at(0).buffer, BufferKind::read_only_storage);
  EXPECT_TRUE(pass.bindings.at(0).element_type.is_reference);
  EXPECT_EQ(std::get<std::string>(*pass.bindings.at(0).length), "COPY_VEC4_LEN");
  EXPECT_EQ(pass.dispatch.form, Dispatch::Form::grid_stride);
  EXPECT_EQ(pass.view_aliases.at(0).output, "dst");
  std::vector<std::string> constants;
  for (const NamedFormula& constant : pass.constants) constants.push_back(constant.name);
  EXPECT_EQ(constants, (std::vector<std::string>{"usesF16", "vectorScalar", "COPY_VEC4_LEN"}));
}

}  // namespace
}  // namespace kernelpack::package
