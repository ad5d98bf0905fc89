// A call of [1,12,1,64] with a mask through Kernel::run beside OrtApi::Run of Add + Softmax, both with one
// thread and tensors that are bound before. usage: kernelpack_small_call ONNXRUNTIME-LIBRARY MODEL PACKAGE;
// peers.py --small-call writes the model and calls it. The two results are compared.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernelpack/kernel.hpp"

namespace {

using namespace kernelpack;

/// The few functions of ONNX Runtime's C interface that are needed, by their places in its table of
/// functions, which never change.
class OnnxRuntime {
 public:
  OnnxRuntime(const char* library, const char* model) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) throw std::runtime_error(dlerror());
    struct Base {
      const Function* (*table)(std::uint32_t version);
      const char* (*version)();
    };
    void* const symbol = dlsym(handle, "OrtGetApiBase");
    if (symbol == nullptr) throw std::runtime_error("The library has no OrtGetApiBase");
    const Base& base = *reinterpret_cast<const Base* (*)()>(symbol)();
    table_ = base.table(16);
    if (table_ == nullptr) throw std::runtime_error("The library lacks version 16 of its interface");
    version_ = base.version();
    void* environment = nullptr;
    void* options = nullptr;
    constexpr int kLogErrors = 3;
    check(call<int, const char*, void**>(kCreateEnv, kLogErrors, "bench", &environment));
    check(call<void**>(kCreateSessionOptions, &options));
    check(call<void*, int>(kSetIntraOpNumThreads, options, 1));
    check(call<void*, const char*, void*, void**>(kCreateSession, environment, model, options, &session_));
    constexpr int kDeviceAllocator = 0, kDefaultMemory = 0;
    check(call<int, int, void**>(kCreateCpuMemoryInfo, kDeviceAllocator, kDefaultMemory, &memory_));
  }

  const char* version() const { return version_; }

  void* value(Tensor& tensor) const {
    void* made = nullptr;
    constexpr int kFloat = 1;
    const Shape& shape = tensor.shape();
    check(call<void*, void*, std::size_t, const std::int64_t*, std::size_t, int, void**>(
        kCreateTensorWithDataAsOrtValue, memory_, tensor.data(), tensor.byte_size(), shape.data(),
        shape.size(), kFloat, &made));
    return made;
  }

  void run(const std::array<void*, 2>& inputs, void* output) const {
    static constexpr std::array<const char*, 2> kInputs{"data", "bias"};
    static constexpr std::array<const char*, 1> kOutputs{"output"};
    check(call<void*, void*, const char* const*, void* const*, std::size_t, const char* const*, std::size_t,
               void**>(kRun, session_, nullptr, kInputs.data(), inputs.data(), inputs.size(), kOutputs.data(),
                       kOutputs.size(), &output));
  }

 private:
  using Function = void (*)();
  enum Place : std::size_t {
    kGetErrorMessage = 2,
    kCreateEnv = 3,
    kCreateSession = 7,
    kRun = 9,
    kCreateSessionOptions = 10,
    kSetIntraOpNumThreads = 24,
    kCreateTensorWithDataAsOrtValue = 49,
    kCreateCpuMemoryInfo = 69,
  };

  template <class... Arguments>
  void* call(Place place, Arguments... arguments) const {
    return reinterpret_cast<void* (*)(Arguments...)>(table_[place])(arguments...);
  }
  void check(void* status) const {
    if (status == nullptr) return;
    throw std::runtime_error(reinterpret_cast<const char* (*)(void*)>(table_[kGetErrorMessage])(status));
  }

  const Function* table_ = nullptr;
  const char* version_ = "";
  void* session_ = nullptr;
  void* memory_ = nullptr;
};

template <class Run>
double nanoseconds(const Run& run) {
  constexpr int kCalls = 1000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) run();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kCalls;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int compare(const OnnxRuntime& runtime, const char* package) {
  const Shape shape{1, 12, 1, 64};
  Tensor data(DType::float32, shape), bias(DType::float32, {1, 1, 1, 64});
  Tensor ours(DType::float32, shape), theirs(DType::float32, shape);
  for (std::size_t i = 0; i < 768; ++i) data.values<float>()[i] = static_cast<float>(i * 37 % 101) * 0.05f;
  for (std::size_t i = 0; i < 64; ++i) bias.values<float>()[i] = i < 60 ? 0.0f : -10000.0f;

  const Kernel kernel = Kernel::get(package);
  const std::array<NamedSpec, 2> specs{NamedSpec{"data", data.spec()}, NamedSpec{"bias", bias.spec()}};
  const Call call = kernel.bind(specs, {.attributes = {{"axis", 3}, {"is_inner_broadcast", 1}}});
  const std::array<TensorView, 2> inputs{data.view(), bias.view()};
  const std::array<MutableTensorView, 1> outputs{ours.mutable_view()};
  const Device device = Device::cpu({.threads = 1});
  const std::array<void*, 2> values{runtime.value(data), runtime.value(bias)};
  void* const result = runtime.value(theirs);

  const auto run_ours = [&] { kernel.run(call, inputs, outputs, device); };
  const auto run_theirs = [&] { runtime.run(values, result); };
  nanoseconds(run_ours);
  nanoseconds(run_theirs);
  for (std::size_t i = 0; i < 768; ++i) {
    if (!(std::abs(ours.values<float>()[i] - theirs.values<float>()[i]) <= 1e-6f))
      throw std::runtime_error("The results differ");
  }
  std::vector<double> our_times, their_times, ratios;
  for (int round = 0; round < 201; ++round) {
    our_times.push_back(nanoseconds(run_ours));
    their_times.push_back(nanoseconds(run_theirs));
    ratios.push_back(their_times.back() / our_times.back());
  }
  std::printf(
      "[1,12,1,64] float32, one thread: Kernel::run %.0f ns (least %.0f), onnxruntime %s Run %.0f ns (least "
      "%.0f), "
      "%.2f of ours\n",
      median(our_times), *std::min_element(our_times.begin(), our_times.end()), runtime.version(),
      median(their_times), *std::min_element(their_times.begin(), their_times.end()), median(ratios));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s ONNXRUNTIME-LIBRARY MODEL PACKAGE\n", argv[0]);
    return 2;
  }
  try {
    return compare(OnnxRuntime(argv[1], argv[2]), argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
