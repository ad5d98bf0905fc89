#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "webgpu/pipeline_build.hpp"

namespace kernelpack::webgpu {

/// How many pipelines of those that are needed are there.
using PipelineProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Compiled pipelines by rendered text, entry point and binding types; shared by all kernels of a device.
class PipelineCache {
 public:
  explicit PipelineCache(const GpuDevice& device) : device_(device) {}

  /// The pipeline of a pass, compiled on first use; callers of the same pass wait for one compilation. Takes
  /// the device's lock. Throws shader, naming the compiler, its text and the place, or limit for too many
  /// bindings.
  std::shared_ptr<const Pipeline> get(const PlannedPass& pass);
  /// Compiles what is not there yet, several at a time. `progress` counts distinct pipelines, those that are
  /// there included. The others are compiled although one fails. Throws as `get`, for the first pass that
  /// fails.
  void get_all(std::span<const PlannedPass* const> passes, const PipelineProgress& progress = {});
  std::uint64_t compiled() const;

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const Pipeline> pipeline;
  };
  /// Throws template_ if there is no text.
  std::shared_ptr<Entry> entry_of(const PlannedPass& pass);
  PipelineRequest request_of(const PlannedPass& pass) const;
  void require_limits(const PlannedPass& pass) const;
  void count_one();

  const GpuDevice& device_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries_;
  std::uint64_t compiled_ = 0;
};

}  // namespace kernelpack::webgpu
