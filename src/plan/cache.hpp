#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "kernelpack/call.hpp"
#include "kernelpack/plan.hpp"

namespace kernelpack::plan {

/// Plans by call, device and options: everything that can influence one. The same key gives the same plan
/// object for as long as it is kept; the oldest of more than `capacity` plans are forgotten. Thread-safe:
/// threads look up in different shelves, each with its own lock and its own reference counts, so that hits of
/// several threads do not meet.
class Cache {
 public:
  explicit Cache(std::size_t capacity = 4096);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  using Make = std::function<Plan()>;
  /// The plan of that key; `make` is called, without any lock held, if there is none. What it throws passes
  /// through and leaves no trace.
  std::shared_ptr<const Plan> get(const Call& call, const DeviceFacts& facts, const PlanOptions& options,
                                  const Make& make);

  /// Plans that are kept.
  std::size_t size() const;

 private:
  struct Entry;
  struct Shelf;
  static constexpr std::size_t kShelves = 16;

  Shelf& shelf_of_this_thread() const noexcept;

  std::size_t capacity_;
  std::unique_ptr<Shelf> all_;  ///< every plan; asked on a miss of the thread's own shelf
  std::unique_ptr<Shelf[]> by_thread_;
};

/// A hash of everything that a plan depends on.
std::uint64_t hash_key(const Call& call, const DeviceFacts& facts, const PlanOptions& options) noexcept;

}  // namespace kernelpack::plan
