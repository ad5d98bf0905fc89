// Conformance point 21 of the package format's checklist: families.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "package/model.hpp"
#include "package/test_package.hpp"

namespace kernelpack::package {
namespace {

std::string with_family(const std::string& family) {
  std::string text = small_manifest();
  const std::size_t begin = text.find("\"variants\"");
  return text.substr(0, begin) + "\"variants\": [" + family + "] }";
}

std::string family(const std::string& head, const std::string& variant) {
  return fmt::format("{{ {}, \"variants\": [ {{ {} }} ] }}", head, variant);
}

const std::string kPasses =
    R"("passes": [ { "shader": "a.wgsl.jinja", "bindings": ["x", "y"], "dispatch": { "x": 1 } } ])";

Package load(const std::string& manifest) {
  return Package::load(TestPackage(manifest).folder());
}

std::vector<std::string> ids(const Package& package) {
  std::vector<std::string> names;
  for (const Variant& variant : package.model().variants) names.push_back(variant.id);
  return names;
}

void expect_fault(const std::string& manifest, std::string_view pointer, std::string_view text) {
  const auto faults = faults_of(manifest);
  ASSERT_FALSE(faults.empty());
  EXPECT_NE(faults[0].find("manifest.json:" + std::string(pointer) + ","), std::string::npos) << faults[0];
  EXPECT_NE(faults[0].find(text), std::string::npos) << faults[0];
}

TEST(Point21, CasesExpandInOrder) {
  const Package package = load(with_family(family(
      R"("cases": [ { "n": 4, "clause": ["numel(shapes.x) > 1", "true"], "note": null, "shader": "a.wgsl.jinja" },
                    { "n": 2, "clause": [], "note": "text", "shader": "b.wgsl.jinja" } ])",
      R"("id": "v{n}", "priority": "{n}", "description": "{note}", "when": ["ranks.x == {n}", "{clause}"],
         "derive": { "w{n}": "{n}" },
         "passes": [ { "shader": "{shader}", "bindings": ["x", "y"], "dispatch": { "x": 1 } } ])")));
  ASSERT_EQ(ids(package), (std::vector<std::string>{"v4", "v2"}));
  const Variant& first = package.model().variants[0];
  EXPECT_EQ(first.priority, 4);
  EXPECT_EQ(first.description, "");
  ASSERT_EQ(first.when.size(), 3u);
  EXPECT_EQ(to_string(first.when[0]), "ranks.x == 4");
  EXPECT_EQ(to_string(first.when[1]), "numel(shapes.x) > 1");
  EXPECT_EQ(first.derive.at(0).name, "w4");
  EXPECT_EQ(*first.derive.at(0).value.number(), 4);
  const Variant& second = package.model().variants[1];
  EXPECT_EQ(second.description, "text");
  EXPECT_EQ(second.when.size(), 1u);
  EXPECT_EQ(second.templates, (std::vector<std::string>{"b.wgsl.jinja"}));
}

TEST(Point21, AxesMultiplyLessTheExcludedCells) {
  const Package package = load(with_family(family(
      R"("axes": { "rows": [ { "$key": "few", "r": 1 }, { "$key": "many", "r": 8 } ],
                   "cols": [ { "$key": "thin", "c": 2 }, { "$key": "wide", "c": 16 } ] },
         "exclude": [ { "rows": "many", "cols": "thin" } ],
         "cases": [ { "rows": "few", "cols": "wide", "c": 32 } ])",
      R"("id": "{rows}_{cols}", "priority": "{c}", )" + kPasses)));
  EXPECT_EQ(ids(package), (std::vector<std::string>{"few_thin", "few_wide", "many_wide"}));
  EXPECT_EQ(package.model().variants[1].priority, 32);
  EXPECT_EQ(package.model().variants[2].priority, 16);
}

TEST(Point21, FaultsOfFamilies) {
  const std::string id = R"("id": "v{n}", )";
  expect_fault(with_family(family(R"("cases": [ { "n": 1 } ])", id + R"("description": "{m}", )" + kPasses)),
               "/variants/0/variants/0/description", "The placeholder (m) has no value");
  expect_fault(with_family(family(R"("cases": [ { "n": "{k}" } ])", id + kPasses)),
               "/variants/0/variants/0/id", "(k) is left over");
  expect_fault(with_family(family(R"("cases": [ { "n": [1] } ])", id + kPasses)), "/variants/0/variants/0/id",
               "an array");
  expect_fault(with_family(family(R"("cases": [ { "n": null } ])", R"("id": "{n}", )" + kPasses)),
               "/variants/0/variants/0/id", "cannot be deleted");
  expect_fault(with_family(family(R"("cases": [ { "n": null } ])", R"("passes": "{n}")")),
               "/variants/0/variants/0/passes", "cannot be deleted");
  expect_fault(with_family(family(R"("cases": [ { "n": null } ])", R"("when": ["true", "{n}"], )" + kPasses)),
               "/variants/0/variants/0/when/1", "A list item cannot be deleted");
  expect_fault(
      with_family(family(R"("cases": [ { "n": "a" } ])", R"("derive": { "a": 1, "{n}": 2 }, )" + kPasses)),
      "/variants/0/variants/0/derive/{n}", "(a) occurs twice");
  expect_fault(with_family(family(R"("cases": [ {} ])", R"("$use": "x", )" + kPasses)),
               "/variants/0/variants/0/$use", "($use)");
  expect_fault(with_family(family(R"("cases": [])", kPasses)), "/variants/0/cases", "is empty");
  expect_fault(with_family(family(R"("cases": [ { "n": 1 }, { "n": 1 } ])", id + kPasses)),
               "/variants/0/variants/0/id", "(v1) occurs twice");
  const std::string cols = R"("cols": [ { "$key": "c" } ])";
  expect_fault(with_family(family(R"("axes": { "rows": [ { "$key": "a" } ] })", kPasses)), "/variants/0/axes",
               "(1) is not two");
  expect_fault(with_family(family(R"("axes": { "rows": [ { "$key": "a" }, { "$key": "a" } ], )" + cols + " }",
                                  kPasses)),
               "/variants/0/axes/rows/1/$key", "(a) occurs twice");
  expect_fault(with_family(family(R"("axes": { "rows": [ { "k": 1 } ], )" + cols + " }", kPasses)),
               "/variants/0/axes/rows/0", "($key) is missing");
  expect_fault(
      with_family(family(R"("axes": { "rows": [ { "$key": "a", "cols": 1 } ], )" + cols + " }", kPasses)),
      "/variants/0/axes", "is the name of an axis");
  expect_fault(with_family(family(
                   R"("axes": { "rows": [ { "$key": "a", "v": 1 } ], "cols": [ { "$key": "c", "v": 1 } ] })",
                   kPasses)),
               "/variants/0/axes", "both axes");
  expect_fault(with_family(family(R"("axes": { "rows": [ { "$key": "a" } ], )" + cols +
                                      R"( }, "exclude": [ { "rows": "a", "cols": "c" } ])",
                                  kPasses)),
               "/variants/0/axes", "No cell");
  expect_fault(with_family(family(R"("axes": { "rows": [ { "$key": "a" } ], )" + cols +
                                      R"( }, "exclude": [ { "rows": "b", "cols": "c" } ])",
                                  kPasses)),
               "/variants/0/exclude/0/rows", "has no key (b)");
}

TEST(Families, ExpansionIsBounded) {
  std::string cases;
  for (int i = 0; i < 3000; ++i) cases += fmt::format("{}{{\"n\":{}}}", i == 0 ? "" : ",", i);
  const auto faults = faults_of(
      with_family(family("\"cases\": [" + cases + "]",
                         R"("id": "v{n}", "description": ")" + std::string(20000, 'x') + "\", " + kPasses)));
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].rfind("limit: ", 0), 0u) << faults[0];
}

}  // namespace
}  // namespace kernelpack::package
