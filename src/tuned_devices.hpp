#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "kernelpack/tuning.hpp"

namespace kernelpack {

/// The plan options of a package for each device that it has met: looked up once, then found again without
/// touching a file. Thread-safe.
class TunedDevices {
 public:
  /// Valid while this lives.
  const PlanOptions& options(const Package& package, const Device& device);

 private:
  struct Entry {
    std::weak_ptr<webgpu::Engine> engine;
    PlanOptions options;
  };
  std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace kernelpack
