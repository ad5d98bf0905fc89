// Compiled once per target with its compiler flags; KERNELPACK_TARGET is its name, KERNELPACK_VECTOR its
// vectors.
#include "cpu/bias_softmax/bias_softmax_simd.hpp"

#include KERNELPACK_VECTOR

#include "cpu/bias_softmax/block_simd.hpp"
#include "cpu/bias_softmax/packed_simd.hpp"
#include "cpu/bias_softmax/registers_simd.hpp"
#include "cpu/bias_softmax/shared_row_simd.hpp"
#include "cpu/bias_softmax/stream_simd.hpp"

namespace kernelpack::cpu::KERNELPACK_TARGET {
namespace {

template <class T>
constexpr TypedKernels typed_kernels() {
  using Shared = SharedRow<Vector, Exponential, T>;
  TypedKernels kernels{};
  if constexpr (Vector::kPermutes) kernels.packed = packed<Vector, Exponential, T>;
  constexpr int kVectors =
      sizeof(T) == sizeof(float) ? Vector::kRegisterVectors : Vector::kRegisterVectorsOfHalves;
  kernels.registers = registers<Vector, Exponential, T, kVectors>;
  kernels.registers_columns = kVectors * Vector::kLanes;
  kernels.block = block<Vector, Exponential, T>;
  kernels.stream = stream<Vector, Exponential, T>;
  kernels.shared = {Shared::guess, Shared::greatest, Shared::sum, Shared::write, Shared::special};
  return kernels;
}

}  // namespace

const BiasSoftmaxKernels& bias_softmax_kernels() noexcept {
  static constexpr BiasSoftmaxKernels kKernels{.lanes = Vector::kLanes,
                                               .packed_columns = Vector::kPermutes ? Vector::kLanes / 2 : 0,
                                               .block_columns = kBlockColumns<Vector>,
                                               .float32 = typed_kernels<float>(),
                                               .float16 = typed_kernels<Half>()};
  return kKernels;
}

}  // namespace kernelpack::cpu::KERNELPACK_TARGET
