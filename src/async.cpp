#include "kernelpack/async.hpp"

#include <utility>

#include "contract/memory.hpp"
#include "kernelpack/error.hpp"
#include "run_request.hpp"

namespace kernelpack {

struct PendingOutputs::State {
  BoundRun bound;
  std::optional<webgpu::PendingRun> run;  ///< nothing once the results are there
  bool taken = false;
};

PendingOutputs::PendingOutputs(std::unique_ptr<State> state) : state_(std::move(state)) {}
PendingOutputs::PendingOutputs(PendingOutputs&&) noexcept = default;
PendingOutputs& PendingOutputs::operator=(PendingOutputs&&) noexcept = default;
PendingOutputs::~PendingOutputs() = default;

bool PendingOutputs::wait(std::optional<std::chrono::nanoseconds> timeout, const std::stop_token& stop) {
  return !state_->run || state_->run->wait(timeout, stop);
}

Outputs PendingOutputs::get() {
  if (std::exchange(state_->taken, true))
    throw Error(ErrorKind::contract, "The results of the call were taken before");
  if (state_->run) {
    // The buffers go back to the device also if this fails.
    webgpu::PendingRun run = std::move(*state_->run);
    state_->run.reset();
    run.finish();
  }
  return Outputs(std::move(state_->bound.results));
}

PendingOutputs run_async(const Kernel& kernel, const Inputs& inputs, const RunOptions& options) {
  auto state = std::make_unique<PendingOutputs::State>();
  state->bound = bind_run(kernel, inputs, options);
  const BoundRun& bound = state->bound;
  const Device device = options.device ? *options.device : Device::cpu();
  if (device.is_gpu()) {
    require_runnable(kernel, bound.call);
    contract::check_tensors(bound.call, bound.sources, bound.targets, nullptr);
    const std::shared_ptr<const Plan> plan = kernel.plan(bound.call, device);
    state->run = webgpu::start(device.shared_engine(), *plan,
                               host_tensors(*plan, bound.call, bound.sources, bound.targets));
  } else {
    kernel.run(bound.call, bound.sources, bound.targets, device);
  }
  return PendingOutputs(std::move(state));
}

}  // namespace kernelpack
