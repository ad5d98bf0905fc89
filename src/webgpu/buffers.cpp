#include "webgpu/buffers.hpp"

#include <fmt/format.h>

#include <atomic>

namespace kernelpack::webgpu {
namespace {

// Idle memory beyond this goes back to the driver, least recently used first.
constexpr std::uint64_t kIdleBudget = std::uint64_t{256} << 20;

WGPUBufferUsage usage_of(BufferUse use) {
  switch (use) {
    case BufferUse::storage:
      return WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
    case BufferUse::readback:
      return WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst;
    case BufferUse::uniform:
      break;
  }
  return WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst;
}

// Sizes in steps of at most a quarter let a buffer serve neighbouring shapes.
std::uint64_t round_size(std::uint64_t bytes, std::uint64_t limit) {
  std::uint64_t step = 256;
  while (step * 8 < bytes) step *= 2;
  const std::uint64_t rounded = (bytes + step - 1) / step * step;
  return rounded <= limit ? rounded : bytes;
}

}  // namespace

std::uint64_t next_buffer_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

PooledBuffer& PooledBuffer::operator=(PooledBuffer&& other) noexcept {
  if (this != &other) {
    if (pool_ != nullptr) pool_->give_back(use_, std::move(buffer_));
    pool_ = std::exchange(other.pool_, nullptr);
    use_ = other.use_;
    buffer_ = std::move(other.buffer_);
    fresh_ = other.fresh_;
  }
  return *this;
}

PooledBuffer::~PooledBuffer() {
  if (pool_ != nullptr) pool_->give_back(use_, std::move(buffer_));
}

void PooledBuffer::discard() noexcept {
  if (pool_ != nullptr) std::exchange(pool_, nullptr)->destroy(buffer_);
}

BufferPool::~BufferPool() {
  for (Idle& idle : idle_) destroy(idle.buffer);
}

void BufferPool::require_size(std::uint64_t bytes, std::string_view label) const {
  if (bytes > device_.limits().maxBufferSize)
    throw Error(ErrorKind::limit,
                fmt::format("The buffer of {} ({} bytes) exceeds the device's maxBufferSize ({} bytes)",
                            label, bytes, device_.limits().maxBufferSize));
}

Buffer BufferPool::create(BufferUse use, std::uint64_t bytes, std::string_view label, bool mapped) {
  require_size(bytes, label);
  WGPUBufferDescriptor descriptor{};
  descriptor.label = view(label);
  descriptor.usage = usage_of(use);
  descriptor.size = bytes;
  descriptor.mappedAtCreation = mapped ? 1 : 0;
  CapturedError refused;
  auto buffer = try_create(descriptor, refused);
  if (!buffer && refused.type == WGPUErrorType_OutOfMemory && drop_idle())
    buffer = try_create(descriptor, refused);
  if (!buffer)
    throw library_error(refused, fmt::format("The buffer of {} ({} bytes) cannot be made", label, bytes));
  const std::lock_guard lock(mutex_);
  ++created_;
  return std::move(*buffer);
}

std::optional<Buffer> BufferPool::try_create(const WGPUBufferDescriptor& descriptor, CapturedError& refused) {
  const Functions& f = device_.functions();
  ErrorScope scope(device_,
                   {WGPUErrorFilter_Validation, WGPUErrorFilter_OutOfMemory, WGPUErrorFilter_Internal});
  Buffer buffer{next_buffer_id(),
                Handle<WGPUBuffer>(f.DeviceCreateBuffer(device_.get(), &descriptor), f.BufferRelease),
                descriptor.size};
  if (auto captured = scope.close()) {
    refused = std::move(*captured);
    return std::nullopt;
  }
  if (!buffer.handle) {
    // A buffer that is mapped while it is made is null then.
    refused = {WGPUErrorType_OutOfMemory, "the library gives no buffer"};
    return std::nullopt;
  }
  return buffer;
}

bool BufferPool::drop_idle() noexcept {
  std::vector<Idle> idle;
  {
    const std::lock_guard lock(mutex_);
    idle.swap(idle_);
    idle_bytes_ = 0;
  }
  for (Idle& each : idle) destroy(each.buffer);
  return !idle.empty();
}

PooledBuffer BufferPool::take_idle(BufferUse use, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto best = idle_.rend();
  for (auto entry = idle_.rbegin(); entry != idle_.rend(); ++entry) {
    if (entry->use != use || entry->buffer.size < bytes) continue;
    if (entry->buffer.size > 2 * bytes + 4096) continue;
    if (best == idle_.rend() || entry->buffer.size < best->buffer.size) best = entry;
  }
  if (best == idle_.rend()) return {};
  Buffer buffer = std::move(best->buffer);
  idle_.erase(std::next(best).base());
  idle_bytes_ -= buffer.size;
  return PooledBuffer(*this, use, std::move(buffer), false);
}

PooledBuffer BufferPool::acquire(BufferUse use, std::uint64_t bytes, std::string_view label) {
  require_size(bytes, label);
  PooledBuffer idle = take_idle(use, bytes);
  if (idle.get() != nullptr) return idle;
  return PooledBuffer(*this, use, create(use, round_size(bytes, device_.limits().maxBufferSize), label),
                      true);
}

PooledBuffer BufferPool::create_mapped(BufferUse use, std::uint64_t bytes, std::string_view label) {
  require_size(bytes, label);
  return PooledBuffer(*this, use, create(use, round_size(bytes, device_.limits().maxBufferSize), label, true),
                      true);
}

std::size_t BufferPool::idle() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

std::uint64_t BufferPool::created() const {
  const std::lock_guard lock(mutex_);
  return created_;
}

void BufferPool::give_back(BufferUse use, Buffer buffer) noexcept {
  if (!buffer.handle) return;
  const std::lock_guard lock(mutex_);
  idle_bytes_ += buffer.size;
  idle_.push_back({use, std::move(buffer)});
  while (idle_bytes_ > kIdleBudget) {
    idle_bytes_ -= idle_.front().buffer.size;
    destroy(idle_.front().buffer);
    idle_.erase(idle_.begin());
  }
}

// A destroyed buffer frees its memory at once, although bind groups may still refer to it.
void BufferPool::destroy(Buffer& buffer) noexcept {
  if (!buffer.handle) return;
  bind_groups_.forget(buffer.id);
  device_.functions().BufferDestroy(buffer.handle.get());
  buffer.handle.reset();
}

}  // namespace kernelpack::webgpu
