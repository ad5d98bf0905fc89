#include <atomic>
#include <filesystem>
#include <thread>

#include "handles_test.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack {
namespace {

void count(void* user_data) {
  ++*static_cast<std::atomic<int>*>(user_data);
}

// Wraps with `dtype`, `shape` and `byte_size`; the number of calls of the release callback is returned once
// the handle, if there is one, is gone.
struct Wrapped {
  kernelpack_status status = KERNELPACK_OK;
  int released_before = 0;  ///< while the handle lives
  int released_after = 0;
};
Wrapped wrap_and_free(kernelpack_dtype dtype, const int64_t* shape, size_t rank, const void* data,
                      size_t byte_size, bool with_result = true) {
  std::atomic<int> released{0};
  Wrapped wrapped;
  kernelpack_tensor* tensor = nullptr;
  wrapped.status = kernelpack_wrap_tensor(dtype, shape, rank, data, byte_size, count, &released,
                                          with_result ? &tensor : nullptr);
  wrapped.released_before = released;
  kernelpack_free_tensor(tensor);
  wrapped.released_after = released;

  std::atomic<int> released_mutable{0};
  tensor = nullptr;
  EXPECT_EQ(kernelpack_wrap_mutable_tensor(dtype, shape, rank, const_cast<void*>(data), byte_size, count,
                                           &released_mutable, with_result ? &tensor : nullptr),
            wrapped.status);
  EXPECT_EQ(released_mutable, wrapped.released_before);
  kernelpack_free_tensor(tensor);
  EXPECT_EQ(released_mutable, wrapped.released_after);
  return wrapped;
}

TEST(CApiTensors, ReleaseIsCalledOnceAlsoOnFailure) {
  alignas(64) const float values[6] = {};
  const int64_t shape[] = {2, 3};
  const int64_t negative[] = {-2, 3};
  const Wrapped good = wrap_and_free(KERNELPACK_FLOAT32, shape, 2, values, sizeof values);
  EXPECT_EQ(good.status, KERNELPACK_OK);
  EXPECT_EQ(good.released_before, 0);
  EXPECT_EQ(good.released_after, 1);

  const auto expect_failure = [](const Wrapped& wrapped, kernelpack_status status) {
    EXPECT_EQ(wrapped.status, status);
    EXPECT_EQ(wrapped.released_before, 1);
    EXPECT_EQ(wrapped.released_after, 1);
  };
  expect_failure(wrap_and_free(0, shape, 2, values, sizeof values), KERNELPACK_ERROR_ARGUMENT);
  expect_failure(wrap_and_free(11, shape, 2, values, sizeof values), KERNELPACK_ERROR_ARGUMENT);
  expect_failure(wrap_and_free(KERNELPACK_FLOAT32, nullptr, 2, values, sizeof values),
                 KERNELPACK_ERROR_ARGUMENT);
  expect_failure(wrap_and_free(KERNELPACK_FLOAT32, shape, SIZE_MAX, values, sizeof values),
                 KERNELPACK_ERROR_ARGUMENT);
  expect_failure(wrap_and_free(KERNELPACK_FLOAT32, shape, 2, nullptr, sizeof values),
                 KERNELPACK_ERROR_ARGUMENT);
  expect_failure(wrap_and_free(KERNELPACK_FLOAT32, shape, 2, values, sizeof values, false),
                 KERNELPACK_ERROR_ARGUMENT);
  expect_failure(wrap_and_free(KERNELPACK_FLOAT32, shape, 2, values, 20), KERNELPACK_ERROR_CONTRACT);
  expect_failure(wrap_and_free(KERNELPACK_FLOAT32, negative, 2, values, sizeof values),
                 KERNELPACK_ERROR_CONTRACT);
  expect_failure(wrap_and_free(KERNELPACK_FLOAT32, shape, 2, reinterpret_cast<const char*>(values) + 1, 24),
                 KERNELPACK_ERROR_CONTRACT);
}

TEST(CApiTensors, ReleaseWaitsForTheLastUser) {
  std::atomic<int> released{0};
  const int64_t shape[] = {1, 4};
  float values[4] = {0, 1, 2, 3};
  kernelpack_tensor* wrapped = nullptr;
  expect_ok(kernelpack_wrap_tensor(KERNELPACK_FLOAT32, shape, 2, values, sizeof values, count, &released,
                                   &wrapped));
  TensorHandle tensor(wrapped);
  const KernelHandle kernel = load(kBiasSoftmax);
  {
    const RequestHandle first = request_of(kernel);
    const RequestHandle second = request_of(kernel);
    expect_ok(kernelpack_set_input(first.get(), "data", tensor.get()));
    expect_ok(kernelpack_set_input(second.get(), "data", tensor.get()));
    expect_ok(kernelpack_set_input(second.get(), "bias", tensor.get()));
    tensor.reset();
    EXPECT_EQ(released, 0);
    expect_ok(kernelpack_set_input(first.get(), "data", nullptr));
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(CApiTensors, AnExceptionOfReleaseGoesNowhere) {
  const int64_t shape[] = {1};
  float value = 0;
  kernelpack_tensor* tensor = nullptr;
  expect_ok(kernelpack_wrap_tensor(
      KERNELPACK_FLOAT32, shape, 1, &value, sizeof value, [](void*) { throw 7; }, nullptr, &tensor));
  kernelpack_free_tensor(tensor);
}

TEST(CApiTensors, TellWhatTheyAre) {
  const int64_t shape[] = {2, 3};
  kernelpack_tensor* created = nullptr;
  expect_ok(kernelpack_create_tensor(KERNELPACK_INT64, shape, 2, &created));
  const TensorHandle tensor(created);
  EXPECT_EQ(kernelpack_get_tensor_dtype(created), KERNELPACK_INT64);
  EXPECT_EQ(kernelpack_get_tensor_rank(created), 2u);
  ASSERT_NE(kernelpack_get_tensor_shape(created), nullptr);
  EXPECT_EQ(kernelpack_get_tensor_shape(created)[1], 3);
  EXPECT_EQ(kernelpack_get_tensor_byte_size(created), 48u);
  EXPECT_EQ(kernelpack_is_on_gpu(created), 0);
  auto* values = static_cast<int64_t*>(kernelpack_get_tensor_mutable_data(created));
  ASSERT_NE(values, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values) % 64, 0u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(values[i], 0);
  values[5] = 7;
  EXPECT_EQ(static_cast<const int64_t*>(kernelpack_get_tensor_data(created))[5], 7);

  kernelpack_tensor* scalar = nullptr;
  expect_ok(kernelpack_create_tensor(KERNELPACK_BOOL, nullptr, 0, &scalar));
  const TensorHandle freed(scalar);
  EXPECT_EQ(kernelpack_get_tensor_rank(scalar), 0u);
  EXPECT_NE(kernelpack_get_tensor_shape(scalar), nullptr);
  EXPECT_EQ(kernelpack_get_tensor_byte_size(scalar), 1u);
}

TEST(CApiTensors, OfReadOnlyMemoryAreNotWritten) {
  const int64_t shape[] = {2};
  const float values[2] = {1, 2};
  kernelpack_tensor* wrapped = nullptr;
  expect_ok(kernelpack_wrap_tensor(KERNELPACK_FLOAT32, shape, 1, values, sizeof values, nullptr, nullptr,
                                   &wrapped));
  const TensorHandle tensor(wrapped);
  EXPECT_EQ(kernelpack_get_tensor_data(wrapped), values);
  EXPECT_EQ(kernelpack_get_tensor_mutable_data(wrapped), nullptr);
  EXPECT_STREQ(kernelpack_get_error_report(),
               "contract: The memory of the tensor is the caller's and may only be read");
  const RequestHandle request = request_of(load(kBiasSoftmax));
  EXPECT_EQ(
      report_of(kernelpack_set_destination(request.get(), "output", wrapped)),
      "contract: The memory of destination output is the caller's and may only be read (output output)");
}

TEST(CApiTensors, WithoutElementsNeedNoMemory) {
  const int64_t shape[] = {0, 4};
  kernelpack_tensor* wrapped = nullptr;
  expect_ok(kernelpack_wrap_tensor(KERNELPACK_FLOAT32, shape, 2, nullptr, 0, nullptr, nullptr, &wrapped));
  const TensorHandle tensor(wrapped);
  EXPECT_EQ(kernelpack_get_tensor_byte_size(wrapped), 0u);
}

TEST(CApiTensors, SayWhatCppSaysOfWrongShapes) {
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  std::string expected;
  try {
    element_count({int64_t{1} << 40, int64_t{1} << 40});
  } catch (const Error& error) {
    expected = error.report();
  }
  kernelpack_tensor* tensor = nullptr;
  EXPECT_EQ(report_of(kernelpack_create_tensor(KERNELPACK_FLOAT32, huge, 2, &tensor)), expected);
  const float value = 0;
  try {
    TensorView(DType::float32, {2}, std::as_bytes(std::span(&value, 1)));
  } catch (const Error& error) {
    expected = error.report();
  }
  const int64_t two[] = {2};
  EXPECT_EQ(
      report_of(kernelpack_wrap_tensor(KERNELPACK_FLOAT32, two, 1, &value, 4, nullptr, nullptr, &tensor)),
      expected);
}

TEST(CApiTensors, DtypesHaveNamesAndSizes) {
  const struct {
    kernelpack_dtype constant;
    DType dtype;
  } all[] = {{KERNELPACK_FLOAT16, DType::float16}, {KERNELPACK_FLOAT32, DType::float32},
             {KERNELPACK_FLOAT64, DType::float64}, {KERNELPACK_INT8, DType::int8},
             {KERNELPACK_INT16, DType::int16},     {KERNELPACK_INT32, DType::int32},
             {KERNELPACK_INT64, DType::int64},     {KERNELPACK_UINT8, DType::uint8},
             {KERNELPACK_UINT32, DType::uint32},   {KERNELPACK_BOOL, DType::bool_}};
  for (const auto& each : all) {
    EXPECT_EQ(kernelpack_get_dtype_name(each.constant), to_string(each.dtype));
    EXPECT_EQ(kernelpack_get_dtype_size(each.constant), element_size(each.dtype));
  }
  for (const kernelpack_dtype unknown : {-1, 0, 11}) {
    EXPECT_STREQ(kernelpack_get_dtype_name(unknown), "unknown");
    EXPECT_EQ(kernelpack_get_dtype_size(unknown), 0u);
  }
}

TEST(CApiTensors, GoThroughNpyFiles) {
  const auto file =
      std::filesystem::temp_directory_path() / ("kernelpack_c_api_" + std::to_string(getpid()) + ".npy");
  std::vector<float> values{1, 2, 3};
  const TensorHandle tensor = wrap(values, {3});
  expect_ok(kernelpack_write_npy(file.c_str(), tensor.get()));
  kernelpack_tensor* read = nullptr;
  expect_ok(kernelpack_read_npy(file.c_str(), &read));
  EXPECT_EQ(floats(TensorHandle(read)), values);
  std::filesystem::remove(file);
  EXPECT_EQ(kernelpack_read_npy(file.c_str(), &read), KERNELPACK_ERROR_IO);
  EXPECT_EQ(read, nullptr);
  EXPECT_EQ(kernelpack_write_npy("/no/such/folder/x.npy", tensor.get()), KERNELPACK_ERROR_IO);

  kernelpack_tensor* copied = nullptr;
  expect_ok(kernelpack_download_tensor(tensor.get(), &copied));
  const TensorHandle copy(copied);
  values[0] = 9;
  EXPECT_EQ(floats(copy), (std::vector<float>{1, 2, 3}));
}

TEST(CApiTensors, NullIsAnErrorThatNamesTheArgument) {
  kernelpack_tensor* tensor = nullptr;
  EXPECT_EQ(report_of(kernelpack_create_tensor(KERNELPACK_FLOAT32, nullptr, 0, nullptr)),
            "argument: The argument tensor is NULL (kernelpack_create_tensor)");
  EXPECT_EQ(report_of(kernelpack_read_npy(nullptr, &tensor)),
            "argument: The argument path is NULL (kernelpack_read_npy)");
  EXPECT_EQ(kernelpack_read_npy("x.npy", nullptr), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_write_npy(nullptr, nullptr), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_write_npy("x.npy", nullptr), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_download_tensor(nullptr, &tensor), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_upload_tensor(nullptr, nullptr, nullptr, &tensor), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_wrap_buffer(nullptr, nullptr, 0, KERNELPACK_FLOAT32, nullptr, 0, nullptr, &tensor),
            KERNELPACK_ERROR_ARGUMENT);
  const auto fails = [](auto value, auto expected) {
    EXPECT_EQ(value, expected);
    EXPECT_EQ(kernelpack_get_error_status(), KERNELPACK_ERROR_ARGUMENT);
    kernelpack_clear_error();
  };
  fails(kernelpack_get_tensor_dtype(nullptr), 0);
  fails(kernelpack_get_tensor_rank(nullptr), 0u);
  fails(kernelpack_get_tensor_shape(nullptr), nullptr);
  fails(kernelpack_get_tensor_byte_size(nullptr), 0u);
  fails(kernelpack_is_on_gpu(nullptr), -1);
  fails(kernelpack_get_tensor_data(nullptr), nullptr);
  fails(kernelpack_get_tensor_mutable_data(nullptr), nullptr);
  kernelpack_free_tensor(nullptr);
  kernelpack_free_text(nullptr);
}

}  // namespace
}  // namespace kernelpack
