#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelpack/call.hpp"
#include "kernelpack/device.hpp"
#include "kernelpack/explanation.hpp"
#include "kernelpack/hub.hpp"
#include "kernelpack/package.hpp"
#include "kernelpack/plan.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack {

class TunedDevices;
namespace plan {
class Cache;
}

/// An input of a request with its public name. The memory is borrowed for the duration of the call.
struct NamedInput {
  std::string name;
  TensorView tensor;
};
using Inputs = std::vector<NamedInput>;

/// Memory of the caller that receives an output. Borrowed for the duration of the call.
struct NamedDestination {
  std::string name;
  MutableTensorView tensor;
};

/// An optional output that the caller asks for. The spec is needed only where the contract gives no shape.
struct WantedOutput {
  std::string name;
  std::optional<TensorSpec> spec{};
};

/// What a request says besides its input tensors.
struct BindOptions {
  NamedValues attributes{};
  NamedValues arguments{};                ///< scalars of the contract
  std::vector<WantedOutput> wanted{};     ///< optional outputs to produce
  std::vector<NamedSpec> destinations{};  ///< outputs whose dtype and shape the caller fixes
  NamedValues tunables{};                 ///< overrides, undeclared names included
  std::string variant{};                  ///< id of the only variant to consider; empty: let the plan choose
};

struct RunOptions {
  NamedValues attributes{};
  NamedValues arguments{};
  std::vector<WantedOutput> wanted{};
  std::vector<NamedDestination> destinations{};
  NamedValues tunables{};
  std::string variant{};
  std::optional<Device> device{};  ///< default: Device::cpu()
};

/// The results of a call by public output name, in the order of the contract.
class Outputs {
 public:
  struct Entry {
    std::string name;
    Tensor tensor;
  };
  Outputs() = default;
  explicit Outputs(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  /// Throws contract, listing the names, if there is no such output. An output that went to a destination of
  /// the caller is not in here.
  const Tensor& operator[](std::string_view name) const;
  Tensor& operator[](std::string_view name);
  const std::vector<Entry>& entries() const noexcept { return entries_; }
  std::size_t size() const noexcept { return entries_.size(); }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

/// A package ready to be called. Cheap to copy, immutable, safe to use from several threads.
class Kernel {
 public:
  /// `source` is a package of the Hub ("ORG/NAME@v1", "ORG/NAME@COMMIT", or "ORG/NAME" with a version or
  /// revision), a base URL, a folder (anything else with a separator, or that names an existing folder), or
  /// the op id of a shipped package. Only the first two ever use the network; see fetch_package.
  static Kernel get(std::string_view source, const GetOptions& options = {});
  explicit Kernel(Package package);

  const Package& package() const noexcept { return package_; }
  /// Where the package came from, and whether a cached copy stood in for what the network did not give.
  const PackageOrigin& origin() const noexcept { return origin_; }

  /// Binds a request to the contract without tensors. Throws contract, naming what is wrong and where.
  Call bind(std::span<const NamedSpec> inputs, const BindOptions& options = {}) const;
  /// Binds and runs. Outputs without destination are allocated.
  Outputs run(const Inputs& inputs, const RunOptions& options = {}) const;
  /// The hot path: tensors in the order of `call.inputs` and `call.outputs`, which they must fit. An output
  /// may be exactly one of the inputs where the kernel allows it; any other overlap is an error of kind
  /// contract.
  void run(const Call& call, std::span<const TensorView> inputs, std::span<const MutableTensorView> outputs,
           const Device& device) const;

  /// How the call runs on a device described as data; needs no GPU. The same call on the same device gives
  /// the same immutable plan, which all copies of this kernel share (at most the 4096 newest are kept).
  /// Throws NoVariantError, and what planning throws: expression, template_, contract, limit, package.
  std::shared_ptr<const Plan> plan(const Call& call, const DeviceFacts& facts,
                                   const PlanOptions& options = {}) const;
  /// How the call runs on that GPU, with the tunables of its profile (tuning.hpp) where there is one: the
  /// plan that `run` takes. Throws as above, and device for the CPU.
  std::shared_ptr<const Plan> plan(const Call& call, const Device& device) const;
  /// Why the call is planned as it is, or why it cannot be. Evaluates every variant anew; for people, not for
  /// hot paths.
  Explanation explain(const Call& call, const DeviceFacts& facts, const PlanOptions& options = {}) const;

 private:
  Package package_;
  PackageOrigin origin_;
  std::shared_ptr<plan::Cache> plans_;
  std::shared_ptr<TunedDevices> tuned_;
};

}  // namespace kernelpack
