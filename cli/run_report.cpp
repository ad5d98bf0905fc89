#include "run_report.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "figures.hpp"

namespace kernelpack::cli {
namespace {

/// Rates of the fastest run.
struct Rates {
  double elements = 0;  ///< output elements per second
  double bytes = 0;     ///< bytes of all inputs and outputs per second
};

Rates rates_of(const Execution& execution, double seconds) {
  Rates rates;
  for (const TensorView& input : execution.inputs) rates.bytes += static_cast<double>(input.byte_size());
  for (const Tensor& output : execution.outputs) {
    rates.bytes += static_cast<double>(output.byte_size());
    rates.elements += static_cast<double>(output.element_count());
  }
  const double duration = std::max(seconds, 1e-9);
  return {rates.elements / duration, rates.bytes / duration};
}

std::string verdict_text(const Check& check) {
  const Comparison& result = check.comparison;
  if (!result.shapes_match)
    return fmt::format("{} FAILED: its shape differs from that of {}", check.output, check.file);
  return result.passed ? fmt::format("{} passed against {}", check.output, check.file)
                       : fmt::format("{} FAILED against {}: {} of {} elements", check.output, check.file,
                                     result.failures, result.elements);
}

std::string worst_text(const Comparison& result) {
  return fmt::format("{}: got {}, expected {}, {:.3g} of the tolerance", result.worst_index, result.got,
                     result.expected, result.multiple);
}

std::string assignments_text(const NamedValues& values) {
  std::string text;
  for (const NamedValue& value : values) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", value.name, to_string(value.value));
  }
  return text;
}

}  // namespace

std::string to_text(const RunReport& report) {
  const Execution& execution = report.execution;
  const Call& call = execution.call;
  std::size_t width = std::string_view("attributes").size();
  for (const BoundTensor& tensor : call.inputs) width = std::max(width, tensor.name.size());
  for (const BoundTensor& tensor : call.outputs) width = std::max(width, tensor.name.size());
  const auto line = [&](std::string_view name, std::string_view rest) {
    return fmt::format("  {:<{}}  {}\n", name, width, rest);
  };
  const auto spec = [](const BoundTensor& tensor) {
    return to_string(TensorSpec{tensor.dtype, tensor.shape});
  };

  std::string text = fmt::format("{} on {}\n", call.op, report.device);
  for (const BoundTensor& input : call.inputs) text += line(input.name, spec(input));
  if (!call.arguments.empty()) text += line("arguments", assignments_text(call.arguments));
  if (!call.attributes.empty()) text += line("attributes", assignments_text(call.attributes));
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const auto target =
        std::find_if(report.targets.begin(), report.targets.end(),
                     [&](const TensorTarget& each) { return each.name == call.outputs[i].name; });
    const bool written = target != report.targets.end();
    text += line(call.outputs[i].name,
                 fmt::format("{} {}", spec(call.outputs[i]),
                             written ? "-> " + target->file.path.string()
                                     : fmt::format("({})", values_text(summarize(execution.outputs[i])))));
  }
  const double fastest = *std::min_element(execution.seconds.begin(), execution.seconds.end());
  const Rates rates = rates_of(execution, fastest);
  text += line("time", fmt::format("{} min, {} median of {} {}", duration_text(fastest),
                                   duration_text(median(execution.seconds)), execution.seconds.size(),
                                   execution.seconds.size() == 1 ? "run" : "runs"));
  text += line("rate", fmt::format("{}, {}", metric_text(rates.elements, " elements/s"),
                                   metric_text(rates.bytes, "B/s")));
  for (const Check& check : report.checks) {
    text += line("check", verdict_text(check));
    if (check.comparison.elements > 0) text += line("worst", worst_text(check.comparison));
  }
  return text;
}

Json to_json(const RunReport& report) {
  const Execution& execution = report.execution;
  const Call& call = execution.call;
  Json json = {{"op", call.op}, {"device", report.device}};
  Json& inputs = json["inputs"] = Json::array();
  for (const BoundTensor& input : call.inputs)
    inputs.push_back(to_json(input.name, {input.dtype, input.shape}));
  json["arguments"] = to_json(call.arguments);
  json["attributes"] = to_json(call.attributes);
  Json& outputs = json["outputs"] = Json::array();
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    Json entry = to_json(call.outputs[i].name, {call.outputs[i].dtype, call.outputs[i].shape});
    for (const TensorTarget& target : report.targets) {
      if (target.name == call.outputs[i].name) entry["file"] = target.file.path.string();
    }
    if (!entry.contains("file")) {
      const ValueSummary values = summarize(execution.outputs[i]);
      entry["values"] = {{"min", values.minimum},
                         {"max", values.maximum},
                         {"mean", values.mean},
                         {"nan", values.nans},
                         {"infinite", values.infinities}};
    }
    outputs.push_back(std::move(entry));
  }
  const double fastest = *std::min_element(execution.seconds.begin(), execution.seconds.end());
  const Rates rates = rates_of(execution, fastest);
  json["seconds"] = {
      {"min", fastest}, {"median", median(execution.seconds)}, {"runs", execution.seconds.size()}};
  json["rate"] = {{"elementsPerSecond", rates.elements}, {"bytesPerSecond", rates.bytes}};
  Json& results = json["checks"] = Json::array();
  for (const Check& check : report.checks) {
    const Comparison& result = check.comparison;
    Json entry = {{"output", check.output},
                  {"file", check.file},
                  {"passed", result.passed},
                  {"shapesMatch", result.shapes_match}};
    if (result.elements > 0) {
      entry["failures"] = result.failures;
      entry["worst"] = {{"index", Json::parse(result.worst_index)},
                        {"got", result.got},
                        {"expected", result.expected},
                        {"toleranceMultiple", finite_or_text(result.multiple)}};
    }
    results.push_back(std::move(entry));
  }
  return json;
}

}  // namespace kernelpack::cli
