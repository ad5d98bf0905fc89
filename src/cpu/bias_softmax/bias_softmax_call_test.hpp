#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cpu/bias_softmax/bias_softmax_fixture_test.hpp"
#include "cpu/kernel_table.hpp"

namespace kernelpack::cpu {

/// A bound call as the contract makes it, with its tensors.
struct OpCase {
  Tensor data;
  Tensor bias;
  int axis = 1;
  int inner = 0;

  Call call() const {
    const auto bound = [](const char* name, const TensorView& view) {
      return BoundTensor{.name = name, .dtype = view.dtype(), .storage = view.dtype(), .shape = view.shape()};
    };
    Call call;
    call.op = "com.microsoft.BiasSoftmax";
    call.inputs = {bound("data", data), bound("bias", bias)};
    call.outputs = {bound("output", data)};
    call.attributes = {{"axis", axis}, {"is_inner_broadcast", inner}};
    return call;
  }

  /// Output through the kernel table.
  Tensor run(const Executor& executor = Executor()) const {
    const KernelEntry* kernel = find_kernel("com.microsoft.BiasSoftmax");
    kernel->check(call());
    Tensor output = Tensor::uninitialized(data.spec());
    const std::array<TensorView, 2> inputs{data, bias};
    const std::array<MutableTensorView, 1> outputs{output.mutable_view()};
    kernel->run(call(), inputs, outputs, executor);
    return output;
  }

  /// Runs on every target that the machine has, and expects each output to match the reference. Returns the
  /// last.
  Tensor expect_right() const {
    const BiasSoftmaxShape shape = bias_softmax_shape(call());
    std::vector<double> expected(static_cast<std::size_t>(data.element_count())), distances(expected.size());
    reference_bias_softmax(shape, data, bias, expected);
    bias_softmax_distances(shape, data, bias, distances);
    Tensor output;
    for (const Target target : compiled_targets()) {
      if (!supported(target)) continue;
      output = run(executor_for(target, 2));
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        wrong += !bias_softmax_matches(shape.dtype, value_at(shape.dtype, output.data(), i), expected[i],
                                       distances[i], shape.columns);
      }
      EXPECT_EQ(wrong, 0u) << to_string(target) << " " << to_string(data.spec());
    }
    return output;
  }
};

/// `count` numbers rounded to the dtype.
template <class Value>
Tensor tensor_of(DType dtype, Shape shape, Value value) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(value(i));
  if (dtype == DType::float32) return Tensor::from(values, std::move(shape));
  return Tensor::from(std::vector<Float16>(values.begin(), values.end()), std::move(shape));
}

inline std::vector<double> doubles_of(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_at(tensor.dtype(), tensor.data(), i);
  return values;
}

}  // namespace kernelpack::cpu
