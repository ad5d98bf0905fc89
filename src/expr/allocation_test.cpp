#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "expr/expression.hpp"
#include "expr/scope.hpp"

// The sanitizers bring their own allocator.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KERNELPACK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KERNELPACK_SANITIZED 1
#endif
#endif

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

#ifndef KERNELPACK_SANITIZED
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace kernelpack::expr {
namespace {

// Arithmetic and comparison allocate nothing per evaluation.
TEST(Speed, ArithmeticAllocatesNothing) {
#ifdef KERNELPACK_SANITIZED
  GTEST_SKIP() << "Allocations cannot be counted under a sanitizer";
#endif
  Scope scope(&functions(false));
  scope.set("n", Value::number(7));
  scope.set("x",
            Value::dict(
                {{"rows", Value::number(4096)}, {"cols", Value::number(48)}, {"half", Value::number(0.5)}}));
  scope.set("s", Value::list(std::vector<std::int64_t>{8, 12, 48, 48}));
  scope.set("mode", Value::string("linear"));
  for (const char* text :
       {"1 + 2 * 3 - 4 / 5 // 6 % 7", "(x.rows * x.cols + 255) // 256",
        "n > 3 and x.cols % 4 == 0 or not (n < 2)", "-n ** 2 <= x.half", "s[-1] * s[0]",
        "s[1] if n is odd else s[2]", "mode == 'linear' and n != 3", "n in s or n not in s",
        "x.half is number", "s | length", "x.missing is defined", "x.half | int", "s == s"}) {
    const Expression expression = Expression::parse(text, {});
    expression.evaluate(scope);
    const std::size_t before = allocations;
    for (int i = 0; i < 100; ++i) expression.evaluate(scope);
    EXPECT_EQ(allocations - before, 0u) << text;
  }
  const std::size_t before = allocations;
  Expression::parse("1 + 1", {});
  EXPECT_GT(allocations - before, 0u) << "Allocations are not counted";
}

}  // namespace
}  // namespace kernelpack::expr
