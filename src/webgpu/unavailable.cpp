#include "kernelpack/error.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {

std::vector<GpuLibrary> gpu_libraries(std::string_view) {
  return {};
}

namespace webgpu {
namespace {
[[noreturn]] void refuse() {
  throw Error(
      ErrorKind::device,
      "This kernelpack was built without WebGPU; run tools/webgpu/fetch and build again to use a GPU");
}
}  // namespace

class Engine {};
struct PendingRun::State {};

std::shared_ptr<Engine> open(const GpuOptions&) {
  refuse();
}
const DeviceFacts& facts(const Engine&) noexcept {
  static const DeviceFacts none;
  return none;
}
std::string description(const Engine&) {
  return "no device";
}
void run(Engine&, const Plan&, std::span<const HostTensor>) {
  refuse();
}

PendingRun::PendingRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
PendingRun::PendingRun(PendingRun&&) noexcept = default;
PendingRun& PendingRun::operator=(PendingRun&&) noexcept = default;
PendingRun::~PendingRun() = default;
bool PendingRun::wait(std::optional<std::chrono::nanoseconds>) {
  refuse();
}
void PendingRun::finish() {
  refuse();
}
PendingRun start(std::shared_ptr<Engine>, const Plan&, std::span<const HostTensor>) {
  refuse();
}

}  // namespace webgpu
}  // namespace kernelpack
