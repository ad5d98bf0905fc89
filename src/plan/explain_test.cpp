#include "plan/explain.hpp"

#include <gtest/gtest.h>

#include "plan/manifest_test.hpp"

namespace kernelpack::plan {
namespace {

Explanation explain_copy(std::string_view rest, Shape shape = {4}, const DeviceFacts& facts = {},
                         const std::string& pinned = {}) {
  const Package package = load_text(copy_manifest(rest));
  return explain(package.model(), bind_specs(package, {f32("x", std::move(shape))}, {.variant = pinned}),
                 facts, {.allow_missing_templates = true, .buffers = {}, .profile = {}});
}

std::string variant(std::string_view id, std::string_view keys = "") {
  return R"({"id": ")" + std::string(id) + R"(", )" + std::string(keys) + (keys.empty() ? "" : ", ") +
         R"("passes": [{"id": "main", "shader": "a.wgsl.jinja", "bindings": ["x", "y"],
            "dispatch": {"threads": "numel(shapes.x) + 0", "workgroupSize": 64}}]})";
}

std::vector<std::string> parts(const ExplainedClause& clause) {
  std::vector<std::string> list;
  for (const ExplainedValue& part : clause.because) list.push_back(part.expression + " = " + part.value);
  return list;
}

using Outcome = ExplainedVariant::Outcome;

TEST(Explain, EvaluatesEveryVariantAndEveryClause) {
  const Explanation why =
      explain_copy(R"("derive": {"big": "dim(shapes.x, 0) >= 64 and ranks.x == 1"}, "variants": [)" +
                   variant("large", R"("priority": 9, "when": ["big", "ranks.x < 5", "ranks.q > 1"])") +
                   ", " + variant("first") + ", " + variant("spare", R"("when": ["ranks.x == 2"])") + ", " +
                   variant("idle") + "]");
  ASSERT_TRUE(why.plan.has_value());
  EXPECT_FALSE(why.refusal.has_value());
  EXPECT_EQ(why.plan->variant, "first");
  ASSERT_EQ(why.variants.size(), 4u);
  const ExplainedVariant& large = why.variants[0];
  EXPECT_EQ(large.outcome, Outcome::refused);
  EXPECT_EQ(large.rejection->kind, Rejection::Kind::when_false);
  ASSERT_EQ(large.when.size(), 3u);
  EXPECT_FALSE(large.when[0].holds);
  EXPECT_EQ(parts(large.when[0]),
            (std::vector<std::string>{"big = false", "dim(shapes.x, 0) = 4", "shapes.x = [4]"}));
  EXPECT_TRUE(large.when[1].holds);
  EXPECT_TRUE(large.when[2].result.failed);
  EXPECT_EQ(why.variants[1].outcome, Outcome::chosen);
  EXPECT_EQ(why.variants[2].outcome, Outcome::not_reached);
  EXPECT_TRUE(why.variants[2].rejection.has_value());
  EXPECT_EQ(why.variants[3].outcome, Outcome::not_reached);
  EXPECT_FALSE(why.variants[3].rejection.has_value());
}

TEST(Explain, ShowsDispatchBeforeAndAfterFolding) {
  const Explanation why = explain_copy(R"("variants": [)" + variant("v") + "]", {65536, 64});
  ASSERT_EQ(why.passes.size(), 1u);
  EXPECT_EQ(why.passes[0].groups, 65536);
  ASSERT_EQ(why.passes[0].dispatch.size(), 2u);
  EXPECT_EQ(why.passes[0].dispatch[0].name, "threads");
  EXPECT_EQ(why.passes[0].dispatch[0].value, "4194304");
  EXPECT_EQ(why.plan->passes[0].workgroups, (std::array<std::uint32_t, 3>{65535, 2, 1}));
  const std::string text = to_string(why);
  EXPECT_NE(text.find("65536 workgroups before folding"), std::string::npos) << text;
  EXPECT_NE(text.find("runs 65535 x 2 x 1 workgroups"), std::string::npos) << text;
}

TEST(Explain, DemotedVariants) {
  const Explanation why = explain_copy(
      R"("variants": [)" + variant("a", R"("demoteWhen": ["ranks.x == 1"])") + ", " + variant("b") + "]");
  EXPECT_EQ(why.variants.at(0).outcome, Outcome::demoted);
  EXPECT_TRUE(why.variants.at(0).demote_when.at(0).holds);
  EXPECT_EQ(why.variants.at(1).outcome, Outcome::chosen);
}

TEST(Explain, APinnedVariantIsTheOnlyCandidate) {
  const Explanation why =
      explain_copy(R"("variants": [)" + variant("a") + ", " + variant("b") + "]", {4}, {}, "b");
  EXPECT_EQ(why.variants.at(0).outcome, Outcome::not_reached);
  EXPECT_EQ(why.variants.at(1).outcome, Outcome::chosen);
}

TEST(Explain, RefusedCalls) {
  const Explanation none =
      explain_copy(R"("variants": [)" + variant("a", R"("when": ["ranks.x == 7"])") + "]");
  EXPECT_FALSE(none.plan.has_value());
  ASSERT_TRUE(none.refusal.has_value());
  EXPECT_EQ(none.refusal->kind(), ErrorKind::no_variant);
  EXPECT_EQ(parts(none.variants.at(0).when.at(0)), (std::vector<std::string>{"ranks.x = 1"}));

  const Explanation aborted = explain_copy(
      R"("derive": {"good": "1", "bad": "1 + none", "after": "2"}, "variants": [)" + variant("a") + "]");
  ASSERT_TRUE(aborted.refusal.has_value());
  ASSERT_EQ(aborted.derives.size(), 2u);
  EXPECT_EQ(aborted.derives[0].value, "1");
  EXPECT_TRUE(aborted.derives[1].failed);
  EXPECT_TRUE(aborted.variants.empty());
  EXPECT_NE(to_string(aborted).find("fails: "), std::string::npos) << to_string(aborted);

  // Chosen, but the plan fails afterwards.
  const Explanation late = explain_copy(R"("variants": [{"id": "v", "derive": {"size": "7"}, "passes": [
      {"shader": "a.wgsl.jinja", "bindings": ["x", "y"], "dispatch": {"x": "-1"}}]}])");
  ASSERT_TRUE(late.refusal.has_value());
  EXPECT_EQ(late.refusal->kind(), ErrorKind::limit);
  EXPECT_EQ(late.variants.at(0).outcome, Outcome::chosen);
  EXPECT_EQ(late.variant_derives.at(0).value, "7");
  EXPECT_EQ(late.passes.at(0).dispatch.at(0).value, "-1");
}

TEST(Explain, PartsKeepTheirParentheses) {
  const Explanation why = explain_copy(
      R"("variants": [)" +
      variant("a", R"("when": ["(ranks.x + 1) * 2 == 4 and not (ranks.x > 3 or ranks.y > 3) "])") + "]");
  const std::vector<std::string> because = parts(why.variants.at(0).when.at(0));
  EXPECT_EQ(because, (std::vector<std::string>{"(ranks.x + 1) * 2 = 4", "ranks.x + 1 = 2", "ranks.x = 1",
                                               "ranks.y = 1"}));
}

}  // namespace
}  // namespace kernelpack::plan
