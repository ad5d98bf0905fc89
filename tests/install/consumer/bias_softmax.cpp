// The same rows as examples/c/bias_softmax.c, in C++.
#include <cstdio>

#include <kernelpack/kernelpack.hpp>

namespace kp = kernelpack;

int main() {
  const kp::Device device = kp::Device::cpu();
  const kp::Kernel kernel = kp::Kernel::get("com.microsoft.BiasSoftmax");
  const kp::Tensor scores = kp::Tensor::from<float>({0, 1, 2, 3, 3, 2, 1, 0}, {2, 4});
  const kp::Tensor mask = kp::Tensor::from<float>({0, 0, 0, -1e9F}, {1, 4});
  const kp::Outputs out =
      kernel.run({{"data", scores}, {"bias", mask}},
                 {.attributes = {{"axis", 1}, {"is_inner_broadcast", 1}}, .device = device});
  const auto weights = out["output"].values<float>();
  std::printf("%s on %s\n", kernel.package().op_id().c_str(), device.description().c_str());
  for (std::size_t i = 0; i < 8; ++i)
    std::printf("%.4f%c", static_cast<double>(weights[i]), i % 4 == 3 ? '\n' : ' ');
}
