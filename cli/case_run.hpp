#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernelpack/cases.hpp"
#include "kernelpack/kernel.hpp"
#include "test_report.hpp"

namespace kernelpack::cli {

/// Runs cases of test.json. A fault of a case is a row of the report, never an exception.
class CaseRunner {
 public:
  /// Each of the devices may be absent; what it refers to must outlive the runner.
  CaseRunner(const Kernel& kernel, const TestCases& cases, std::optional<Device> cpu,
             std::optional<Device> gpu);

  /// Plans, runs and judges the case on each device; appends rows.
  void run(const TestCase& test, std::vector<TestRow>& rows);
  /// Why nothing ran on the CPU although it was asked for; empty if nothing is known.
  const std::string& cpu_missing() const noexcept { return cpu_missing_; }

 private:
  struct Prepared;

  Call bind(const TestCase& test, const std::string& pin = {}) const;
  void refuse_binding(const TestCase& test, TestRow& row) const;
  void refuse_planning(const TestCase& test, const DeviceFacts& facts, const std::string& device,
                       TestRow& row) const;
  void plan(const TestCase& test, TestRow& row) const;
  bool must_accept(const TestCase& test, const NoVariantError& error, bool pinned) const;
  Prepared prepare(const TestCase& test) const;
  void run_on_cpu(const TestCase& test, const Prepared& prepared, std::vector<TestRow>& rows);
  void run_on_gpu(const TestCase& test, const Prepared& prepared, const std::string& pin, TestRow& row) const;
  void judge_outputs(const TestCase& test, const Prepared& prepared, const std::vector<Tensor>& outputs,
                     TestRow& row) const;

  const Kernel& kernel_;
  const TestCases& cases_;
  std::optional<Device> cpu_;
  std::optional<Device> gpu_;
  std::string cpu_missing_;
};

}  // namespace kernelpack::cli
