#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "json.hpp"

namespace kernelpack::cli {

enum class TestOutcome {
  ok,
  failed,
  skipped,    ///< the device lacks what the case needs
  unchecked,  ///< it ran, and there is no reference to hold the result against
};
/// "ok", "failed", "skipped", "unchecked".
std::string_view to_string(TestOutcome outcome) noexcept;

/// One case on one device: "cpu", "gpu", or "plan" for what is found out without running.
struct TestRow {
  std::string id{};
  std::string device{};
  std::vector<std::string> variants{};  ///< those that were chosen, each once
  bool pinned = false;                  ///< by the case
  TestOutcome outcome = TestOutcome::ok;
  double multiple = -1;  ///< of the tolerance that the worst element uses; below 0: nothing was compared
  double seconds = -1;   ///< of the call; below 0: nothing ran
  std::string reason{};  ///< why the outcome is not ok
};

struct TestedDevice {
  std::string name;  ///< as in TestRow
  std::string description;
  std::string driver;
  bool software = false;
};

struct TestReport {
  std::string package;
  std::string op;
  std::vector<TestedDevice> devices;
  std::vector<std::string> variants;  ///< of the package, in the order of its manifest
  std::vector<std::string> notes;     ///< what the run could not do
  std::size_t cases = 0;
  std::vector<TestRow> rows;

  std::size_t count(TestOutcome outcome) const;
};

/// The devices, a table with a line for each row, and what came of it.
std::string to_text(const TestReport& report);
Json to_json(const TestReport& report);

}  // namespace kernelpack::cli
