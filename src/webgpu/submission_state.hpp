#pragma once

#include <memory>
#include <span>
#include <vector>

#include "webgpu/device_memory.hpp"

namespace kernelpack::webgpu {

/// The calls that a submission collected. Flat lists, whose capacity serves the next ones.
struct Submission::State {
  struct Item {
    std::shared_ptr<const Program> program;
    std::size_t first_tensor = 0;
  };
  std::shared_ptr<Engine> engine;
  std::vector<Item> items;
  std::vector<BoundRange> ranges;
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<BoundRange> scratch_ranges;
  std::vector<PooledBuffer> scratch;

  std::span<const BoundRange> tensors_of(const Item& item) const {
    return std::span<const BoundRange>(ranges).subspan(item.first_tensor, item.program->tensors.size());
  }
  /// Adds scratch for one more program to the lists; under the device's lock.
  void take_scratch(const Program& program) {
    for (const ProgramScratch& item : program.scratch) {
      scratch.push_back(engine->buffers().acquire(BufferUse::storage, item.bytes, item.id));
      scratch_ranges.push_back(scratch.back().range(item.bytes));
    }
  }
  void clear() noexcept {
    items.clear();
    ranges.clear();
    memories.clear();
    scratch_ranges.clear();
    scratch.clear();
  }
};

}  // namespace kernelpack::webgpu
