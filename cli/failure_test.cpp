#include "failure.hpp"

#include <gtest/gtest.h>

namespace kernelpack::cli {
namespace {

TEST(Failure, GivesEveryKindItsExitCode) {
  for (const ErrorKind kind : {ErrorKind::package, ErrorKind::integrity, ErrorKind::trust,
                               ErrorKind::expression, ErrorKind::template_, ErrorKind::contract,
                               ErrorKind::no_variant, ErrorKind::limit, ErrorKind::shader, ErrorKind::io}) {
    EXPECT_EQ(exit_code_of(kind), ExitCode::input) << to_string(kind);
  }
  for (const ErrorKind kind : {ErrorKind::device, ErrorKind::unsupported, ErrorKind::internal}) {
    EXPECT_EQ(exit_code_of(kind), ExitCode::environment) << to_string(kind);
  }
}

TEST(Failure, ShowsTheSourceOnlyForPackagesOrWhenAsked) {
  const auto shown = [](ErrorKind kind, bool verbose) {
    Error error(kind, "The name is unknown (x)", "manifest.json:/when/0");
    error.set_excerpt("x + 1\n^").add_context("While loading it");
    return describe(error, verbose);
  };
  const std::string source = "x + 1\n^\nWhile loading it\n";
  EXPECT_EQ(shown(ErrorKind::expression, false),
            "kernelpack: expression: The name is unknown (x) (manifest.json:/when/0)\n" + source);
  EXPECT_EQ(shown(ErrorKind::contract, false),
            "kernelpack: contract: The name is unknown (x) (manifest.json:/when/0)\n");
  EXPECT_EQ(shown(ErrorKind::contract, true),
            "kernelpack: contract: The name is unknown (x) (manifest.json:/when/0)\n" + source);
}

TEST(Failure, KeepsAMessageOnOneLine) {
  EXPECT_EQ(describe(Error(ErrorKind::io, "The file is missing", "a\nkernelpack: io: b"), false),
            "kernelpack: io: The file is missing (a?kernelpack: io: b)\n");
  EXPECT_EQ(describe_usage("a\r\033b"), "kernelpack: usage: a??b\n");
}

TEST(Failure, ReplacesTheExitCode) {
  try {
    failing_with(ExitCode::environment, [] { throw Error(ErrorKind::io, "The disk is full", "out.npy"); });
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code, ExitCode::environment);
    EXPECT_EQ(failure.error.kind(), ErrorKind::io);
  }
  EXPECT_EQ(failing_with(ExitCode::environment, [] { return 7; }), 7);
}

}  // namespace
}  // namespace kernelpack::cli
