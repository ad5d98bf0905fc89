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
class DeviceMemory {};
struct PendingRun::State {};
struct Submission::State {};

std::shared_ptr<Engine> open(const GpuOptions&) {
  refuse();
}
const DeviceFacts& facts(const Engine&) noexcept {
  static const DeviceFacts none;
  return none;
}
const GpuAdapter& adapter(const Engine&) noexcept {
  static const GpuAdapter none;
  return none;
}
std::string description(const Engine&) {
  return "no device";
}
void run(Engine&, const Plan&, std::span<const HostTensor>) {
  refuse();
}

std::shared_ptr<Engine> adopt(const AdoptedDevice&) {
  refuse();
}
WGPUDeviceImpl* raw_device(const Engine&) noexcept {
  return nullptr;
}
DeviceTensor wrap(std::shared_ptr<Engine>, WGPUBufferImpl*, std::uint64_t, const BoundTensor&) {
  refuse();
}
WGPUBufferImpl* raw_buffer(const DeviceMemory&) noexcept {
  return nullptr;
}
BoundTensor stored_as(const TensorSpec&, const StorageOptions&) {
  refuse();
}
DeviceTensor allocate(std::shared_ptr<Engine>, const BoundTensor&) {
  refuse();
}
void write(const DeviceTensor&, const TensorView&) {
  refuse();
}
void read(const DeviceTensor&, const MutableTensorView&) {
  refuse();
}
bool wait_until_idle(const Engine&, std::optional<std::chrono::nanoseconds>, const std::stop_token&) {
  refuse();
}
void close(Engine&) {
  refuse();
}

struct RecordedWork::State {};
RecordedWork::RecordedWork() = default;
RecordedWork::~RecordedWork() = default;
void RecordedWork::add(Submission&, WGPUCommandEncoderImpl*) {
  refuse();
}
std::size_t RecordedWork::size() const noexcept {
  return 0;
}
void RecordedWork::clear() noexcept {}
void prewarm(Engine&, std::span<const std::shared_ptr<const Plan>>, const PrewarmProgress&) {
  refuse();
}
std::optional<ShaderCacheState> shader_cache(const Engine&) {
  return std::nullopt;
}

Submission::Submission(std::shared_ptr<Engine>) {
  refuse();
}
Submission::~Submission() = default;
void Submission::add(const std::shared_ptr<const Plan>&, std::span<const DeviceTensor>) {
  refuse();
}
std::size_t Submission::size() const noexcept {
  return 0;
}
void Submission::submit() {
  refuse();
}
Timing Submission::measure(const MeasureOptions&) {
  refuse();
}

PendingRun::PendingRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
PendingRun::PendingRun(PendingRun&&) noexcept = default;
PendingRun& PendingRun::operator=(PendingRun&&) noexcept = default;
PendingRun::~PendingRun() = default;
bool PendingRun::wait(std::optional<std::chrono::nanoseconds>, const std::stop_token&) {
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
