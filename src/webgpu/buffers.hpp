#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "webgpu/bind_groups.hpp"

namespace kernelpack::webgpu {

/// A number that no other buffer of the process has had.
std::uint64_t next_buffer_id() noexcept;

/// A buffer of ours; destroyed with its last owner.
struct Buffer {
  std::uint64_t id = 0;
  Handle<WGPUBuffer> handle;
  std::uint64_t size = 0;
};

enum class BufferUse {
  storage,   ///< storage, copy source and destination
  readback,  ///< mapped for reading, copy destination
  uniform,   ///< uniform, copy destination
};

class BufferPool;

/// A buffer lent by a pool; goes back to it at the end of its life.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  PooledBuffer(BufferPool& pool, BufferUse use, Buffer buffer, bool fresh) noexcept
      : pool_(&pool), use_(use), buffer_(std::move(buffer)), fresh_(fresh) {}
  PooledBuffer(PooledBuffer&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        use_(other.use_),
        buffer_(std::move(other.buffer_)),
        fresh_(other.fresh_) {}
  PooledBuffer& operator=(PooledBuffer&& other) noexcept;
  ~PooledBuffer();

  const Buffer& buffer() const noexcept { return buffer_; }
  WGPUBuffer get() const noexcept { return buffer_.handle.get(); }
  /// Never used before, so all zero.
  bool fresh() const noexcept { return fresh_; }
  /// The first `bytes` bytes.
  BoundRange range(std::uint64_t bytes) const noexcept { return {buffer_.id, get(), 0, bytes}; }
  /// Destroys the buffer instead of giving it back: its state is unknown.
  void discard() noexcept;

 private:
  BufferPool* pool_ = nullptr;
  BufferUse use_ = BufferUse::storage;
  Buffer buffer_;
  bool fresh_ = false;
};

/// Makes buffers and keeps idle ones for reuse. Thread-safe; creation happens under the device's lock.
class BufferPool {
 public:
  BufferPool(const GpuDevice& device, BindGroupCache& bind_groups)
      : device_(device), bind_groups_(bind_groups) {}
  ~BufferPool();

  /// A new buffer of exactly `bytes` bytes. `mapped`: mapped for writing, to be unmapped by the caller. Idle
  /// buffers go if there is no memory otherwise. Throws limit if it exceeds the device's limit or memory runs
  /// out; `label` names it in the message.
  Buffer create(BufferUse use, std::uint64_t bytes, std::string_view label, bool mapped = false);
  /// An idle buffer of at least `bytes` bytes, or nothing.
  PooledBuffer take_idle(BufferUse use, std::uint64_t bytes);
  /// An idle buffer, or a new one.
  PooledBuffer acquire(BufferUse use, std::uint64_t bytes, std::string_view label);
  /// A new buffer, mapped for writing, that will go to the pool.
  PooledBuffer create_mapped(BufferUse use, std::uint64_t bytes, std::string_view label);
  /// Throws limit if no buffer of that size can exist.
  void require_size(std::uint64_t bytes, std::string_view label) const;

  std::size_t idle() const;
  std::uint64_t created() const;

 private:
  friend class PooledBuffer;
  void give_back(BufferUse use, Buffer buffer) noexcept;
  void destroy(Buffer& buffer) noexcept;
  /// Destroys the idle buffers; false if there was none.
  bool drop_idle() noexcept;
  /// Nothing if the library refuses, for the reason that `refused` gives then.
  std::optional<Buffer> try_create(const WGPUBufferDescriptor& descriptor, CapturedError& refused);

  struct Idle {
    BufferUse use;
    Buffer buffer;
  };
  const GpuDevice& device_;
  BindGroupCache& bind_groups_;
  mutable std::mutex mutex_;
  std::vector<Idle> idle_;  ///< least recently used first
  std::uint64_t idle_bytes_ = 0;
  std::uint64_t created_ = 0;
};

}  // namespace kernelpack::webgpu
