#pragma once

#include <string>
#include <vector>

#include "canvas.hpp"
#include "json.hpp"
#include "measurement.hpp"

namespace kernelpack::cli {

/// One package in one case.
struct BenchEntry {
  Contender measured;
  std::string failure;  ///< why it did not run; empty if it did
  /// Of the difference from the CPU's result, in parts of what is allowed; below 0: not checked.
  double error = -1;
};

struct BenchCaseResult {
  std::string id;
  std::vector<NamedSpec> inputs;
  NamedValues attributes;
  std::uint64_t bytes = 0;
  std::int64_t columns = 0;
  BenchEntry copy;
  std::vector<BenchEntry> entries;  ///< the package, then the one it is compared with
  std::string skipped;              ///< why the case did not run; empty if it did
  bool valid = true;                ///< the copy was as fast as the device's must be
};

struct BenchResult {
  std::vector<std::string> packages;
  std::string device;
  std::string library;
  std::string driver;
  bool software = false;
  NamedValues profile;  ///< tunables of the device's profile, which the package was planned with
  bool device_clock = true;
  Method method;
  std::vector<BenchCaseResult> cases;

  bool valid() const;
};

/// The copy's bytes per second that a case of so many bytes must reach for the run to count; 0 for none.
double least_copy_rate(const std::string& device, std::uint64_t bytes);

/// Says how it was measured; the head of the table.
std::string head_text(const BenchResult& result);
/// The table.
std::string to_text(const BenchResult& result);
Json to_json(const BenchResult& result);
/// Bytes per second against the length of a row, both logarithmic, with the copy as the roof.
Canvas draw(const BenchResult& result);

}  // namespace kernelpack::cli
