#include "kernelpack/device.hpp"

#include <fmt/format.h>

#include "cpu/executor.hpp"

namespace kernelpack {

Device Device::cpu(const CpuOptions& options) {
  return Device(std::make_shared<const cpu::Executor>(options));
}

std::string Device::description() const {
  const int threads = executor().threads();
  return fmt::format("cpu ({}, {} thread{})", cpu::to_string(executor().target()), threads,
                     threads == 1 ? "" : "s");
}

std::vector<CpuTarget> cpu_targets() {
  std::vector<CpuTarget> targets;
  for (const cpu::Target target : cpu::compiled_targets()) {
    targets.push_back({cpu::to_string(target), cpu::supported(target)});
  }
  return targets;
}

}  // namespace kernelpack
