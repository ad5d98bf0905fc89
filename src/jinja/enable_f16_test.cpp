#include "jinja/enable_f16.hpp"

#include <gtest/gtest.h>

namespace kernelpack::jinja {
namespace {

// Point 51 of format.md 15; format.md 9.5.
TEST(EnableF16, IsPutBeforeWhatNeedsIt) {
  EXPECT_EQ(with_f16_enabled("let x = 0.5h;"), "enable f16;\nlet x = 0.5h;");
  EXPECT_EQ(with_f16_enabled("var x: f16;"), "enable f16;\nvar x: f16;");
  EXPECT_EQ(with_f16_enabled("var x: f32; // f16\n"), "var x: f32; // f16\n");
  EXPECT_EQ(with_f16_enabled("enable f16;\nvar x: f16;"), "enable f16;\nvar x: f16;");
  EXPECT_EQ(with_f16_enabled(with_f16_enabled("var x: f16;")), "enable f16;\nvar x: f16;");
}

TEST(EnableF16, IsNeeded) {
  for (const char* wgsl : {"f16",
                           "vec4<f16>",
                           "array<f16>",
                           "a=f16(1)",
                           "1h",
                           "x = 12h;",
                           "0.5h",
                           ".5h",
                           "5.h",
                           "1e3h",
                           "1e-3h",
                           "1.5E+2h",
                           "0x1p3h",
                           "0x1.8p-3h",
                           "0XFp0h",
                           "(1h)",
                           "-1h",
                           "a+1h",
                           "/* x */1h",
                           "/* f16 */ var x: f16;",
                           "// enable f16;\nvar x: f16;",
                           "/* enable f16; */ var x: f16;",
                           "enable subgroups;\nvar x: f16;",
                           "x enable f16;\n",
                           "let enable_f16 = 1h;",
                           "/* /* */ */ 1h",
                           "enable f16_x;\nf16"}) {
    EXPECT_TRUE(needs_enable_f16(wgsl)) << wgsl;
  }
}

TEST(EnableF16, IsNotNeeded) {
  for (const char* wgsl : {"",
                           "var x: f32;",
                           "f16x",
                           "xf16",
                           "_f16",
                           "f161",
                           "1.5f",
                           "1u",
                           "a1h",
                           "x.1h",
                           "1hx",
                           "1h_",
                           "1.2.3h",
                           "0xAh",
                           "0x1.8h",
                           "_1h",
                           "h",
                           "1 h",
                           "1e h",
                           "// 1h\n",
                           "// f16",
                           "/* f16 */",
                           "/* a /* f16 */ 1h */",
                           "/* f16",
                           "enable f16;\n1h",
                           "  enable f16;\nf16",
                           "\tenable subgroups, f16;\nf16",
                           "enable f16 , subgroups ;\nf16",
                           "requires x;\nenable f16;\nf16",
                           "enable f16; // x\nlet x = 1h;",
                           "enable/**/f16;f16"}) {
    EXPECT_FALSE(needs_enable_f16(wgsl)) << wgsl;
  }
}

}  // namespace
}  // namespace kernelpack::jinja
