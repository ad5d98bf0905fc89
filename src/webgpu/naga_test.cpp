#include "webgpu/naga.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace kernelpack::webgpu {
namespace {

struct Case {
  const char* name;
  const char* in;
  const char* out;
};

constexpr std::array kCases{
    Case{"plain", "fn f() {}", "fn f() {}"},
    Case{"empty", "", ""},
    Case{"enable", "enable subgroups;\nfn f() {}", "                 \nfn f() {}"},
    Case{"enable_other", "enable f16;", "enable f16;"},
    Case{"list_first", "enable subgroups, f16;", "enable            f16;"},
    Case{"list_last", "enable f16, subgroups;", "enable f16           ;"},
    Case{"list_middle", "enable f16, subgroups, x;", "enable f16,            x;"},
    Case{"list_twice", "enable subgroups, subgroups, f16;", "enable                       f16;"},
    Case{"list_trailing_comma", "enable f16, subgroups,;", "enable f16           ,;"},
    Case{"list_comment", "enable f16, /* , */ subgroups;", "enable f16  /* , */          ;"},
    Case{"longer_name", "enable subgroups_f16;", "enable subgroups_f16;"},
    Case{"requires", "requires a, b;\nfn f() {}", "              \nfn f() {}"},
    Case{"requires_lines", "requires a,\n b;fn f() {}", "           \n   fn f() {}"},
    Case{"diagnostic", "diagnostic(off, subgroup_uniformity);fn f() {}",
         "                                     fn f() {}"},
    Case{"empty_statement", ";enable subgroups;", ";                 "},
    Case{"comment_line", "// enable subgroups;\nfn f() {}", "// enable subgroups;\nfn f() {}"},
    Case{"comment_nested", "/* /* */ requires x; */ requires y;", "/* /* */ requires x; */            "},
    Case{"comment_open", "/* requires x;", "/* requires x;"},
    Case{"comment_line_only", "//", "//"},
    Case{"after_declaration", "const a = 1;\nvar<private> requires: i32;",
         "const a = 1;\nvar<private> requires: i32;"},
    Case{"attribute", "@diagnostic(off, x) fn f() {}", "                    fn f() {}"},
    Case{"attribute_spaced", "fn f() { @ diagnostic (off, x) if (a) {} }",
         "fn f() {                       if (a) {} }"},
    Case{"attribute_other", "@compute @workgroup_size(1) fn f() {}", "@compute @workgroup_size(1) fn f() {}"},
    Case{"unfinished", "requires a", "          "},
    Case{"unfinished_enable", "enable subgroups", "                "},
    Case{"carriage_return", "enable\r\nsubgroups;", "      \r\n          "},
    Case{"unicode", "const ä_requires = 1; // ü", "const ä_requires = 1; // ü"},
};

TEST(Naga, RewritesTokensAndKeepsLengths) {
  for (const Case& test : kCases) {
    EXPECT_EQ(rewrite_for_naga(test.in), test.out) << test.name;
    EXPECT_EQ(rewrite_for_naga(test.in).size(), std::string(test.in).size()) << test.name;
  }
  std::printf("%zu cases\n", kCases.size());
  ASSERT_GE(kCases.size(), 27u);
}

}  // namespace
}  // namespace kernelpack::webgpu
