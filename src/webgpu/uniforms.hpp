#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "webgpu/buffers.hpp"

namespace kernelpack::webgpu {

class UniformStore;

/// Consecutive slots of a uniform buffer; given back at the end of its life.
class UniformSlots {
 public:
  UniformSlots() = default;
  UniformSlots(UniformStore& store, std::size_t page, std::uint32_t first, std::uint32_t count) noexcept
      : store_(&store), page_(page), first_(first), count_(count) {}
  UniformSlots(UniformSlots&& other) noexcept
      : store_(std::exchange(other.store_, nullptr)),
        page_(other.page_),
        first_(other.first_),
        count_(other.count_) {}
  UniformSlots& operator=(UniformSlots&& other) noexcept;
  ~UniformSlots();

  /// The whole buffer that the slots are in: bound once, told apart by dynamic offsets.
  BoundRange page() const noexcept;
  std::uint64_t offset() const noexcept;

 private:
  UniformStore* store_ = nullptr;
  std::size_t page_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

/// Uniform values in slots of shared buffers. A compiled plan writes its values once, so that a call in the
/// steady state writes none, and bind groups are shared by all plans, which differ in the dynamic offset
/// alone. A slot may be written anew as soon as it is given back: the queue orders the write behind earlier
/// submissions.
class UniformStore {
 public:
  UniformStore(const GpuDevice& device, BufferPool& pool);

  /// Room for `words`, written through the queue; under the device's lock.
  UniformSlots store(std::span<const std::uint32_t> words);
  std::size_t pages() const;

 private:
  friend class UniformSlots;
  struct Page {
    Buffer buffer;
    std::vector<bool> taken;
  };
  void give_back(std::size_t page, std::uint32_t first, std::uint32_t count) noexcept;

  const GpuDevice& device_;
  BufferPool& pool_;
  std::uint32_t slot_bytes_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace kernelpack::webgpu
