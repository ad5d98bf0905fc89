#include "webgpu/bind_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpack::webgpu {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
  hash *= 0xFF51AFD7ED558CCDu;
  return hash ^ (hash >> 32);
}

std::uint64_t hash_of(WGPUBindGroupLayout layout, std::span<const GroupEntry> entries) noexcept {
  std::uint64_t hash = mix(entries.size(), reinterpret_cast<std::uintptr_t>(layout));
  for (const GroupEntry& entry : entries) {
    hash = mix(hash, entry.range.buffer_id);
    hash = mix(hash, entry.range.offset);
    hash = mix(hash, entry.range.size);
  }
  return hash;
}

bool same(const GroupEntry& a, const GroupEntry& b) noexcept {
  return a.binding == b.binding && a.range.buffer_id == b.range.buffer_id &&
         a.range.offset == b.range.offset && a.range.size == b.range.size;
}

}  // namespace

KnownGroup BindGroupCache::get(WGPUBindGroupLayout layout, std::span<const GroupEntry> entries,
                               std::string_view pass) {
  const std::uint64_t hash = hash_of(layout, entries);
  const std::lock_guard lock(mutex_);
  for (auto [at, end] = by_hash_.equal_range(hash); at != end; ++at) {
    const Entry& known = *at->second;
    if (known.layout == layout &&
        std::equal(entries.begin(), entries.end(), known.entries.begin(), known.entries.end(), same))
      return {known.group.get(), known.id};
  }

  std::vector<WGPUBindGroupEntry> raw;
  for (const GroupEntry& entry : entries) {
    WGPUBindGroupEntry item{};
    item.binding = entry.binding;
    item.buffer = entry.range.buffer;
    item.offset = entry.range.offset;
    item.size = entry.range.size;
    raw.push_back(item);
  }
  WGPUBindGroupDescriptor descriptor{};
  descriptor.layout = layout;
  descriptor.entryCount = raw.size();
  descriptor.entries = raw.data();
  const Functions& f = device_.functions();
  ErrorScope scope(device_);
  Handle<WGPUBindGroup> group(f.DeviceCreateBindGroup(device_.get(), &descriptor), f.BindGroupRelease);
  if (const auto refused = scope.close())
    throw library_error(*refused, fmt::format("The library refuses the buffers of pass {}", pass));
  if (order_.size() >= kCapacity) drop(order_.begin());
  order_.push_back({hash, layout, {entries.begin(), entries.end()}, std::move(group), ++last_id_});
  by_hash_.emplace(hash, std::prev(order_.end()));
  return {order_.back().group.get(), last_id_};
}

void BindGroupCache::forget(std::uint64_t buffer_id) {
  const std::lock_guard lock(mutex_);
  for (auto entry = order_.begin(); entry != order_.end();) {
    const auto current = entry++;
    const auto& ranges = current->entries;
    if (std::any_of(ranges.begin(), ranges.end(),
                    [&](const GroupEntry& item) { return item.range.buffer_id == buffer_id; }))
      drop(current);
  }
}

std::size_t BindGroupCache::size() const {
  const std::lock_guard lock(mutex_);
  return order_.size();
}

void BindGroupCache::drop(Order::iterator entry) {
  for (auto [at, end] = by_hash_.equal_range(entry->hash); at != end; ++at) {
    if (at->second != entry) continue;
    by_hash_.erase(at);
    break;
  }
  order_.erase(entry);
}

}  // namespace kernelpack::webgpu
