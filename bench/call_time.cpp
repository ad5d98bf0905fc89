// Time of calls through the public interface, for bench/python_call.py:
//
//   call_time THREADS SECONDS DIM...     data float32[DIM...], bias float32[DIM 0, 1, ..., DIM n]
//
// Prints three lines: seconds of a bound call into memory of the caller, of a request with names and
// attributes into memory of the caller, and of such a request whose result is allocated; the least of batches
// that share the time.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <kernelpack/kernelpack.hpp>

namespace kp = kernelpack;
using Clock = std::chrono::steady_clock;

namespace {

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double least(double budget, const std::function<void()>& call) {
  call();
  int batch = 1;
  for (double taken = 0; taken < 1e-3; batch *= 2) {
    const auto start = Clock::now();
    for (int i = 0; i < batch; ++i) call();
    taken = seconds_since(start);
  }
  double best = 1e9;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    for (int i = 0; i < batch; ++i) call();
    best = std::min(best, seconds_since(start) / batch);
  } while (seconds_since(begin) < budget);
  return best;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const kp::Device device = kp::Device::cpu({.threads = std::atoi(arguments[1])});
  const double budget = std::atof(arguments[2]) / 3;
  kp::Shape shape;
  for (int i = 3; i < count; ++i) shape.push_back(std::atoll(arguments[i]));
  kp::Shape bias_shape(shape.size(), 1);
  bias_shape.front() = shape.front();
  bias_shape.back() = shape.back();
  const kp::Tensor data(kp::DType::float32, shape);
  const kp::Tensor bias(kp::DType::float32, bias_shape);
  kp::Tensor output(kp::DType::float32, shape);
  const kp::Kernel kernel = kp::Kernel::get("com.microsoft.BiasSoftmax");
  const kp::NamedValues attributes{{"axis", static_cast<int>(shape.size()) - 1}, {"is_inner_broadcast", 1}};
  const kp::Call call = kernel.bind(std::vector<kp::NamedSpec>{{"data", data.spec()}, {"bias", bias.spec()}},
                                    {.attributes = attributes});
  const double bound = least(budget, [&] {
    const kp::TensorView inputs[]{data.view(), bias.view()};
    const kp::MutableTensorView outputs[]{output.mutable_view()};
    kernel.run(call, inputs, outputs, device);
  });
  const double request = least(budget, [&] {
    kernel.run(
        {{"data", data}, {"bias", bias}},
        {.attributes = attributes, .destinations = {{"output", output.mutable_view()}}, .device = device});
  });
  const double allocated = least(budget, [&] {
    kernel.run({{"data", data}, {"bias", bias}}, {.attributes = attributes, .device = device});
  });
  std::printf("%.9f\n%.9f\n%.9f\n", bound, request, allocated);
}
