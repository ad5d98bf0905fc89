#include "cpu/scratch.hpp"

#include <cstdlib>
#include <memory>

namespace kernelpack::cpu {
namespace {

struct Free {
  void operator()(float* memory) const noexcept { std::free(memory); }
};

struct Scratch {
  std::unique_ptr<float, Free> memory;
  std::size_t count = 0;
};

}  // namespace

float* thread_scratch(std::size_t count) noexcept {
  thread_local Scratch scratch;
  if (count > scratch.count) {
    constexpr std::size_t kLine = 64;
    const std::size_t bytes = (count * sizeof(float) + kLine - 1) / kLine * kLine;
    scratch.memory.reset(static_cast<float*>(std::aligned_alloc(kLine, bytes)));
    scratch.count = scratch.memory ? bytes / sizeof(float) : 0;
  }
  return scratch.memory.get();
}

}  // namespace kernelpack::cpu
