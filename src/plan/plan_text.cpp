#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernelpack/plan.hpp"

namespace kernelpack {

std::string_view to_string(BufferKind kind) noexcept {
  switch (kind) {
    case BufferKind::read_only_storage:
      return "read-only-storage";
    case BufferKind::storage:
      return "storage";
    case BufferKind::uniform:
      return "uniform";
  }
  return "unknown";
}

std::string_view to_string(Rejection::Kind kind) noexcept {
  switch (kind) {
    case Rejection::Kind::requires_:
      return "requires";
    case Rejection::Kind::buffer_budget:
      return "buffer-budget";
    case Rejection::Kind::when_false:
      return "when-false";
    case Rejection::Kind::when_error:
      return "when-error";
    case Rejection::Kind::select_above:
      return "select-above";
    case Rejection::Kind::superseded:
      return "superseded";
    case Rejection::Kind::demote_error:
      return "demote-error";
    case Rejection::Kind::demoted:
      return "demoted";
  }
  return "unknown";
}

NoVariantError::NoVariantError(std::string message, std::vector<Rejection> reasons)
    : Error(ErrorKind::no_variant, std::move(message)), reasons_(std::move(reasons)) {}

namespace {

std::string describe(const PlannedBinding& binding) {
  std::string text = fmt::format("    @group({}) @binding({}) {}: {}", binding.group, binding.index,
                                 binding.name, to_string(binding.buffer));
  if (binding.resource == PlannedBinding::Resource::uniform)
    return text + fmt::format(" {} = [{}]", binding.target, fmt::join(binding.words, ", "));
  text += fmt::format(" {} {} of {}",
                      binding.resource == PlannedBinding::Resource::scratch ? "scratch" : "tensor",
                      binding.target, binding.element_type);
  if (binding.length) text += fmt::format(" x {}", *binding.length);
  return text;
}

std::string_view skip_note(PlannedPass::Skip skip) {
  switch (skip) {
    case PlannedPass::Skip::none:
      return "";
    case PlannedPass::Skip::empty:
      return ", skipped: nothing to do";
    case PlannedPass::Skip::view_alias:
      return ", skipped: done in place";
  }
  return "";
}

}  // namespace

std::string to_string(const Plan& plan) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "plan of {}: variant {}\n", plan.op, plan.variant);
  for (const Rejection& rejection : plan.rejected)
    fmt::format_to(out, "  refused {} ({}): {}\n", rejection.variant, to_string(rejection.kind),
                   rejection.text);
  for (const PlannedScratch& scratch : plan.scratch)
    fmt::format_to(out, "  scratch {}: {}{}, {} bytes{}{}\n", scratch.id, to_string(scratch.dtype),
                   to_string(scratch.shape), scratch.bytes, scratch.zero_init ? ", zeroed" : "",
                   scratch.used ? "" : ", not used");
  for (const PlannedPass& pass : plan.passes) {
    fmt::format_to(out, "  pass {}: {}, {} x {} x {} workgroups{}{}\n", pass.id, pass.shader,
                   pass.workgroups[0], pass.workgroups[1], pass.workgroups[2], skip_note(pass.skip),
                   pass.submit_after ? ", then waits for the queue" : "");
    for (const PlannedBinding& binding : pass.bindings) fmt::format_to(out, "{}\n", describe(binding));
  }
  return text;
}

}  // namespace kernelpack
