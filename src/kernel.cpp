// The spine: a package, a request bound to its contract, a kernel that computes it.
#include "kernelpack/kernel.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "contract/bind.hpp"
#include "contract/memory.hpp"
#include "cpu/kernel_table.hpp"
#include "kernelpack/error.hpp"
#include "package/model.hpp"
#include "package/suggest.hpp"
#include "plan/cache.hpp"
#include "plan/explain.hpp"
#include "plan/planner.hpp"
#include "run_request.hpp"
#include "tuned_devices.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {
namespace {

LoadOptions load_options(const GetOptions& options, std::string expected_op_id) {
  return {.verify = options.verify,
          .expected_op_id = std::move(expected_op_id),
          .allow_missing_templates = options.allow_missing_templates};
}

Package load_shipped(std::string_view op_id, const GetOptions& options) {
  std::vector<std::string> known;
  for (const ShippedPackage& shipped : shipped_packages()) {
    if (shipped.op_id == op_id)
      return Package::load(shipped.folder,
                           load_options(options, options.expected_op_id.empty() ? std::string(op_id)
                                                                                : options.expected_op_id));
    known.push_back(shipped.op_id);
  }
  std::string searched;
  for (const auto& folder : package_search_path())
    searched += fmt::format("{}{}", searched.empty() ? "" : ", ", folder.string());
  throw Error(ErrorKind::package,
              fmt::format("The op id ({}) names no shipped package{}; searched: {}", op_id,
                          package::suggestion(op_id, known), searched),
              std::string(op_id));
}

const cpu::KernelEntry& require_kernel(const std::string& op) {
  if (const cpu::KernelEntry* kernel = cpu::find_kernel(op)) return *kernel;
  throw Error(ErrorKind::unsupported, fmt::format("This build has no CPU kernel for {}", op), op);
}

}  // namespace

Kernel::Kernel(Package package)
    : package_(std::move(package)),
      plans_(std::make_shared<plan::Cache>()),
      tuned_(std::make_shared<TunedDevices>()) {}

Kernel Kernel::get(std::string_view source, const GetOptions& options) {
  if (is_remote_source(source, options)) {
    FetchedPackage fetched = fetch_package(source, options);
    Kernel kernel(std::move(fetched.package));
    kernel.origin_ = std::move(fetched.origin);
    return kernel;
  }
  std::error_code ignored;
  const bool folder = source.find('/') != std::string_view::npos ||
                      source.find('\\') != std::string_view::npos ||
                      std::filesystem::is_directory(source, ignored);
  Kernel kernel(folder ? Package::load(source, load_options(options, options.expected_op_id))
                       : load_shipped(source, options));
  kernel.origin_.kind = folder ? PackageOrigin::Kind::folder : PackageOrigin::Kind::shipped;
  kernel.origin_.source = source;
  kernel.origin_.folder = kernel.package_.folder();
  return kernel;
}

Call Kernel::bind(std::span<const NamedSpec> inputs, const BindOptions& options) const {
  return contract::bind(package_.model(), inputs, options);
}

std::shared_ptr<const Plan> Kernel::plan(const Call& call, const DeviceFacts& facts,
                                         const PlanOptions& options) const {
  return plans_->get(call, facts, options,
                     [&] { return plan::make_plan(package_.model(), call, facts, options); });
}

std::shared_ptr<const Plan> Kernel::plan(const Call& call, const Device& device) const {
  const PlanOptions& options = tuned_->options(package_, device);
  if (options.profile.empty()) return plan(call, device.facts());
  try {
    return plan(call, device.facts(), options);
  } catch (const Error&) {
    // A profile may only change the speed of a call, never whether it runs.
    return plan(call, device.facts());
  }
}

Explanation Kernel::explain(const Call& call, const DeviceFacts& facts, const PlanOptions& options) const {
  return plan::explain(package_.model(), call, facts, options);
}

Outputs Kernel::run(const Inputs& inputs, const RunOptions& options) const {
  BoundRun bound = bind_run(*this, inputs, options);
  run(bound.call, bound.sources, bound.targets, options.device ? *options.device : Device::cpu());
  return Outputs(std::move(bound.results));
}

void Kernel::run(const Call& call, std::span<const TensorView> inputs,
                 std::span<const MutableTensorView> outputs, const Device& device) const {
  require_runnable(*this, call);
  if (device.is_gpu()) {
    contract::check_tensors(call, inputs, outputs, nullptr);
    const std::shared_ptr<const Plan> made = plan(call, device);
    webgpu::run(device.engine(), *made, host_tensors(*made, call, inputs, outputs));
    return;
  }
  const cpu::KernelEntry& kernel = require_kernel(call.op);
  contract::check_tensors(call, inputs, outputs, kernel.output_may_be_input);
  kernel.check(call);
  kernel.run(call, inputs, outputs, device.executor());
}

}  // namespace kernelpack
