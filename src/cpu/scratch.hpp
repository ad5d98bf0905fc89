#pragma once

#include <cstddef>

namespace kernelpack::cpu {

/// At least `count` floats, aligned to 64 bytes, that belong to the calling thread until its next call of
/// this function. The memory is kept for later calls and freed when the thread ends. Null if there is no
/// memory.
float* thread_scratch(std::size_t count) noexcept;

}  // namespace kernelpack::cpu
