#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "webgpu/gpu_device.hpp"

namespace kernelpack::webgpu {

/// A buffer range of one binding. `buffer_id` is unique for the life of the process, unlike the handle's
/// address.
struct BoundRange {
  std::uint64_t buffer_id = 0;
  WGPUBuffer buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// One entry of a bind group.
struct GroupEntry {
  std::uint32_t binding = 0;
  BoundRange range;
};

/// A bind group of the cache. `id` is unique for the life of the cache, unlike the handle's address.
struct KnownGroup {
  WGPUBindGroup group = nullptr;
  std::uint64_t id = 0;
};

/// Bind groups by layout and ranges; the oldest go when there are more than `kCapacity`. A hit allocates
/// nothing.
class BindGroupCache {
 public:
  static constexpr std::size_t kCapacity = 4096;

  explicit BindGroupCache(const GpuDevice& device) : device_(device) {}

  /// The group, made on first use; under the device's lock. Valid until `forget` of one of its buffers or the
  /// next 4096 new groups: to be recorded at once. Throws device, naming the pass, for ranges that the
  /// library refuses: a buffer of another device, a usage, an alignment.
  KnownGroup get(WGPUBindGroupLayout layout, std::span<const GroupEntry> entries, std::string_view pass);
  /// Drops the groups that refer to a buffer which is about to go. Safe from any thread.
  void forget(std::uint64_t buffer_id);
  std::size_t size() const;

 private:
  struct Entry {
    std::uint64_t hash;
    WGPUBindGroupLayout layout;
    std::vector<GroupEntry> entries;
    Handle<WGPUBindGroup> group;
    std::uint64_t id;
  };
  using Order = std::list<Entry>;
  void drop(Order::iterator entry);

  const GpuDevice& device_;
  mutable std::mutex mutex_;
  Order order_;  ///< oldest first
  std::uint64_t last_id_ = 0;
  std::unordered_multimap<std::uint64_t, Order::iterator> by_hash_;
};

}  // namespace kernelpack::webgpu
