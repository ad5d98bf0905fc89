#include "plan/cache.hpp"

#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace kernelpack::plan {
namespace {

/// Mixes 64-bit words.
class Hash {
 public:
  void word(std::uint64_t value) noexcept {
    state_ = (state_ ^ value) * 0x9E3779B97F4A7C15ull;
    state_ ^= state_ >> 29;
  }
  void text(std::string_view value) noexcept {
    word(value.size());
    while (value.size() >= 8) {
      std::uint64_t chunk = 0;
      std::memcpy(&chunk, value.data(), 8);
      word(chunk);
      value.remove_prefix(8);
    }
    if (value.empty()) return;
    std::uint64_t chunk = 0;
    std::memcpy(&chunk, value.data(), value.size());
    word(chunk);
  }
  // Equal numbers must hash alike, and 0 equals -0.
  void number(double value) noexcept { word(std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value)); }

  void tensors(const std::vector<BoundTensor>& tensors) noexcept {
    word(tensors.size());
    for (const BoundTensor& tensor : tensors) {
      text(tensor.name);
      word(static_cast<std::uint64_t>(tensor.dtype) << 32 | static_cast<std::uint64_t>(tensor.storage) << 16 |
           static_cast<std::uint64_t>(tensor.packed) << 1 | static_cast<std::uint64_t>(tensor.inout));
      word(tensor.shape.size());
      for (const std::int64_t dim : tensor.shape) word(static_cast<std::uint64_t>(dim));
    }
  }
  void value(const AttributeValue& value) noexcept {
    if (const bool* boolean = value.boolean())
      word(*boolean ? 3 : 2);
    else if (const double* numeric = value.number())
      number(*numeric);
    else if (const std::string* string = value.string())
      text(*string);
    else if (const AttributeValue::List* list = value.list()) {
      word(list->size());
      for (const AttributeValue& item : *list) this->value(item);
    } else {
      word(1);
    }
  }
  void values(const NamedValues& values) noexcept {
    word(values.size());
    for (const NamedValue& named : values) {
      text(named.name);
      value(named.value);
    }
  }
  std::uint64_t result() const noexcept { return state_; }

 private:
  std::uint64_t state_ = 0x8EBC6AF09C88C6E3ull;
};

}  // namespace

std::uint64_t hash_key(const Call& call, const DeviceFacts& facts, const PlanOptions& options) noexcept {
  Hash hash;
  hash.tensors(call.inputs);
  hash.tensors(call.outputs);
  hash.values(call.attributes);
  hash.values(call.arguments);
  hash.values(call.tunables);
  hash.values(options.profile);
  hash.text(call.variant);
  // Of the device and the options only a digest: the comparison that follows a hit is complete.
  hash.word(facts.features.size() << 32 | facts.limits.size() << 16 | facts.wgsl_language_features.size());
  for (const auto& [name, value] : facts.limits) hash.number(value);
  hash.text(facts.vendor);
  hash.word(static_cast<std::uint64_t>(facts.subgroup_min_size.value_or(0)));
  hash.word(options.buffers.size() << 1 | static_cast<std::uint64_t>(options.allow_missing_templates));
  for (const TensorBuffer& buffer : options.buffers) {
    hash.text(buffer.buffer);
    hash.word(buffer.byte_offset);
  }
  return hash.result();
}

struct Cache::Entry {
  Call call;
  DeviceFacts facts;
  PlanOptions options;
  Plan plan;

  bool matches(const Call& other_call, const DeviceFacts& other_facts,
               const PlanOptions& other_options) const {
    return call == other_call && facts == other_facts && options == other_options;
  }
};

struct alignas(128) Cache::Shelf {
  /// A plan with a reference count that only the threads of this shelf touch.
  struct Slot {
    std::shared_ptr<const Entry> entry;
    std::shared_ptr<const Plan> plan;
  };

  const Slot* find(std::uint64_t hash, const Call& call, const DeviceFacts& facts,
                   const PlanOptions& options) const {
    const auto [first, last] = slots.equal_range(hash);
    for (auto slot = first; slot != last; ++slot)
      if (slot->second.entry->matches(call, facts, options)) return &slot->second;
    return nullptr;
  }

  std::shared_ptr<const Plan> insert(std::uint64_t hash, std::shared_ptr<const Entry> entry,
                                     std::size_t capacity) {
    // The owner keeps the entry alive; its own count is what copies of the plan touch.
    struct Owner {
      std::shared_ptr<const Entry> entry;
      char apart[128];  // keeps counts of neighbouring allocations off this one's cache line
    };
    const auto owner = std::make_shared<Owner>(Owner{entry, {}});
    std::shared_ptr<const Plan> plan(owner, &entry->plan);
    const Entry* key = entry.get();
    slots.emplace(hash, Slot{std::move(entry), plan});
    order.emplace_back(hash, key);
    while (order.size() > capacity) {
      const auto [oldest, dropped] = order.front();
      order.pop_front();
      const auto [first, last] = slots.equal_range(oldest);
      for (auto slot = first; slot != last; ++slot)
        if (slot->second.entry.get() == dropped) {
          slots.erase(slot);
          break;
        }
    }
    return plan;
  }

  mutable std::mutex mutex;
  std::unordered_multimap<std::uint64_t, Slot> slots;
  std::deque<std::pair<std::uint64_t, const Entry*>> order;
};

Cache::Cache(std::size_t capacity)
    : capacity_(capacity == 0 ? 1 : capacity),
      all_(std::make_unique<Shelf>()),
      by_thread_(std::make_unique<Shelf[]>(kShelves)) {}

Cache::~Cache() = default;

Cache::Shelf& Cache::shelf_of_this_thread() const noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return by_thread_[number % kShelves];
}

std::shared_ptr<const Plan> Cache::get(const Call& call, const DeviceFacts& facts, const PlanOptions& options,
                                       const Make& make) {
  const std::uint64_t hash = hash_key(call, facts, options);
  Shelf& own = shelf_of_this_thread();
  {
    const std::lock_guard lock(own.mutex);
    if (const Shelf::Slot* slot = own.find(hash, call, facts, options)) return slot->plan;
  }
  const auto known = [&]() -> std::shared_ptr<const Entry> {
    const std::lock_guard lock(all_->mutex);
    const Shelf::Slot* slot = all_->find(hash, call, facts, options);
    return slot == nullptr ? nullptr : slot->entry;
  };
  std::shared_ptr<const Entry> entry = known();
  if (entry == nullptr) {
    auto made = std::make_shared<const Entry>(Entry{call, facts, options, make()});
    const std::lock_guard lock(all_->mutex);
    if (const Shelf::Slot* slot = all_->find(hash, call, facts, options)) {
      entry = slot->entry;  // another thread was faster
    } else {
      entry = made;
      all_->insert(hash, std::move(made), capacity_);
    }
  }
  const std::lock_guard lock(own.mutex);
  if (const Shelf::Slot* slot = own.find(hash, call, facts, options)) return slot->plan;
  return own.insert(hash, std::move(entry), capacity_);
}

std::size_t Cache::size() const {
  const std::lock_guard lock(all_->mutex);
  return all_->slots.size();
}

}  // namespace kernelpack::plan
