#pragma once

#include <optional>

namespace kernelpack {

/// How often operator new was called in this process, by every thread; nothing under a sanitizer, which
/// brings its own allocator. A program counts if it is linked with kernelpack_allocation_count.
std::optional<long> allocation_count() noexcept;

}  // namespace kernelpack
