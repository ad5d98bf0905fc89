#include "profile.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "figures.hpp"
#include "kernelpack/batch.hpp"
#include "layout.hpp"

namespace kernelpack::cli {
namespace {

constexpr int kWarmUps = 3;
constexpr int kRounds = 9;

std::uint64_t stored_bytes(const BoundTensor& bound) {
  return static_cast<std::uint64_t>(element_count(bound.shape)) * element_size(bound.storage);
}

// What a pass touches: every tensor and scratch buffer that it binds, once.
std::uint64_t bytes_of(const Plan& plan, const PlannedPass& pass) {
  std::vector<std::string> seen;
  std::uint64_t bytes = 0;
  for (const PlannedBinding& binding : pass.bindings) {
    if (binding.resource == PlannedBinding::Resource::uniform) continue;
    if (std::find(seen.begin(), seen.end(), binding.target) != seen.end()) continue;
    seen.push_back(binding.target);
    for (const BoundTensor& tensor : plan.tensors)
      if (binding.resource == PlannedBinding::Resource::tensor && tensor.name == binding.target)
        bytes += stored_bytes(tensor);
    for (const PlannedScratch& scratch : plan.scratch)
      if (binding.resource == PlannedBinding::Resource::scratch && scratch.id == binding.target)
        bytes += scratch.bytes;
  }
  return bytes;
}

std::vector<DeviceTensor> tensors_for(const Device& device, const Plan& plan, const Inputs& inputs) {
  std::vector<DeviceTensor> tensors;
  for (const BoundTensor& bound : plan.tensors) {
    const StorageOptions options{
        .storage = bound.storage, .packed = bound.packed, .saturating = bound.saturating};
    const auto input = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const NamedInput& each) { return each.name == bound.name; });
    tensors.push_back(input != inputs.end()
                          ? DeviceTensor::upload(device, input->tensor, options)
                          : DeviceTensor::zeros(device, {bound.dtype, bound.shape}, options));
  }
  return tensors;
}

std::vector<Timing> rounds_of(const Device& device, const std::shared_ptr<const Plan>& plan,
                              std::span<const DeviceTensor> tensors) {
  std::vector<Timing> timings;
  for (int round = -kWarmUps; round < kRounds; ++round) {
    Batch batch(device);
    batch.add(plan, tensors);
    Timing timing = batch.measure({.each_pass = true});
    if (round >= 0) timings.push_back(std::move(timing));
  }
  return timings;
}

std::string rate_text(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? metric_text(static_cast<double>(bytes) / seconds, "B/s") : "-";
}

}  // namespace

Profile profile(const Device& device, const Kernel& kernel, const Call& call, const Inputs& inputs) {
  const std::shared_ptr<const Plan> plan = kernel.plan(call, device);
  Profile result;
  result.variant = plan->variant;
  result.rounds = kRounds;
  {
    const std::vector<DeviceTensor> tensors = tensors_for(device, *plan, inputs);
    const std::vector<Timing> timings = rounds_of(device, plan, tensors);
    result.device_clock = timings.front().device_clock;
    for (std::size_t i = 0; i < timings.front().passes.size(); ++i) {
      std::vector<double> seconds;
      for (const Timing& timing : timings) seconds.push_back(timing.passes[i].seconds);
      PassProfile made{timings.front().passes[i].id, {}, median(seconds), 0};
      for (const PlannedPass& pass : plan->passes) {
        if (pass.id != made.id) continue;
        made.name = pass.name;
        made.bytes = bytes_of(*plan, pass);
      }
      result.passes.push_back(std::move(made));
    }
  }
  for (const BoundTensor& bound : call.inputs) result.copy_bytes += stored_bytes(bound);
  for (const BoundTensor& bound : call.outputs) result.copy_bytes += stored_bytes(bound);
  const auto copy = std::make_shared<const Plan>(copy_plan(result.copy_bytes));
  const std::vector<DeviceTensor> tensors = tensors_for(device, *copy, {});
  std::vector<double> seconds;
  for (const Timing& timing : rounds_of(device, copy, tensors)) seconds.push_back(timing.passes[0].seconds);
  result.copy_seconds = median(seconds);
  return result;
}

std::string to_text(const Profile& profile) {
  Table table;
  table.add({"pass", "name", "time", "bytes", "rate", "of copy"});
  const double copy_rate =
      profile.copy_seconds > 0 ? static_cast<double>(profile.copy_bytes) / profile.copy_seconds : 0;
  for (const PassProfile& pass : profile.passes) {
    const double rate = pass.seconds > 0 ? static_cast<double>(pass.bytes) / pass.seconds : 0;
    table.add({pass.id, pass.name, duration_text(pass.seconds), std::to_string(pass.bytes),
               rate_text(pass.bytes, pass.seconds),
               copy_rate > 0 && rate > 0 ? fmt::format("{:.3f}", rate / copy_rate) : "-"});
  }
  table.add({"copy", "", duration_text(profile.copy_seconds), std::to_string(profile.copy_bytes),
             rate_text(profile.copy_bytes, profile.copy_seconds), ""});
  std::string text = table.text(fmt::format("passes of {}", profile.variant));
  text += wrapped(
      fmt::format(
          "{}, median of {}, each pass in a compute pass of its own: a run has one for all, so their sum "
          "is more than its time. Bytes: what a pass binds, each once. Copy: as many bytes as the call's "
          "tensors have.",
          profile.device_clock
              ? "GPU timestamps"
              : "The device has no timestamps: the host's time from submission to completion",
          profile.rounds),
      2);
  return text;
}

Json to_json(const Profile& profile) {
  Json passes = Json::array();
  for (const PassProfile& pass : profile.passes)
    passes.push_back(
        {{"id", pass.id}, {"name", pass.name}, {"seconds", pass.seconds}, {"bytes", pass.bytes}});
  return {{"variant", profile.variant},
          {"clock", profile.device_clock ? "GPU timestamps" : "host clock"},
          {"computePassPerPass", true},
          {"rounds", profile.rounds},
          {"passes", passes},
          {"copy", {{"bytes", profile.copy_bytes}, {"seconds", profile.copy_seconds}}}};
}

}  // namespace kernelpack::cli
