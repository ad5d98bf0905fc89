#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "kernelpack/cases.hpp"
#include "kernelpack/device.hpp"
#include "measurement.hpp"

namespace kernelpack::cli {

/// The options of the commands that measure.
struct BenchFlags {
  std::string device = "gpu";
  std::string library;
  std::string cases;  ///< parts of ids, separated by commas
  std::string file;   ///< instead of the package's bench.json
  int rounds = Method{}.rounds;
  double milliseconds = Method{}.seconds * 1e3;
  double load_milliseconds = Method{}.load_seconds * 1e3;

  Method method() const;
};
void add_bench_options(CLI::App& command, BenchFlags& flags);

/// Opens the GPU for measuring. Where cases have float16 inputs and no library is named, one that has float16
/// is preferred; without one the device comes without. Errors end the program with the code for the
/// environment.
Device open_bench_device(const BenchFlags& flags, const std::vector<BenchmarkCase>& cases);

/// The cases of the package, or of `--file`, whose ids contain one of the texts of `--cases`. Throws
/// UsageError if none does.
BenchmarkCases bench_cases(const BenchFlags& flags, const Package& package);

/// Whether the case can run on the device: one with float16 inputs needs the feature.
bool runs_on(const Device& device, const BenchmarkCase& benchmark);

/// "12/34 attention_1024_float32" on a terminal (stderr), nothing elsewhere.
class StepLine {
 public:
  explicit StepLine(std::size_t total);
  StepLine(const StepLine&) = delete;
  StepLine& operator=(const StepLine&) = delete;
  ~StepLine();
  void show(std::size_t done, const std::string& what);

 private:
  std::size_t total_;
  bool visible_;
};

}  // namespace kernelpack::cli
