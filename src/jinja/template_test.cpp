#include "jinja/template.hpp"

#include <gtest/gtest.h>

#include "expr/scope.hpp"

namespace kernelpack::jinja {
namespace {

TEST(Template, Smoke) {
  EXPECT_EQ(
      Template::parse("a{% for i in range(3) %}{{ i }}{% if not loop.last %},{% endif %}{% endfor %}\n", {})
          .render(expr::functions(false)),
      "a0,1,2");
}

}  // namespace
}  // namespace kernelpack::jinja
