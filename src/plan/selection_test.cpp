#include <gtest/gtest.h>

#include "plan/manifest_test.hpp"

namespace kernelpack::plan {
namespace {

/// A variant with that id and further keys.
std::string variant(std::string_view id, std::string_view keys = "") {
  return R"({"id": ")" + std::string(id) + R"(", )" + std::string(keys) + (keys.empty() ? "" : ", ") +
         R"("passes": [{"id": "main", "shader": "a.wgsl.jinja", "bindings": ["x", "y"], "dispatch": {"x": 1}}]})";
}

std::string manifest(const std::vector<std::string>& variants, std::string_view rest = "") {
  std::string list;
  for (const std::string& entry : variants) list += (list.empty() ? "" : ", ") + entry;
  return copy_manifest(std::string(rest) + (rest.empty() ? "" : ", ") + "\"variants\": [" + list + "]");
}

struct Chosen {
  std::string variant;
  std::vector<std::pair<std::string, std::string>> rejected;  ///< id, kind
  std::vector<std::string> texts;
};

Chosen choose(const std::string& text, const DeviceFacts& facts = {}, const std::string& pinned = {}) {
  const Package package = load_text(text);
  const Call call = bind_specs(package, {f32("x", {4})}, {.variant = pinned});
  std::vector<Rejection> reasons;
  Chosen chosen;
  try {
    Plan plan = plan_call(package, call, facts);
    chosen.variant = plan.variant;
    reasons = plan.rejected;
  } catch (const NoVariantError& error) {
    reasons = error.reasons();
  }
  for (const Rejection& reason : reasons) {
    chosen.rejected.emplace_back(reason.variant, to_string(reason.kind));
    chosen.texts.push_back(reason.text);
  }
  return chosen;
}

using Reasons = std::vector<std::pair<std::string, std::string>>;

// format.md 15, point 53
TEST(Selection, Point53OnlyTheBooleanTrueHolds) {
  const Chosen chosen =
      choose(manifest({variant("number", R"("when": ["1"])"), variant("text", R"("when": ["'a'"])"),
                       variant("list", R"("when": ["shapes.x"])"),
                       variant("throws", R"("when": ["none + 1 == 2"])"), variant("last")}));
  EXPECT_EQ(chosen.variant, "last");
  EXPECT_EQ(chosen.rejected, (Reasons{{"number", "when-false"},
                                      {"text", "when-false"},
                                      {"list", "when-false"},
                                      {"throws", "when-error"}}));
  EXPECT_EQ(chosen.texts[0], "The condition 1 (/variants/0/when/0) gives 1, which is not the boolean true");
  EXPECT_NE(chosen.texts[3].find("/variants/3/when/0"), std::string::npos) << chosen.texts[3];
  EXPECT_NE(chosen.texts[3].find("fails: "), std::string::npos) << chosen.texts[3];
}

TEST(Selection, Point53AThrowingManifestDeriveAborts) {
  const Package package = load_text(manifest({variant("v")}, R"("derive": {"bad": "shapes.x + 1"})"));
  const Error error = plan_error(package, bind_specs(package, {f32("x", {4})}));
  EXPECT_EQ(error.kind(), ErrorKind::expression);
  EXPECT_NE(error.where().find("/derive/bad"), std::string::npos) << error.where();
  EXPECT_NE(error.report().find("While evaluating derive bad (shapes.x + 1) of test.Copy"), std::string::npos)
      << error.report();
}

// format.md 15, point 54
TEST(Selection, Point54TiesKeepManifestOrder) {
  EXPECT_EQ(choose(manifest({variant("a"), variant("b"), variant("c", R"("priority": -1)")})).variant, "a");
  EXPECT_EQ(
      choose(manifest({variant("a"), variant("b", R"("priority": 1)"), variant("c", R"("priority": 1)")}))
          .variant,
      "b");
}

TEST(Selection, Point54DemotedVariantsComeLast) {
  const std::string demoted = R"("demoteWhen": ["ranks.x == 1"])";
  EXPECT_EQ(choose(manifest({variant("a", demoted), variant("b")})).variant, "b");
  EXPECT_TRUE(choose(manifest({variant("a", demoted), variant("b")})).rejected.empty());
  const Chosen fallback =
      choose(manifest({variant("a", demoted), variant("b", R"("when": ["false"])"), variant("c", demoted)}));
  EXPECT_EQ(fallback.variant, "a");
  EXPECT_EQ(fallback.rejected, (Reasons{{"b", "when-false"}}));
  EXPECT_EQ(choose(manifest({variant("a", R"("demoteWhen": ["false"])"), variant("b")})).variant, "a");
  EXPECT_EQ(choose(manifest({variant("a", R"("demoteWhen": ["1"])"), variant("b")})).variant, "a");
  EXPECT_EQ(choose(manifest({variant("a", R"("demoteWhen": ["ranks.q > 1"])"), variant("b")})).rejected,
            (Reasons{{"a", "demote-error"}}));
}

TEST(Selection, SupersededByAnEligibleVariant) {
  const std::string by_a = R"("supersededBy": ["a"])";
  // Pinning is the way to ask a superseded variant while the better one is eligible.
  const Chosen pinned = choose(manifest({variant("a"), variant("b", by_a)}), {}, "b");
  EXPECT_EQ(pinned.variant, "");
  EXPECT_EQ(pinned.rejected, (Reasons{{"b", "superseded"}}));
  EXPECT_EQ(choose(manifest({variant("a", R"("when": ["false"])"), variant("b", by_a)}), {}, "b").variant,
            "b");
  EXPECT_EQ(choose(manifest({variant("a", R"("demoteWhen": ["true"])"), variant("b", by_a)})).variant, "b");
  // c is superseded by b, which is itself superseded by a: so c is not.
  EXPECT_EQ(
      choose(manifest({variant("a"), variant("b", by_a), variant("c", R"("supersededBy": ["b"])")}), {}, "c")
          .variant,
      "c");
}

// format.md 15, point 55
TEST(Selection, Point55VariantTunablesComeAfterTheChoice) {
  const std::string tunables = R"("tunables": {"SIZE": {"default": 256}})";
  const std::string own = R"("tunables": {"SIZE": {"default": 64}}, )";
  EXPECT_EQ(
      choose(manifest({variant("a", own + R"("when": ["tunables.SIZE == 64"])"), variant("b")}, tunables))
          .variant,
      "b");
  const Package package = load_text(
      copy_manifest(tunables + R"(, "variants": [{"id": "a", )" + own + R"("when": ["tunables.SIZE == 256"],
      "derive": {"seen": "tunables.SIZE"},
      "passes": [{"shader": "a.wgsl.jinja", "bindings": ["x", "y"], "dispatch": {"x": "seen", "y": "tunables.SIZE"}}]}])"));
  const std::vector<NamedSpec> x{f32("x", {4})};
  EXPECT_EQ(plan_call(package, bind_specs(package, x)).passes.at(0).workgroups,
            (std::array<std::uint32_t, 3>{64, 64, 1}));
  // Stronger than the variant: the profile of a device, and stronger than that the caller.
  const Plan profiled =
      make_plan(package.model(), bind_specs(package, x), {},
                {.allow_missing_templates = true, .buffers = {}, .profile = {{"OTHER", 1}}});
  EXPECT_EQ(profiled.passes.at(0).workgroups[0], 64u);
  const Error refused = plan_error(package, bind_specs(package, x, {.tunables = {{"SIZE", 7}}}));
  EXPECT_EQ(refused.kind(), ErrorKind::no_variant);
}

// format.md 15, point 56
TEST(Selection, Point56WhatIsNotReported) {
  const std::string sizes = manifest({variant("a", R"("requires": {"subgroupMinSize": 8})"), variant("b")});
  EXPECT_EQ(choose(sizes).rejected, (Reasons{{"a", "requires"}}));
  DeviceFacts facts;
  facts.subgroup_min_size = 4;
  EXPECT_EQ(choose(sizes, facts).variant, "b");
  facts.subgroup_min_size = 8;
  EXPECT_EQ(choose(sizes, facts).variant, "a");

  const std::string matrices =
      manifest({variant("a", R"("requires": {"subgroupMatrixConfigs": [{"componentType": "f16", "K": 8}]})"),
                variant("b")});
  EXPECT_EQ(choose(matrices).variant, "a");
  facts.subgroup_matrix_configs = {{"f16", "f32", 16, 16, 16}};
  EXPECT_EQ(choose(matrices, facts).rejected, (Reasons{{"a", "requires"}}));
  facts.subgroup_matrix_configs->push_back({"f16", "f16", 8, 8, 8});
  EXPECT_EQ(choose(matrices, facts).variant, "a");
}

TEST(Selection, RequirementsNameWhatIsMissing) {
  const Chosen chosen = choose(manifest(
      {variant("f", R"("requires": {"features": ["subgroups"]})"),
       variant("l", R"("requires": {"limits": {"maxComputeWorkgroupStorageSize": 32768}})"), variant("c")}));
  EXPECT_EQ(chosen.variant, "c");
  EXPECT_EQ(chosen.texts,
            (std::vector<std::string>{
                "The device lacks the required feature (subgroups)",
                "The device limit maxComputeWorkgroupStorageSize (16384) is below the required value "
                "(32768)"}));
}

TEST(Selection, CountsTheBuffersOfOnePass) {
  DeviceFacts facts;
  facts.limits = {{"maxStorageBuffersPerShaderStage", 1}};
  const Chosen chosen = choose(manifest({variant("a")}), facts);
  EXPECT_EQ(chosen.rejected, (Reasons{{"a", "buffer-budget"}}));
  facts.limits["maxStorageBuffersPerShaderStage"] = 2;
  EXPECT_EQ(choose(manifest({variant("a")}), facts).variant, "a");
}

// format.md 15, point 57
TEST(Selection, Point57NoVariantListsEveryReason) {
  const Package package = load_text(
      manifest({variant("a", R"("when": ["ranks.x == 7"])"), variant("b", R"("when": ["ranks.q > 1"])"),
                variant("c", R"("requires": {"features": ["shader-f16"]})")}));
  try {
    plan_call(package, bind_specs(package, {f32("x", {4})}));
    FAIL() << "a variant is found";
  } catch (const NoVariantError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_variant);
    ASSERT_EQ(error.reasons().size(), 3u);
    EXPECT_EQ(error.reasons()[0].kind, Rejection::Kind::when_false);
    EXPECT_EQ(error.reasons()[1].kind, Rejection::Kind::when_error);
    EXPECT_EQ(error.reasons()[2].kind, Rejection::Kind::requires_);
    EXPECT_NE(error.message().find("test.Copy"), std::string::npos);
    for (const Rejection& reason : error.reasons()) {
      EXPECT_NE(error.message().find(reason.variant + " (" + reason.text + ")"), std::string::npos)
          << error.message();
    }
  }
}

TEST(Selection, AContractOnlyPackageHasNoVariants) {
  const Package package = load_text(
      R"({"name": "Copy", "domain": "test", "inputs": {"x": {"dtype": "float32"}},
          "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}}})");
  const Error error = plan_error(package, bind_specs(package, {f32("x", {4})}));
  EXPECT_EQ(error.kind(), ErrorKind::no_variant);
  EXPECT_NE(error.message().find("the package has no variants"), std::string::npos) << error.message();
}

}  // namespace
}  // namespace kernelpack::plan
