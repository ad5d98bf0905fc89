// The hot path allocates nothing once the threads run and each has its scratch memory.
#include "base/allocation_count_test.hpp"
#include "cpu/bias_softmax/bias_softmax_call_test.hpp"

namespace kernelpack::cpu {
namespace {

TEST(Allocation, TheCounterCounts) {
  if (!allocation_count()) GTEST_SKIP() << "Allocations cannot be counted under a sanitizer";
  const long before = allocation_count().value();
  void* volatile memory = ::operator new(8);
  ::operator delete(memory);
  EXPECT_EQ(allocation_count().value() - before, 1);
}

TEST(Allocation, RunningABoundCallAllocatesNothing) {
  if (!allocation_count()) GTEST_SKIP() << "Allocations cannot be counted under a sanitizer";
  const KernelEntry* kernel = find_kernel("com.microsoft.BiasSoftmax");
  for (const int threads : {1, 2}) {
    const Executor executor({.threads = threads});
    for (const DType dtype : {DType::float32, DType::float16}) {
      for (const Shape& shape : {Shape{1, 12, 1, 64}, Shape{65536, 8}, Shape{1024, 77}, Shape{64, 600},
                                 Shape{16, 4096}, Shape{1, 3000000}}) {
        const Shape bias_shape{shape.back()};
        OpCase op{Tensor(dtype, shape), Tensor(dtype, bias_shape), static_cast<int>(shape.size()) - 1, 1};
        const Call call = op.call();
        Tensor output(dtype, shape);
        const std::array<TensorView, 2> inputs{op.data, op.bias};
        const std::array<MutableTensorView, 1> outputs{output.mutable_view()};
        kernel->run(call, inputs, outputs, executor);
        const long before = allocation_count().value();
        for (int i = 0; i < 3; ++i) kernel->run(call, inputs, outputs, executor);
        EXPECT_EQ(allocation_count().value() - before, 0)
            << to_string(op.data.spec()) << " with " << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace kernelpack::cpu
