#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/dtype.hpp"
#include "base/number_text.hpp"
#include "kernelpack/explanation.hpp"
#include "plan/hazards.hpp"

namespace kernelpack {

std::string_view to_string(ExplainedVariant::Outcome outcome) noexcept {
  switch (outcome) {
    case ExplainedVariant::Outcome::chosen:
      return "chosen";
    case ExplainedVariant::Outcome::refused:
      return "refused";
    case ExplainedVariant::Outcome::demoted:
      return "passed over";
    case ExplainedVariant::Outcome::not_reached:
      return "not reached";
  }
  return "unknown";
}

namespace {

/// Cells beyond this width do not widen their column.
constexpr std::size_t kWidestCell = 48;

/// Rows of cells; all but the last one of a row are padded.
class Table {
 public:
  explicit Table(std::size_t indent) : indent_(indent) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  void write(std::string& text) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_)
      for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        if (widths.size() <= i) widths.push_back(0);
        if (row[i].size() <= kWidestCell) widths[i] = std::max(widths[i], row[i].size());
      }
    for (const auto& row : rows_) {
      std::string line(indent_, ' ');
      for (std::size_t i = 0; i < row.size(); ++i)
        line += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], widths[i]) : row[i];
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + '\n';
    }
  }

 private:
  std::size_t indent_;
  std::vector<std::vector<std::string>> rows_;
};

std::string spec_text(const BoundTensor& tensor) {
  std::string text = to_string(TensorSpec{tensor.dtype, tensor.shape});
  if (tensor.storage != tensor.dtype) text += fmt::format(" stored as {}", to_string(tensor.storage));
  if (tensor.packed) text += " packed four to a word";
  return text;
}

const BoundTensor* tensor_named(const Plan& plan, std::string_view name) {
  const auto found = std::find_if(plan.tensors.begin(), plan.tensors.end(),
                                  [&](const BoundTensor& tensor) { return tensor.name == name; });
  return found == plan.tensors.end() ? nullptr : &*found;
}

const PlannedScratch* scratch_named(const Plan& plan, std::string_view id) {
  const auto found = std::find_if(plan.scratch.begin(), plan.scratch.end(),
                                  [&](const PlannedScratch& scratch) { return scratch.id == id; });
  return found == plan.scratch.end() ? nullptr : &*found;
}

std::string quantity(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class Writer {
 public:
  Writer(const Explanation& explanation, const ExplanationText& options)
      : explanation_(explanation), options_(options) {}

  std::string run() {
    write_call();
    write_device();
    write_values("Derived values", explanation_.derives, 2);
    write_variants();
    if (!explanation_.tunables.empty() || !explanation_.variant_derives.empty()) {
      write_values("Tunables of the chosen variant", explanation_.tunables, 2);
      write_values("Derived values of the chosen variant", explanation_.variant_derives, 2);
    }
    if (explanation_.plan) write_plan(*explanation_.plan);
    if (explanation_.refusal) write_refusal(*explanation_.refusal);
    return std::move(text_);
  }

 private:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  void write_call() {
    const Call& call = explanation_.call;
    line("{}", call.op);
    line("\nCall");
    Table table(2);
    for (const BoundTensor& tensor : call.inputs)
      table.add({tensor.inout ? "in and out" : "input", tensor.name, spec_text(tensor)});
    for (const BoundTensor& tensor : call.outputs)
      if (!tensor.inout) table.add({"output", tensor.name, spec_text(tensor)});
    for (const BoundType& type : call.types)
      table.add(
          {"type", type.name,
           fmt::format("{}, in shaders {}", to_string(type.dtype), kernelpack::info(type.storage).wgsl)});
    for (const NamedValue& value : call.attributes)
      table.add({"attribute", value.name, to_string(value.value)});
    for (const NamedValue& value : call.arguments)
      table.add({"argument", value.name, to_string(value.value)});
    for (const NamedValue& value : call.tunables) table.add({"tunable", value.name, to_string(value.value)});
    if (!call.variant.empty()) table.add({"variant", call.variant, "the only one to consider"});
    table.write(text_);
  }

  void write_device() {
    const DeviceFacts& device = explanation_.device;
    line("\nDevice");
    Table table(2);
    const std::string architecture =
        device.architecture.empty() ? "" : ", architecture " + device.architecture;
    table.add({"adapter", (device.vendor.empty() ? "unknown vendor" : device.vendor) + architecture +
                              (device.is_fallback_adapter ? ", fallback" : "")});
    table.add(
        {"features", device.features.empty() ? "none" : fmt::format("{}", fmt::join(device.features, ", "))});
    table.add({"WGSL", device.wgsl_language_features.empty()
                           ? "no language features"
                           : fmt::format("{}", fmt::join(device.wgsl_language_features, ", "))});
    table.add({"subgroups", device.subgroup_min_size
                                ? fmt::format("{} to {}", *device.subgroup_min_size,
                                              device.subgroup_max_size.value_or(*device.subgroup_min_size))
                                : "size not reported"});
    for (const auto& [name, value] : device.limits)
      table.add({"limit", name + " = " + javascript_number_text(value)});
    if (device.limits.empty()) table.add({"limits", "WebGPU's defaults"});
    table.write(text_);
  }

  void write_values(std::string_view title, const std::vector<ExplainedValue>& values, std::size_t indent) {
    if (values.empty()) return;
    if (indent == 2)
      line("\n{}", title);
    else
      line("{:{}}{}", "", indent - 2, title);
    Table table(indent);
    for (const ExplainedValue& value : values)
      table.add({value.name, (value.failed ? "fails: " : "= ") + value.value,
                 value.expression.empty() ? "" : "from " + value.expression});
    table.write(text_);
  }

  void write_clause(const ExplainedClause& clause, std::string_view key) {
    const ExplainedValue& result = clause.result;
    std::string verdict = clause.holds ? "true" : result.failed ? "fails" : result.value;
    line("    {} {:<6} {}", key, verdict, result.expression);
    if (result.failed) line("           {}", result.value);
    // What made a clause fail is listed; what made one hold fits on a line.
    std::string held;
    for (const ExplainedValue& part : clause.because) {
      if (part.expression == result.expression) continue;
      if (clause.holds)
        held += fmt::format("{}{} = {}", held.empty() ? "" : "; ", part.expression, part.value);
      else
        line("               {} = {}", part.expression, part.value);
    }
    if (!held.empty()) line("               {}", held);
  }

  void write_variants() {
    if (explanation_.variants.empty()) return;
    line("\nVariants, in the order of trial");
    for (const ExplainedVariant& variant : explanation_.variants) {
      line("  {} (priority {}): {}", variant.id, javascript_number_text(variant.priority),
           to_string(variant.outcome));
      if (variant.rejection)
        line("    {}{}",
             variant.outcome == ExplainedVariant::Outcome::not_reached ? "It would be refused. " : "",
             variant.rejection->text);
      else if (variant.outcome == ExplainedVariant::Outcome::not_reached)
        line("    It could run{}, but the choice was made before", variant.demoted ? " (demoted)" : "");
      else if (variant.outcome == ExplainedVariant::Outcome::demoted)
        line("    It could run, but it is demoted: another variant goes first");
      else if (variant.demoted)
        line("    It is demoted, and nothing else accepts the call");
      for (const ExplainedClause& clause : variant.when) write_clause(clause, "when  ");
      for (const ExplainedClause& clause : variant.demote_when) write_clause(clause, "demote");
    }
  }

  void write_plan(const Plan& plan) {
    if (!plan.scratch.empty()) {
      line("\nScratch buffers of variant {}", plan.variant);
      Table table(2);
      for (const PlannedScratch& scratch : plan.scratch)
        table.add({scratch.id, to_string(TensorSpec{scratch.dtype, scratch.shape}),
                   quantity(scratch.bytes, "byte") + (scratch.zero_init ? ", cleared first" : "") +
                       (scratch.used ? "" : ", not used")});
      table.write(text_);
    }
    for (std::size_t index = 0; index < plan.passes.size(); ++index) {
      const ExplainedPass* extra = index < explanation_.passes.size() ? &explanation_.passes[index] : nullptr;
      write_pass(plan, plan.passes[index], index, extra);
    }
  }

  void write_pass(const Plan& plan, const PlannedPass& pass, std::size_t index, const ExplainedPass* extra) {
    line("\nPass {} of {}: {} ({}, entry point {})", index + 1, plan.passes.size(), pass.id, pass.shader,
         pass.entry_point);
    switch (pass.skip) {
      case PlannedPass::Skip::none:
        break;
      case PlannedPass::Skip::empty:
        line("  Skipped: there is nothing to do");
        break;
      case PlannedPass::Skip::view_alias:
        line("  Skipped: input and output are the same memory");
        break;
    }
    if (extra != nullptr) {
      write_values("Values", extra->values, 4);
      write_values("Source inputs", extra->source, 4);
    }
    line("  Bindings");
    Table bindings(4);
    for (const PlannedBinding& binding : pass.bindings) bindings.add(binding_row(plan, binding));
    bindings.write(text_);
    if (!pass.uniforms.empty()) {
      line("  Uniforms");
      Table uniforms(4);
      for (const UniformField& field : pass.uniforms)
        uniforms.add({field.binding + "." + field.name, field.type, javascript_number_text(field.value)});
      uniforms.write(text_);
    }
    write_dispatch(pass, extra);
    if (pass.submit_after) line("  The submission ends here and the queue is waited for");
    if (options_.wgsl) write_wgsl(pass);
  }

  static std::vector<std::string> binding_row(const Plan& plan, const PlannedBinding& binding) {
    std::vector<std::string> row{fmt::format("group {} binding {}", binding.group, binding.index),
                                 binding.name};
    if (binding.resource == PlannedBinding::Resource::uniform) {
      row.push_back("uniform");
      row.push_back(binding.target);
      row.push_back(fmt::format("{} words", binding.words.size()));
      row.push_back(fmt::format("[{}]", fmt::join(binding.words, ", ")));
      return row;
    }
    row.push_back(binding.buffer == BufferKind::read_only_storage ? "reads" : "reads, writes");
    row.push_back(binding.length ? fmt::format("array<{}, {}>", binding.element_type, *binding.length)
                                 : fmt::format("array<{}>", binding.element_type));
    std::uint64_t bytes = 0;
    std::string what = binding.target;
    if (const PlannedScratch* scratch = scratch_named(plan, binding.target);
        scratch != nullptr && binding.resource == PlannedBinding::Resource::scratch) {
      bytes = scratch->bytes;
      what =
          fmt::format("scratch {} {}", binding.target, to_string(TensorSpec{scratch->dtype, scratch->shape}));
    } else if (const BoundTensor* tensor = tensor_named(plan, binding.target)) {
      bytes = plan::bound_bytes(plan::storage_bytes(*tensor));
      what = fmt::format("tensor {} {}", binding.target, spec_text(*tensor));
    }
    row.push_back(quantity(bytes, "byte"));
    row.push_back(what);
    return row;
  }

  void write_dispatch(const PlannedPass& pass, const ExplainedPass* extra) {
    line("  Dispatch");
    if (extra != nullptr) {
      Table stated(4);
      for (const ExplainedValue& part : extra->dispatch)
        stated.add({part.name, (part.failed ? "fails: " : "= ") + part.value, "from " + part.expression});
      stated.write(text_);
      if (extra->groups) line("    {} workgroups before folding", javascript_number_text(*extra->groups));
    }
    line("    runs {} x {} x {} workgroups", pass.workgroups[0], pass.workgroups[1], pass.workgroups[2]);
  }

  void write_wgsl(const PlannedPass& pass) {
    if (!pass.wgsl) {
      line("  WGSL: none, the template {} is absent or was not rendered", pass.shader);
      return;
    }
    line("  WGSL");
    std::size_t number = 0;
    std::string_view rest = *pass.wgsl;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      line("  {:>4} | {}", ++number, rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  void write_refusal(const Error& error) {
    line("\nRefused");
    if (error.kind() == ErrorKind::no_variant && !explanation_.variants.empty())
      line("  {}: none of the variants above accepts the call", to_string(error.kind()));
    else
      line("  {}: {}", to_string(error.kind()), error.message());
    if (!error.where().empty()) line("  at {}", error.where());
    for (const std::string& context : error.context()) line("  {}", context);
  }

  const Explanation& explanation_;
  const ExplanationText& options_;
  std::string text_;
};

}  // namespace

std::string to_string(const Explanation& explanation, const ExplanationText& options) {
  return Writer(explanation, options).run();
}

}  // namespace kernelpack
