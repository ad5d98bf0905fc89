#pragma once

#include <optional>

namespace kernelpack {

/// How often operator new was called in this process, by every thread; nothing under a sanitizer, which
/// brings its own allocator. A program counts if it is linked with kernelpack_allocation_count.
std::optional<long> allocation_count() noexcept;

/// From now on operator new of this thread succeeds so many times and then fails, until this goes. Does
/// nothing under a sanitizer.
class AllocationLimit {
 public:
  explicit AllocationLimit(long allocations) noexcept;
  ~AllocationLimit();
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;
};

}  // namespace kernelpack
