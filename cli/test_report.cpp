#include "test_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "figures.hpp"
#include "layout.hpp"

namespace kernelpack::cli {
namespace {

constexpr TestOutcome kOutcomes[] = {TestOutcome::ok, TestOutcome::failed, TestOutcome::skipped,
                                     TestOutcome::unchecked};

/// How often a variant was chosen, by planning alone or for a call that ran.
std::size_t times(const TestReport& report, const std::string& variant, bool ran) {
  return static_cast<std::size_t>(
      std::count_if(report.rows.begin(), report.rows.end(), [&](const TestRow& row) {
        return (row.seconds >= 0) == ran &&
               std::find(row.variants.begin(), row.variants.end(), variant) != row.variants.end();
      }));
}

std::string reached_text(const TestReport& report, std::string_view what, bool ran) {
  std::vector<std::string> reached;
  std::vector<std::string> missed;
  for (const std::string& variant : report.variants)
    (times(report, variant, ran) > 0 ? reached : missed).push_back(variant);
  return wrapped(fmt::format("Variants that {} ({} of {}): {}{}{}.", what, reached.size(),
                             report.variants.size(), reached.empty() ? "none" : "", fmt::join(reached, ", "),
                             missed.empty() ? "" : fmt::format("; not: {}", fmt::join(missed, ", "))),
                 0);
}

/// Planning for several devices may reach several, too many for a line.
std::string variant_text(const TestRow& row) {
  if (row.variants.empty()) return "-";
  return (row.variants.size() == 1 ? row.variants.front() : fmt::format("{} variants", row.variants.size())) +
         (row.pinned ? " (pinned)" : "");
}

bool has_row(const TestReport& report, std::string_view device) {
  return std::any_of(report.rows.begin(), report.rows.end(),
                     [&](const TestRow& row) { return row.device == device; });
}

}  // namespace

std::string_view to_string(TestOutcome outcome) noexcept {
  switch (outcome) {
    case TestOutcome::ok:
      return "ok";
    case TestOutcome::failed:
      return "failed";
    case TestOutcome::skipped:
      return "skipped";
    case TestOutcome::unchecked:
      return "unchecked";
  }
  return "";
}

std::size_t TestReport::count(TestOutcome outcome) const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const TestRow& row) { return row.outcome == outcome; }));
}

std::string to_text(const TestReport& report) {
  std::string text = fmt::format("{}, {} case{}\n", report.op, report.cases, report.cases == 1 ? "" : "s");
  for (const TestedDevice& device : report.devices)
    text += fmt::format("{}: {}{}\n", device.name, device.description,
                        device.driver.empty() ? "" : ", " + device.driver);
  Table table;
  table.add({"case", "device", "variant", "tolerance", "time", "result"});
  for (const TestRow& row : report.rows)
    table.add(
        {row.id, row.device, variant_text(row), row.multiple < 0 ? "-" : fmt::format("{:.3f}", row.multiple),
         row.seconds < 0 ? "-" : duration_text(row.seconds),
         row.outcome == TestOutcome::failed ? "FAILED" : std::string(to_string(row.outcome))},
        row.reason);
  text += table.text("").substr(1) + '\n';
  if (std::any_of(report.rows.begin(), report.rows.end(),
                  [](const TestRow& row) { return row.multiple >= 0; }))
    text += wrapped(
        "tolerance: the worst element's difference from the reference, in parts of what is allowed.", 0);
  if (has_row(report, "plan")) text += reached_text(report, "planning chose", false);
  if (has_row(report, "gpu")) text += reached_text(report, "ran on the GPU", true);
  std::vector<std::string> counts;
  for (const TestOutcome outcome : kOutcomes)
    if (outcome == TestOutcome::ok || report.count(outcome) > 0)
      counts.push_back(fmt::format("{} {}", report.count(outcome), to_string(outcome)));
  return text + fmt::format("{}\n", fmt::join(counts, ", "));
}

Json to_json(const TestReport& report) {
  Json json{{"schema", "kernelpack-test/1"}, {"package", report.package}, {"op", report.op}};
  Json& devices = json["devices"] = Json::array();
  for (const TestedDevice& device : report.devices)
    devices.push_back({{"name", device.name},
                       {"description", device.description},
                       {"driver", device.driver},
                       {"software", device.software}});
  json["notes"] = report.notes;
  json["cases"] = report.cases;
  Json& results = json["results"] = Json::array();
  for (const TestRow& row : report.rows) {
    Json result{{"case", row.id},
                {"device", row.device},
                {"variants", row.variants},
                {"pinned", row.pinned},
                {"result", std::string(to_string(row.outcome))}};
    if (row.multiple >= 0) result["ofTolerance"] = finite_or_text(row.multiple);
    if (row.seconds >= 0) result["seconds"] = row.seconds;
    if (!row.reason.empty()) result["reason"] = row.reason;
    results.push_back(std::move(result));
  }
  Json& variants = json["variants"] = Json::array();
  for (const std::string& variant : report.variants)
    variants.push_back(
        {{"id", variant}, {"planned", times(report, variant, false)}, {"ran", times(report, variant, true)}});
  Json& summary = json["summary"] = Json::object();
  for (const TestOutcome outcome : kOutcomes)
    summary[std::string(to_string(outcome))] = report.count(outcome);
  return json;
}

}  // namespace kernelpack::cli
