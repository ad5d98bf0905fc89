#include "webgpu/uniforms.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpack::webgpu {
namespace {
constexpr std::uint32_t kSlotsPerPage = 256;
}

UniformSlots& UniformSlots::operator=(UniformSlots&& other) noexcept {
  if (this != &other) {
    if (store_ != nullptr) store_->give_back(page_, first_, count_);
    store_ = std::exchange(other.store_, nullptr);
    page_ = other.page_;
    first_ = other.first_;
    count_ = other.count_;
  }
  return *this;
}

UniformSlots::~UniformSlots() {
  if (store_ != nullptr) store_->give_back(page_, first_, count_);
}

BoundRange UniformSlots::page() const noexcept {
  const std::lock_guard lock(store_->mutex_);
  const Buffer& buffer = store_->pages_[page_]->buffer;
  return {buffer.id, buffer.handle.get(), 0, buffer.size};
}

std::uint64_t UniformSlots::offset() const noexcept {
  return std::uint64_t{first_} * store_->slot_bytes_;
}

UniformStore::UniformStore(const GpuDevice& device, BufferPool& pool)
    : device_(device),
      pool_(pool),
      slot_bytes_(std::max(256u, device.limits().minUniformBufferOffsetAlignment)) {}

UniformSlots UniformStore::store(std::span<const std::uint32_t> words) {
  const std::uint64_t bytes = words.size() * 4;
  if (bytes > device_.limits().maxUniformBufferBindingSize)
    throw Error(
        ErrorKind::limit,
        fmt::format("A uniform buffer ({} bytes) exceeds the device's maxUniformBufferBindingSize ({} bytes)",
                    bytes, device_.limits().maxUniformBufferBindingSize));
  const auto count =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (bytes + slot_bytes_ - 1) / slot_bytes_));
  std::size_t page_index = 0;
  std::uint32_t first = 0;
  WGPUBuffer buffer = nullptr;
  const auto claim = [&](std::size_t index) {
    Page& page = *pages_[index];
    const auto found = std::search_n(page.taken.begin(), page.taken.end(), static_cast<int>(count), false);
    if (found == page.taken.end()) return false;
    std::fill_n(found, count, true);
    page_index = index;
    first = static_cast<std::uint32_t>(found - page.taken.begin());
    buffer = page.buffer.handle.get();
    return true;
  };
  {
    std::unique_lock lock(mutex_);
    bool found = false;
    for (std::size_t index = 0; index < pages_.size() && !found; ++index) found = claim(index);
    if (!found) {
      const std::uint32_t slots = std::max(kSlotsPerPage, count);
      lock.unlock();
      Buffer fresh = pool_.create(BufferUse::uniform, std::uint64_t{slots} * slot_bytes_, "uniforms");
      lock.lock();
      pages_.push_back(std::make_unique<Page>(Page{std::move(fresh), std::vector<bool>(slots, false)}));
      claim(pages_.size() - 1);
    }
  }
  UniformSlots slots(*this, page_index, first, count);
  if (!words.empty())
    device_.functions().QueueWriteBuffer(device_.queue(), buffer, slots.offset(), words.data(), bytes);
  return slots;
}

std::size_t UniformStore::pages() const {
  const std::lock_guard lock(mutex_);
  return pages_.size();
}

void UniformStore::give_back(std::size_t page, std::uint32_t first, std::uint32_t count) noexcept {
  const std::lock_guard lock(mutex_);
  std::fill_n(pages_[page]->taken.begin() + first, count, false);
}

}  // namespace kernelpack::webgpu
