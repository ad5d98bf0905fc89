#include "kernelpack/device.hpp"

#include <fmt/format.h>

#include "cpu/executor.hpp"

namespace kernelpack {

Device Device::cpu(const CpuOptions& options) {
  auto executor = std::make_shared<const cpu::Executor>(options);
  const int threads = executor->threads();
  std::string description = fmt::format("cpu ({}, {} thread{})", cpu::to_string(executor->target()), threads,
                                        threads == 1 ? "" : "s");
  return Device(std::move(executor), std::move(description));
}

std::vector<CpuTarget> cpu_targets() {
  std::vector<CpuTarget> targets;
  for (const cpu::Target target : cpu::compiled_targets()) {
    targets.push_back({cpu::to_string(target), cpu::supported(target)});
  }
  return targets;
}

}  // namespace kernelpack
