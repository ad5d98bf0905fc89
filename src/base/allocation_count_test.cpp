#include "base/allocation_count_test.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KERNELPACK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KERNELPACK_SANITIZED 1
#endif
#endif

#ifdef KERNELPACK_SANITIZED

std::optional<long> kernelpack::allocation_count() noexcept {
  return std::nullopt;
}
kernelpack::AllocationLimit::AllocationLimit(long) noexcept {}
kernelpack::AllocationLimit::~AllocationLimit() = default;

#else

namespace {

std::atomic<long> count{0};
thread_local long allowed = -1;  // negative: any number

void* counted(std::size_t size) noexcept {
  if (allowed == 0) return nullptr;
  if (allowed > 0) --allowed;
  count.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size == 0 ? 1 : size);
}

}  // namespace

std::optional<long> kernelpack::allocation_count() noexcept {
  return count.load(std::memory_order_relaxed);
}

kernelpack::AllocationLimit::AllocationLimit(long allocations) noexcept {
  allowed = allocations;
}
kernelpack::AllocationLimit::~AllocationLimit() {
  allowed = -1;
}

// The forms for arrays call these; those for over-aligned types do not and stay with the library.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = counted(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

#endif
