// Tables of the documents that are made from tables of the code. Between the lines
//     <!-- generated: NAME -->  and  <!-- end -->
// a document must hold what the code says; KERNELPACK_UPDATE_GOLDENS=1 rewrites it.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error_table.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "expr/builtins.hpp"

namespace kernelpack {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLimit = 1u << 20;

const fs::path& root() {
  static const fs::path path = KERNELPACK_SOURCE_DIR;
  return path;
}

// A cell of a Markdown table: bars would end it.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string filter_table() {
  std::string table = "| Filter | Operand | Meaning |\n|---|---|---|\n";
  for (const expr::FilterEntry& filter : expr::filters())
    table += fmt::format("| `{}{}` | {} | {} |\n", filter.name, filter.arguments, filter.operands,
                         cell(filter.summary));
  return table;
}

std::string test_table() {
  std::string table = "| Test | True for |\n|---|---|\n";
  for (const expr::TestEntry& test : expr::tests())
    table += fmt::format("| `{}` | {} |\n", test.name, cell(test.summary));
  return table;
}

std::string member_table() {
  std::string table = "| Of | Member | Meaning |\n|---|---|---|\n";
  for (const expr::MemberEntry& member : expr::members()) {
    const char* owner = member.owner == expr::MemberOf::string ? "string"
                        : member.owner == expr::MemberOf::list ? "list"
                                                               : "dict";
    table +=
        fmt::format("| {} | `{}{}` | {} |\n", owner, member.name, member.arguments, cell(member.summary));
  }
  return table;
}

std::string function_table() {
  std::string table = "| Function | Result |\n|---|---|\n";
  for (const expr::FunctionEntry& function : expr::function_table())
    table += fmt::format("| `{}{}` | {} |\n", function.name, function.arguments, cell(function.summary));
  return table;
}

std::string error_kinds() {
  std::string table = "| Kind | What is wrong | What helps |\n|---|---|---|\n";
  for (const ErrorKindInfo& info : error_table())
    table += fmt::format("| `{}` | {} | {} |\n", info.name, cell(info.meaning), cell(info.remedy));
  return table;
}

// The first planted fault of each kind among tests/bad_packages, with its full report.
std::string error_examples() {
  std::map<std::string, fs::path> folders;  // sorted, whatever order the file system gives
  for (const auto& entry : fs::directory_iterator(root() / "tests/bad_packages"))
    if (fs::exists(entry.path() / "fault.json")) folders[entry.path().filename().string()] = entry.path();
  std::string text;
  for (const ErrorKindInfo& info : error_table()) {
    for (const auto& [name, folder] : folders) {
      const json::Document fault =
          json::parse(read_file(folder / "fault.json", kLimit), name + "/fault.json");
      if (fault.root.find("kind")->string() != info.name) continue;
      text += fmt::format("`{}`, from tests/bad_packages/{}:\n\n```text\n{}```\n\n", info.name, name,
                          read_file(folder / "expected_error.txt", kLimit));
      break;
    }
  }
  if (!text.empty()) text.pop_back();
  return text;
}

struct GeneratedPart {
  const char* file;
  const char* name;
  std::string (*make)();
};

class Documents : public testing::TestWithParam<GeneratedPart> {};

TEST_P(Documents, HoldWhatTheCodeSays) {
  const GeneratedPart& part = GetParam();
  const fs::path path = root() / part.file;
  const std::string text = read_file(path, kLimit);
  const std::string begin = fmt::format("<!-- generated: {} -->\n", part.name);
  const std::size_t first = text.find(begin);
  ASSERT_NE(first, std::string::npos) << path << " has no line " << begin;
  const std::size_t last = text.find("<!-- end -->", first);
  ASSERT_NE(last, std::string::npos) << path << " has no <!-- end --> after " << begin;
  const std::string made = part.make();
  ASSERT_FALSE(made.empty());
  const char* update = std::getenv("KERNELPACK_UPDATE_GOLDENS");
  if (update != nullptr && *update != '\0') {
    write_file(path, text.substr(0, first) + begin + made + text.substr(last));
    return;
  }
  EXPECT_EQ(text.substr(first + begin.size(), last - first - begin.size()), made)
      << part.file << " is stale; run this test with KERNELPACK_UPDATE_GOLDENS=1";
}

INSTANTIATE_TEST_SUITE_P(All, Documents,
                         testing::Values(GeneratedPart{"docs/language.md", "functions", function_table},
                                         GeneratedPart{"docs/language.md", "filters", filter_table},
                                         GeneratedPart{"docs/language.md", "tests", test_table},
                                         GeneratedPart{"docs/language.md", "members", member_table},
                                         GeneratedPart{"docs/errors.md", "kinds", error_kinds},
                                         GeneratedPart{"docs/errors.md", "examples", error_examples}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace kernelpack
