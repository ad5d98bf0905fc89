#include "cpu/kernel_table.hpp"

#include <array>

#include "cpu/bias_softmax/bias_softmax.hpp"
#include "cpu/bias_softmax/reference.hpp"

namespace kernelpack::cpu {
namespace {

constexpr std::array kTable{
    KernelEntry{"com.microsoft.BiasSoftmax", check_bias_softmax, bias_softmax, bias_softmax_in_place,
                reference_of_bias_softmax},
};

}  // namespace

std::span<const KernelEntry> kernel_table() noexcept {
  return kTable;
}

const KernelEntry* find_kernel(std::string_view op) noexcept {
  for (const KernelEntry& entry : kTable) {
    if (entry.op == op) return &entry;
  }
  return nullptr;
}

}  // namespace kernelpack::cpu
