#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/call.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"
#include "plan/hazards.hpp"

namespace kernelpack::plan {

/// Where each tensor and scratch of a plan lies: by default each in a buffer of its own.
class Placement {
 public:
  /// Throws contract for a label of an unknown tensor, two labels for one tensor, and an offset that
  /// overflows.
  Placement(const Call& call, const std::vector<TensorBuffer>& labels);

  void add_scratch(const PlannedScratch& scratch);
  /// What a storage binding exposes.
  BufferRange range(const PlannedBinding& binding) const;

 private:
  struct Place {
    std::string target;
    bool scratch;
    std::string buffer;
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Place> places_;
};

/// Marks a pass as skipped if its dispatch is empty or all its view aliases hold; else applies the rules of
/// buffers to it: hazards, sized bindings and the limits of the device. Throws contract and limit.
void settle_pass(PlannedPass& pass, const package::Pass& source, const Call& call, const Placement& placement,
                 const DeviceFacts& facts);

/// Throws limit if a buffer that the call needs exceeds maxBufferSize.
void check_buffer_sizes(const Call& call, const std::vector<PlannedScratch>& scratch,
                        const DeviceFacts& facts);

}  // namespace kernelpack::plan
