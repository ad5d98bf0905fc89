#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernelpack/batch.hpp"
#include "kernelpack/cases.hpp"

namespace kernelpack::cli {

/// How calls are timed: docs/benchmarks.md.
struct Method {
  double seconds = 0.015;      ///< one measurement lasts at least so long
  int most_dispatches = 1500;  ///< unless it has so many dispatches
  int warm_ups = 3;
  /// Before the first round the first contender runs so long: a GPU that was idle needs a second to raise its
  /// clocks.
  double load_seconds = 1.0;
  int rounds = 5;
};

/// One plan with its tensors on a device, and what was measured of it.
struct Contender {
  std::string name;
  std::shared_ptr<const Plan> plan;
  std::vector<DeviceTensor> tensors;
  int calls = 1;                ///< of one measurement, back to back
  std::vector<double> seconds;  ///< of one call, a round each
  double cold = 0;              ///< the first call: planning, compilation, submission, waiting
  double warm = 0;              ///< a later single call, submitted and waited for

  double median() const;
  double fastest() const;
  double slowest() const;
};

/// One call, submitted and waited for.
void run_once(const Device& device, const Contender& contender);

/// Dispatches of one call.
int dispatches_of(const Plan& plan);

/// Runs each contender `warm_ups` times, finds the number of calls of its measurements, then measures every
/// one of them once a round; each round begins with another one. Returns whether the device's own clock was
/// read.
bool measure(const Device& device, std::span<Contender* const> contenders, const Method& method,
             const std::function<void(int round)>& progress = {});

/// The tensors of a case on the device: inputs with their values, outputs. Shared by all contenders.
class CaseTensors {
 public:
  CaseTensors(const Device& device, const Kernel& kernel, const BenchmarkCase& from);

  /// The request of the case to a kernel. Throws contract.
  Call bind(const Kernel& kernel, const NamedValues& tunables = {}) const;
  /// The plan's tensors in its order; throws contract if it has others.
  std::vector<DeviceTensor> tensors_of(const Plan& plan) const;
  /// Inputs and outputs, each once.
  std::uint64_t bytes() const noexcept { return bytes_; }
  const std::vector<NamedSpec>& inputs() const noexcept { return inputs_; }
  /// Elements of a row: those of the dimensions from attribute `axis` on where there is one, else of the last
  /// dimension of the first input.
  std::int64_t columns() const;

  /// Plans the call and runs it once: the cold call; then warm ones. Without options it is planned as runs
  /// are, with the device's profile. Throws as Kernel::plan.
  Contender contender(const std::string& name, const Kernel& kernel, const Call& call,
                      const PlanOptions* options = nullptr) const;
  /// The copy of as many bytes, on tensors of its own.
  Contender copy() const;

 private:
  Contender run_first(Contender contender, double planning) const;

  Device device_;
  const BenchmarkCase& case_;
  std::vector<NamedSpec> inputs_;
  std::vector<NamedDeviceTensor> tensors_;
  std::uint64_t bytes_ = 0;
};

}  // namespace kernelpack::cli
