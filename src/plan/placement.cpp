#include "plan/placement.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "base/shape.hpp"
#include "package/model.hpp"
#include "plan/pass_bindings.hpp"

namespace kernelpack::plan {
namespace {

const PlannedBinding& binding_named(const PlannedPass& pass, std::string_view name) {
  const auto found = std::find_if(pass.bindings.begin(), pass.bindings.end(),
                                  [&](const PlannedBinding& binding) { return binding.name == name; });
  if (found == pass.bindings.end())
    throw Error(ErrorKind::package,
                fmt::format("The view alias of pass {} names an unknown binding ({})", pass.id, name));
  return *found;
}

void check_limit(double bytes, std::string_view what, std::string_view limit_name, const DeviceFacts& facts) {
  const std::optional<double> limit = facts.limit(limit_name);
  if (limit && bytes > *limit)
    throw Error(ErrorKind::limit,
                fmt::format("The byte size of {} ({}) exceeds {} ({})", what, javascript_number_text(bytes),
                            limit_name, javascript_number_text(*limit)));
}

bool aliases_hold(const PlannedPass& pass, const package::Pass& source, const Call& call,
                  const Placement& placement) {
  if (source.view_aliases.empty()) return false;
  return std::all_of(
      source.view_aliases.begin(), source.view_aliases.end(), [&](const package::ViewAlias& alias) {
        const PlannedBinding& input = binding_named(pass, alias.input);
        const PlannedBinding& output = binding_named(pass, alias.output);
        if (placement.range(input) != placement.range(output)) return false;
        const BoundTensor* from = find_tensor(call, input.target);
        const BoundTensor* to = find_tensor(call, output.target);
        return from != nullptr && to != nullptr && from->dtype == to->dtype && from->storage == to->storage;
      });
}

}  // namespace

Placement::Placement(const Call& call, const std::vector<TensorBuffer>& labels) {
  for (const TensorBuffer& label : labels) {
    if (find_tensor(call, label.tensor) == nullptr)
      throw Error(ErrorKind::contract,
                  fmt::format("The buffer {} is given for a tensor that the call lacks ({})", label.buffer,
                              label.tensor));
    const auto named = std::count_if(labels.begin(), labels.end(),
                                     [&](const TensorBuffer& other) { return other.tensor == label.tensor; });
    if (named > 1)
      throw Error(ErrorKind::contract, fmt::format("The buffer of tensor {} is given twice", label.tensor));
  }
  for (const auto* tensors : {&call.inputs, &call.outputs}) {
    for (const BoundTensor& tensor : *tensors) {
      if (tensors == &call.outputs && tensor.inout) continue;
      const std::uint64_t bytes = bound_bytes(storage_bytes(tensor));
      const auto label = std::find_if(labels.begin(), labels.end(),
                                      [&](const TensorBuffer& item) { return item.tensor == tensor.name; });
      if (label == labels.end()) {
        places_.push_back({tensor.name, false, fmt::format("of tensor {}", tensor.name), 0, bytes});
        continue;
      }
      if (label->byte_offset > static_cast<std::uint64_t>(kMaxExactInteger) - bytes)
        throw Error(ErrorKind::contract, fmt::format("The byte offset of tensor {} ({}) exceeds 2^53 - 1",
                                                     tensor.name, label->byte_offset));
      places_.push_back({tensor.name, false, fmt::format("labelled {}", label->buffer), label->byte_offset,
                         label->byte_offset + bytes});
    }
  }
}

void Placement::add_scratch(const PlannedScratch& scratch) {
  places_.push_back({scratch.id, true, fmt::format("of scratch {}", scratch.id), 0, scratch.bytes});
}

BufferRange Placement::range(const PlannedBinding& binding) const {
  const bool scratch = binding.resource == PlannedBinding::Resource::scratch;
  for (const Place& place : places_)
    if (place.scratch == scratch && place.target == binding.target)
      return {place.buffer, place.begin, place.end};
  throw Error(ErrorKind::internal,
              fmt::format("The target of binding {} ({}) has no place", binding.name, binding.target));
}

void settle_pass(PlannedPass& pass, const package::Pass& source, const Call& call, const Placement& placement,
                 const DeviceFacts& facts) {
  if (std::find(pass.workgroups.begin(), pass.workgroups.end(), 0u) != pass.workgroups.end()) {
    pass.skip = PlannedPass::Skip::empty;
    return;
  }
  std::vector<BoundRange> ranges;
  for (const PlannedBinding& binding : pass.bindings) {
    if (binding.resource == PlannedBinding::Resource::uniform) continue;
    const BufferRange range = placement.range(binding);
    if (binding.required_bytes > range.end - range.begin)
      throw Error(
          ErrorKind::contract,
          fmt::format(
              "The range bound to {} in pass {} ({} bytes) is smaller than its array of {} {} ({} bytes)",
              binding.name, pass.id, range.end - range.begin, *binding.length, binding.element_type,
              binding.required_bytes));
    ranges.push_back({binding.name, binding.buffer == BufferKind::storage, range});
  }
  if (aliases_hold(pass, source, call, placement)) {
    pass.skip = PlannedPass::Skip::view_alias;
    return;
  }
  check_hazards(ranges, pass.id);
  for (const BoundRange& bound : ranges)
    check_limit(static_cast<double>(bound.range.end - bound.range.begin),
                fmt::format("binding {} of pass {}", bound.name, pass.id), "maxStorageBufferBindingSize",
                facts);
}

void check_buffer_sizes(const Call& call, const std::vector<PlannedScratch>& scratch,
                        const DeviceFacts& facts) {
  constexpr std::string_view kLimit = "maxBufferSize";
  for (const auto* tensors : {&call.inputs, &call.outputs})
    for (const BoundTensor& tensor : *tensors)
      check_limit(static_cast<double>(bound_bytes(storage_bytes(tensor))),
                  fmt::format("tensor {}", tensor.name), kLimit, facts);
  for (const PlannedScratch& buffer : scratch)
    if (buffer.used)
      check_limit(static_cast<double>(buffer.bytes), fmt::format("scratch {}", buffer.id), kLimit, facts);
}

}  // namespace kernelpack::plan
