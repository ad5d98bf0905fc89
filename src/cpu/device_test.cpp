#include "kernelpack/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cpu/executor.hpp"
#include "cpu/kernel_table.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

std::string error_of(const CpuOptions& options) {
  try {
    Device::cpu(options);
  } catch (const Error& error) {
    return error.line();
  }
  return "no error";
}

TEST(Device, NamesTargetAndThreads) {
  const std::string best{cpu::to_string(cpu::best_target())};
  EXPECT_EQ(Device::cpu({.threads = 3}).description(), "cpu (" + best + ", 3 threads)");
  EXPECT_EQ(Device::cpu({.threads = 1, .target = "scalar"}).description(), "cpu (scalar, 1 thread)");
  EXPECT_GE(Device::cpu().executor().threads(), 1);
}

TEST(Device, ListsTargetsBestFirst) {
  const auto targets = cpu_targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(targets.back().name, "scalar");
  EXPECT_TRUE(targets.back().supported);
  const auto first =
      std::find_if(targets.begin(), targets.end(), [](const CpuTarget& t) { return t.supported; });
  EXPECT_EQ(first->name, cpu::to_string(Device::cpu().executor().target()));
  // A target includes what those after it need, so none is supported without them.
  for (auto target = first; target != targets.end(); ++target) EXPECT_TRUE(target->supported) << target->name;
}

TEST(Device, RefusesWhatItCannotDo) {
  const std::string names =
      cpu_targets().front().name == "avx3" ? "avx3, avx2, sse4, scalar" : "neon, scalar";
  EXPECT_EQ(
      error_of({.target = "avx9"}),
      "device: The CPU target (avx9) is not one of those that kernelpack was built for (" + names + ")");
  EXPECT_EQ(error_of({.threads = -1}), "device: The number of threads (-1) is outside [0, 256]");
  EXPECT_EQ(error_of({.threads = 257}), "device: The number of threads (257) is outside [0, 256]");
  EXPECT_EQ(error_of({.spin_microseconds = 1001}),
            "device: The spin time in microseconds (1001) is outside [0, 1000]");
  int lacking = 0;
  for (const CpuTarget& target : cpu_targets()) {
    if (target.supported) continue;
    ++lacking;
    EXPECT_EQ(
        error_of({.target = std::string(target.name)})
            .rfind("unsupported: The CPU target (" + std::string(target.name) + ") is not supported", 0),
        0u);
  }
  std::printf("%d targets that this machine lacks\n", lacking);
}

TEST(KernelTable, FindsByOpId) {
  ASSERT_NE(cpu::find_kernel("com.microsoft.BiasSoftmax"), nullptr);
  EXPECT_EQ(cpu::find_kernel("com.microsoft.BiasSoftmax")->op, "com.microsoft.BiasSoftmax");
  EXPECT_EQ(cpu::find_kernel("com.microsoft.biassoftmax"), nullptr);
  EXPECT_EQ(cpu::find_kernel(""), nullptr);
}

}  // namespace
}  // namespace kernelpack
