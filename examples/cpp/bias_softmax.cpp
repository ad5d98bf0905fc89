#include <cstdio>

#include <kernelpack/kernelpack.hpp>

namespace kp = kernelpack;

int main() {
  const kp::Tensor scores = kp::read_npy("examples/minilm-attention/scores.npy");
  const kp::Tensor mask = kp::read_npy("examples/minilm-attention/mask.npy");
  const kp::Kernel kernel = kp::Kernel::get("com.microsoft.BiasSoftmax");
  const kp::Outputs out = kernel.run({{"data", scores}, {"bias", mask}},
                                     {.attributes = {{"axis", 3}, {"is_inner_broadcast", 1}}});
  kp::write_npy("probs.npy", out["output"]);
  std::printf("%s\n", kp::to_string(out["output"].spec()).c_str());
}
