#include "bench_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "figures.hpp"
#include "layout.hpp"

namespace kernelpack::cli {
namespace {

std::string rate_text(double bytes, double seconds) {
  return metric_text(bytes / std::max(seconds, 1e-12), "B/s");
}

// Half of the distance between the extremes, of the median.
std::string spread_text(const Contender& measured) {
  return fmt::format("{:.1f}%", 50 * (measured.slowest() - measured.fastest()) / measured.median());
}

Json to_json(const BenchCaseResult& from, const BenchEntry& entry, bool is_copy) {
  const Contender& measured = entry.measured;
  Json json{{"name", measured.name}};
  if (!entry.failure.empty()) {
    json["failure"] = entry.failure;
    return json;
  }
  if (!is_copy) json["variant"] = measured.plan->variant;
  json["dispatches"] = dispatches_of(*measured.plan);
  json["calls"] = measured.calls;
  json["seconds"] = {{"median", measured.median()},
                     {"min", measured.fastest()},
                     {"max", measured.slowest()},
                     {"rounds", measured.seconds}};
  json["bytesPerSecond"] = static_cast<double>(from.bytes) / measured.median();
  if (!is_copy && !from.copy.measured.seconds.empty())
    json["ofCopy"] = from.copy.measured.median() / measured.median();
  json["singleCallSeconds"] = {{"cold", measured.cold}, {"warm", measured.warm}};
  if (entry.error >= 0) json["errorOfAllowed"] = finite_or_text(entry.error);
  return json;
}

}  // namespace

bool BenchResult::valid() const {
  return std::all_of(cases.begin(), cases.end(), [](const BenchCaseResult& each) { return each.valid; });
}

double least_copy_rate(const std::string& device, std::uint64_t bytes) {
  const bool h200 = device.find("H200") != std::string::npos;
  return h200 && bytes > (std::uint64_t{512} << 20) ? 4.0e12 : 0.0;
}

std::string head_text(const BenchResult& result) {
  std::string text = fmt::format("{} on {}{}\n", result.packages.front(), result.device,
                                 result.driver.empty() ? "" : ", " + result.driver);
  if (result.software) text += wrapped("A software driver: these are no figures of a GPU.", 0);
  for (const NamedValue& each : result.profile)
    text += fmt::format("Device profile: {} = {}\n", each.name, to_string(each.value));
  text += wrapped(
      fmt::format("Resident buffers; {} around {} of n back-to-back calls, n for {:.3g} ms or {} "
                  "dispatches, divided by n; {} warm-up calls and {:.3g} s of load; median of {} rounds, in "
                  "turn with a copy of the same "
                  "bytes (vec4<f32>, 256 lanes){}. Single calls are submitted and waited for: cold is "
                  "the first, with planning and compilation.",
                  result.device_clock ? "GPU timestamps" : "the host's clock (this device has no timestamps)",
                  result.device_clock ? "one compute pass" : "one submission", result.method.seconds * 1e3,
                  result.method.most_dispatches, result.method.warm_ups, result.method.load_seconds,
                  result.method.rounds, result.packages.size() > 1 ? " and with " + result.packages[1] : ""),
      0);
  return text;
}

std::string to_text(const BenchResult& result) {
  Table table;
  std::vector<std::string> head{"case", "D", "variant", "time", "spread", "rate", "of copy", "cold", "warm"};
  const bool against = result.packages.size() > 1;
  if (against) head.insert(head.end(), {"other", "of copy", "ratio"});
  const bool checked = std::any_of(result.cases.begin(), result.cases.end(), [](const BenchCaseResult& each) {
    return std::any_of(each.entries.begin(), each.entries.end(),
                       [](const BenchEntry& entry) { return entry.error >= 0; });
  });
  if (checked) head.push_back("error");
  table.add(head);
  for (const BenchCaseResult& each : result.cases) {
    std::vector<std::string> row{each.id, std::to_string(each.columns)};
    if (!each.skipped.empty() || each.entries.empty() || !each.entries.front().failure.empty()) {
      row.emplace_back("-");
      table.add(row, each.skipped.empty() ? each.entries.front().failure : each.skipped);
      continue;
    }
    const Contender& ours = each.entries.front().measured;
    const auto bytes = static_cast<double>(each.bytes);
    const double copy = each.copy.measured.median();
    row.insert(row.end(), {ours.plan->variant, duration_text(ours.median()), spread_text(ours),
                           rate_text(bytes, ours.median()), fmt::format("{:.3f}", copy / ours.median()),
                           duration_text(ours.cold), duration_text(ours.warm)});
    if (against) {
      const BenchEntry& other = each.entries[1];
      if (other.failure.empty()) {
        const double median = other.measured.median();
        row.insert(row.end(), {duration_text(median), fmt::format("{:.3f}", copy / median),
                               fmt::format("{:.2f}", median / ours.median())});
      } else {
        row.insert(row.end(), {"-", "-", "-"});
      }
    }
    if (checked)
      row.push_back(each.entries.front().error < 0 ? "-" : fmt::format("{:.2f}", each.entries.front().error));
    std::string prose;
    if (!each.valid) prose = fmt::format("Not valid: the copy reached only {}", rate_text(bytes, copy));
    if (against && !each.entries[1].failure.empty())
      prose +=
          fmt::format("{}{}: {}", prose.empty() ? "" : ". ", result.packages[1], each.entries[1].failure);
    table.add(row, prose);
  }
  std::string text = table.text("");
  if (checked)
    text += wrapped("\nerror: the largest difference from the CPU's result, in parts of what is allowed.", 0);
  return text.substr(text.find_first_not_of('\n'));
}

Json to_json(const BenchResult& result) {
  Json json{{"schema", "kernelpack-bench/1"},
            {"packages", result.packages},
            {"device", result.device},
            {"driver", result.driver},
            {"software", result.software},
            {"profile", to_json(result.profile)},
            {"valid", result.valid()},
            {"method",
             {{"clock", result.device_clock ? "GPU timestamps around one compute pass" : "host clock"},
              {"secondsPerMeasurement", result.method.seconds},
              {"mostDispatches", result.method.most_dispatches},
              {"warmUpCalls", result.method.warm_ups},
              {"loadSeconds", result.method.load_seconds},
              {"rounds", result.method.rounds},
              {"interleaved", true},
              {"copy", "vec4<f32>, 256 lanes, source and destination bytes together those of the case"},
              {"bytes", "inputs read once and outputs written once"}}}};
  Json& cases = json["cases"] = Json::array();
  for (const BenchCaseResult& each : result.cases) {
    Json inputs = Json::array();
    for (const NamedSpec& input : each.inputs) inputs.push_back(to_json(input.name, input.spec));
    Json entry{{"id", each.id},
               {"inputs", inputs},
               {"attributes", to_json(each.attributes)},
               {"bytes", each.bytes},
               {"columns", each.columns}};
    if (!each.skipped.empty()) {
      entry["skipped"] = each.skipped;
    } else {
      entry["valid"] = each.valid;
      entry["copy"] = to_json(each, each.copy, true);
      Json& results = entry["results"] = Json::array();
      for (const BenchEntry& one : each.entries) results.push_back(to_json(each, one, false));
      if (each.entries.size() > 1 && each.entries[0].failure.empty() && each.entries[1].failure.empty())
        entry["ratio"] = each.entries[1].measured.median() / each.entries[0].measured.median();
    }
    cases.push_back(std::move(entry));
  }
  return json;
}

}  // namespace kernelpack::cli
