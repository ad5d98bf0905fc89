#include "jinja/template.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "expr/scope.hpp"
#include "jinja/source_text.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::jinja {
namespace {

const expr::Scope& scope() {
  static const expr::Scope names = [] {
    expr::Scope made(&expr::functions(false));
    made.set("n", expr::Value::number(7));
    made.set("xs", expr::Value::list(std::vector<std::int64_t>{1, 2, 3}));
    return made;
  }();
  return names;
}

std::string rendered(const std::string& text) {
  return Template::parse(text, {"a.jinja", ""}).render(scope());
}

/// The error of parsing and rendering, which must come.
Error error_of(const std::string& text, const IncludeResolver& include = {}) {
  try {
    Template::parse(text, {"a.jinja", ""}, include).render(scope());
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error: " << text;
  return Error(ErrorKind::internal, "none");
}

// Point 45 of format.md 15.
TEST(Template, WhiteSpaceControl) {
  EXPECT_EQ(rendered("a\n  {% if n %}\n  b\n  {% endif %}\nc\n"), "a\n  b\nc");
  EXPECT_EQ(rendered("a\n  {{ n }}\nb\n\n"), "a\n  7\nb\n");
  EXPECT_EQ(rendered("a \n {%- if n -%} \n b \n {%- endif -%} \n c"), "abc");
  EXPECT_EQ(rendered("a {{- n -}} b"), "a7b");
  EXPECT_EQ(rendered("a {#- c -#} b"), "ab");
  EXPECT_EQ(rendered("{% if n %}\r\na{% endif %}"), "\r\na");
  EXPECT_EQ(rendered("{ x -}\ny\n  {- z }"), "{ x -}y\n{- z }");
}

// Point 46.
TEST(Template, SetLeaksAsFarAsItsScope) {
  EXPECT_EQ(rendered("{% for x in xs %}{{ q }}{% set q = x %}{% endfor %}|{{ q }}"), "12|");
  EXPECT_EQ(rendered("{% if n %}{% set q = 5 %}{% endif %}{{ q }}"), "5");
  EXPECT_EQ(
      rendered(
          "{% set ns = namespace(q=0) %}{% for x in xs %}{% set ns.q = ns.q + x %}{% endfor %}{{ ns.q }}"),
      "6");
}

// Point 47.
TEST(Template, MacrosSeeTheirCaller) {
  EXPECT_EQ(rendered("{% macro m() %}{{ x }}{% endmacro %}{% for x in xs %}{{ m() }}{% endfor %}"), "123");
  EXPECT_EQ(rendered("{% macro m(n) %}{{ n is undefined }}{% endmacro %}{{ m() }}"), "true");
  const Error error = error_of("{% macro m(a, b, c) %}{% endmacro %}{{ m(1, 2, 3, 4) }}");
  EXPECT_EQ(error.message(), "The macro m is given 4 arguments and has 3 parameters");
  EXPECT_EQ(error.where(), "a.jinja, line 1, column 40");
}

// Point 48.
TEST(Template, ContinueDiscardsTheTextOfItsIteration) {
  EXPECT_EQ(rendered("{% for x in xs %}a{{ x }}{% if x == 2 %}{% continue %}{% endif %};{% endfor %}"),
            "a1;a3;");
  EXPECT_EQ(rendered("{% for x in xs %}a{% continue %}{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(
      rendered("{% for x in xs %}{{ x }}{% if x == 2 %}{% break %}{% endif %}{% else %}none{% endfor %}"),
      "1");
}

// Point 49.
TEST(Template, FilterBlocks) {
  EXPECT_EQ(rendered("{% filter indent(2, true) %}a\n\nb{% endfilter %}"), "  a\n\n  b");
}

// Point 50.
TEST(Template, UnknownStatementsFail) {
  EXPECT_EQ(error_of("x\n{% raw %}{% endraw %}").where(), "a.jinja, line 2, column 4");
  EXPECT_EQ(error_of("{% frobnicate n %}").message(),
            "The statement frobnicate is unknown or has nothing to end here");
  EXPECT_EQ(error_of("{% if n %}a").message(), "The template ends inside a block that needs {% endif %}");
  EXPECT_EQ(error_of("a {% break %}").kind(), ErrorKind::template_);
}

// Point 50.
TEST(Includes, AreReplacedBeforeAnythingElse) {
  const std::map<std::string, std::string> files = {
      {"lib/macros.jinja", "{% macro m() %}M{% endmacro %}\n{% include './part.jinja' %}"},
      {"lib/part.jinja", "  {% if n %}\npart {{ n }}\n"},
      {"end.jinja", "{% endif %}"}};
  const auto resolve = [&](const std::string& path) { return files.at(path); };
  const Template made = Template::parse(
      "{% include \"lib/macros.jinja\" %}{{ m() }}\n{%include  'end.jinja'  %}\n", {"a.jinja", ""}, resolve);
  EXPECT_EQ(made.render(scope()), "part 7\nM\n");
  EXPECT_EQ(made.included_files(),
            (std::vector<std::string>{"lib/macros.jinja", "lib/part.jinja", "end.jinja"}));
}

// Point 50.
TEST(Includes, CyclesAndEscapesFail) {
  const std::map<std::string, std::string> files = {{"b.jinja", "{% include 'c.jinja' %}"},
                                                    {"c.jinja", "x\n{% include 'b.jinja' %}"}};
  const auto resolve = [&](const std::string& path) { return files.at(path); };
  const Error cycle = error_of("{% include 'b.jinja' %}", resolve);
  EXPECT_EQ(cycle.message(), "The file b.jinja includes itself");
  EXPECT_EQ(cycle.where(), "c.jinja, line 2, column 13");
  EXPECT_EQ(error_of("{% include 'a.jinja' %}", resolve).message(), "The file a.jinja includes itself");
  for (const char* path : {"../x", "lib/../../x", "/etc/passwd", "C:/x", "a\\b", ".", ""}) {
    const std::string text = std::string("{% include '").append(path).append("' %}");
    EXPECT_EQ(error_of(text, resolve).kind(), ErrorKind::template_) << path;
  }
  EXPECT_EQ(error_of("{% include 'b.jinja' %}").message(), "The file b.jinja cannot be included here");
  EXPECT_EQ(error_of("{%- include 'b.jinja' -%}", resolve).message(),
            "The statement include is unknown or has nothing to end here");
}

TEST(Includes, PathsAreNormalised) {
  EXPECT_EQ(include_path("x.jinja", "lib/a.jinja"), "x.jinja");
  EXPECT_EQ(include_path("./x.jinja", "lib/a.jinja"), "lib/x.jinja");
  EXPECT_EQ(include_path("../x.jinja", "lib/sub/a.jinja"), "lib/x.jinja");
  EXPECT_EQ(include_path("../x.jinja", "lib/a.jinja"), "x.jinja");
  EXPECT_EQ(include_path("lib//./y/../x.jinja", "a.jinja"), "lib/x.jinja");
  EXPECT_EQ(include_path("../x.jinja", "a.jinja"), std::nullopt);
  EXPECT_EQ(include_path("../../x.jinja", "lib/a.jinja"), std::nullopt);
}

TEST(Errors, PointIntoTheFileThatTheTextCameFrom) {
  const auto resolve = [](const std::string&) {
    return std::string("one\n  {% if n %}\n  {{ n + missing }}\n  {% endif %}\n");
  };
  const Error error = error_of("first\n{% include 'part.jinja' %}\n", resolve);
  EXPECT_EQ(error.kind(), ErrorKind::template_);
  EXPECT_EQ(error.where(), "part.jinja, line 3, column 6");
  EXPECT_EQ(error.message(), "An operand of + is undefined: 7 + undefined");
  EXPECT_NE(error.excerpt().find("  {{ n + missing }}\n     ^^^^^^^^^^^"), std::string::npos)
      << error.excerpt();
  EXPECT_EQ(error_of("first\n{% include 'part.jinja' %}\n{{ n[0] }}", resolve).where(),
            "part.jinja, line 3, column 6");
  EXPECT_EQ(error_of("\n\n  {% if n %}\n{% endif %}\n  {{ n[0] }}").where(), "a.jinja, line 5, column 6");
  EXPECT_EQ(error_of("\n  {% set x = 1 + %}").where(), "a.jinja, line 2, column 18");
  EXPECT_EQ(error_of("{{ raise_exception('too ' ~ n) }}").message(),
            "The template gives up with the message (too 7)");
}

TEST(Template, NamesReadFromTheScope) {
  const Template made = Template::parse(
      "{% set a = b.x %}{% for i in range(c) if d %}{{ a ~ i | default(e) }}{{ true }}{% endfor %}"
      "{% macro m(p, q=f) %}{{ loop.index }}{% endmacro %}{% call(r) m(g, k=h) %}{{ s }}{% endcall %}"
      "{% filter replace(t, 'x') %}{% endfilter %}{% set ns.v = 1 %}{% if u is defined %}{% endif %}",
      {});
  EXPECT_EQ(made.read_names(), (std::vector<std::string>{"b", "c", "a", "i", "e", "d", "f", "loop", "m", "g",
                                                         "h", "s", "t", "ns", "u"}));
}

TEST(Template, UnknownNamesPrintNothing) {
  EXPECT_EQ(rendered("[{{ nope }}{{ nope.x.y }}{{ none }}]"), "[]");
  EXPECT_EQ(rendered("{{ max(xs[0], xs[2]) }}{{ pow(2, 3) }}"), "38");
}

TEST(Template, IsSharedBetweenRenderings) {
  const Template made =
      Template::parse("{% set ns = namespace(v=n) %}{% set ns.v = ns.v + 1 %}{{ ns.v }}", {});
  EXPECT_EQ(made.render(scope()), "8");
  EXPECT_EQ(made.render(scope()), "8");
}

}  // namespace
}  // namespace kernelpack::jinja
