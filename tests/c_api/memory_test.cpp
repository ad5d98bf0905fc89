// Functions while operator new fails, from each of their allocations on. kernelpack_inspect_kernel is not
// among them: the directory iterators of libstdc++ end the process then.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "base/allocation_count_test.hpp"
#include "handles_test.hpp"

namespace kernelpack {
namespace {

/// Runs the step with 0, 1, 2, ... allocations (with gaps where there are many) until it succeeds. Before
/// that it fails with kind memory each time. The number of failures is returned.
template <class Step>
int exhaust(Step&& step) {
  int failures = 0;
  for (long allowed = 0; allowed < 10'000'000; allowed += std::max(1L, allowed / 20)) {
    kernelpack_status status = KERNELPACK_OK;
    {
      const AllocationLimit limit(allowed);
      status = step();
    }
    if (status == KERNELPACK_OK) return failures;
    ++failures;
    EXPECT_EQ(status, KERNELPACK_ERROR_MEMORY)
        << allowed << " allocations: " << kernelpack_get_error_report();
    EXPECT_EQ(kernelpack_get_error_status(), status);
    EXPECT_STREQ(kernelpack_get_error_report(), "memory: Memory is exhausted");
    if (::testing::Test::HasFailure()) return failures;
  }
  ADD_FAILURE() << "the step never succeeds";
  return failures;
}

class CApiMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!allocation_count()) GTEST_SKIP() << "a sanitizer has the allocator";
    kernel_ = load(kBiasSoftmax);
  }
  RequestHandle filled_request() {
    RequestHandle request = request_of(kernel_);
    expect_ok(kernelpack_set_input(request.get(), "data", wrap(data_, {2, 3, 4}).get()));
    expect_ok(kernelpack_set_input(request.get(), "bias", wrap(bias_, {1, 1, 4}).get()));
    expect_ok(kernelpack_set_values(request.get(), KERNELPACK_ATTRIBUTE,
                                    R"({"axis": 2, "is_inner_broadcast": 1})"));
    return request;
  }

  std::vector<float> data_ = std::vector<float>(24, 1.0F);
  std::vector<float> bias_{0, 1, -1, 0.5F};
  KernelHandle kernel_;
};

TEST_F(CApiMemory, Loading) {
  EXPECT_GT(exhaust([] {
              kernelpack_kernel* kernel = nullptr;
              const kernelpack_status status = kernelpack_load_kernel(kBiasSoftmax.c_str(), nullptr, &kernel);
              EXPECT_EQ(kernel != nullptr, status == KERNELPACK_OK);
              kernelpack_free_kernel(kernel);
              return status;
            }),
            50);
}

TEST_F(CApiMemory, Tensors) {
  int calls = 0;
  int released = 0;
  const int64_t shape[] = {2, 3, 4};
  EXPECT_GT(exhaust([&] {
              kernelpack_tensor* tensor = nullptr;
              ++calls;
              const kernelpack_status status = kernelpack_wrap_tensor(
                  KERNELPACK_FLOAT32, shape, 3, data_.data(), 96,
                  [](void* count) { ++*static_cast<int*>(count); }, &released, &tensor);
              EXPECT_EQ(released, status == KERNELPACK_OK ? calls - 1 : calls);
              kernelpack_free_tensor(tensor);
              EXPECT_EQ(released, calls);
              return status;
            }),
            1);
  EXPECT_GT(exhaust([&] {
              kernelpack_tensor* tensor = nullptr;
              const kernelpack_status status =
                  kernelpack_create_tensor(KERNELPACK_FLOAT32, shape, 3, &tensor);
              kernelpack_free_tensor(tensor);
              return status;
            }),
            1);
  const auto file =
      std::filesystem::temp_directory_path() / ("kernelpack_c_memory_" + std::to_string(getpid()) + ".npy");
  const TensorHandle tensor = wrap(data_, {24});
  EXPECT_GT(exhaust([&] { return kernelpack_write_npy(file.c_str(), tensor.get()); }), 1);
  EXPECT_GT(exhaust([&] {
              kernelpack_tensor* read = nullptr;
              const kernelpack_status status = kernelpack_read_npy(file.c_str(), &read);
              kernelpack_free_tensor(read);
              return status;
            }),
            1);
  std::filesystem::remove(file);
  EXPECT_GT(exhaust([&] {
              kernelpack_tensor* copy = nullptr;
              const kernelpack_status status = kernelpack_download_tensor(tensor.get(), &copy);
              kernelpack_free_tensor(copy);
              return status;
            }),
            1);
}

TEST_F(CApiMemory, Devices) {
  EXPECT_GT(exhaust([&] {
              kernelpack_cpu_options options{};
              options.struct_size = sizeof options;
              options.target = "scalar";
              kernelpack_device* device = nullptr;
              const kernelpack_status status = kernelpack_open_cpu(&options, &device);
              kernelpack_free_device(device);
              return status;
            }),
            1);
}

TEST_F(CApiMemory, Requests) {
  const TensorHandle tensor = wrap(data_, {2, 3, 4});
  const int64_t shape[] = {2, 3, 4};
  const double numbers[] = {1, 2, 3};
  EXPECT_GE(exhaust([&] {
              kernelpack_request* request = nullptr;
              const kernelpack_status status = kernelpack_create_request(kernel_.get(), &request);
              kernelpack_free_request(request);
              return status;
            }),
            1);
  const RequestHandle request = request_of(kernel_);
  kernelpack_request* const r = request.get();
  // Names of their own, since a name that is set again needs less.
  EXPECT_GE(exhaust([&] { return kernelpack_set_input(r, "an input with a long name", tensor.get()); }), 1);
  EXPECT_GE(
      exhaust([&] { return kernelpack_set_input_spec(r, "another input with a long name", 2, shape, 3); }),
      1);
  EXPECT_GE(
      exhaust([&] { return kernelpack_set_destination(r, "an output with a long name", tensor.get()); }), 1);
  EXPECT_GE(
      exhaust([&] { return kernelpack_set_destination_spec(r, "another output, long name", 2, shape, 3); }),
      1);
  EXPECT_GE(exhaust([&] { return kernelpack_want_output(r, "a wanted output with a long name"); }), 1);
  EXPECT_GE(exhaust([&] { return kernelpack_want_output_spec(r, "one more wanted output", 2, shape, 3); }),
            1);
  EXPECT_GE(exhaust([&] { return kernelpack_set_variant(r, "a variant with a long name"); }), 1);
  EXPECT_GE(exhaust([&] { return kernelpack_set_bool(r, 0, "a boolean with a long name", 1); }), 1);
  EXPECT_GE(exhaust([&] { return kernelpack_set_number(r, 0, "a number with a long name", 1); }), 1);
  EXPECT_GE(exhaust([&] {
              return kernelpack_set_string(r, 0, "a string with a long name", "its long, long value");
            }),
            2);
  EXPECT_GE(exhaust([&] { return kernelpack_set_numbers(r, 0, "numbers with a long name", numbers, 3); }), 2);
  EXPECT_GE(exhaust([&] { return kernelpack_set_json(r, 0, "JSON with a long name", "[1, [2, \"text\"]]"); }),
            3);
  EXPECT_GE(exhaust([&] { return kernelpack_set_values(r, 1, R"({"a": [1, 2], "b": "text"})"); }), 3);
}

TEST_F(CApiMemory, Calls) {
  EXPECT_GT(exhaust([&] {
              kernelpack_request* made = nullptr;
              kernelpack_status status = kernelpack_create_request(kernel_.get(), &made);
              if (status != KERNELPACK_OK) return status;
              const RequestHandle request(made);
              kernelpack_tensor* data = nullptr;
              const int64_t shape[] = {6, 4};
              status = kernelpack_wrap_tensor(KERNELPACK_FLOAT32, shape, 2, data_.data(), 96, nullptr,
                                              nullptr, &data);
              const TensorHandle freed(data);
              if (status == KERNELPACK_OK) status = kernelpack_set_input(made, "data", data);
              if (status == KERNELPACK_OK) status = kernelpack_set_input(made, "bias", data);
              if (status == KERNELPACK_OK)
                status = kernelpack_set_values(made, KERNELPACK_ATTRIBUTE,
                                               R"({"axis": 1, "is_inner_broadcast": 1})");
              char* json = nullptr;
              if (status == KERNELPACK_OK) status = kernelpack_bind_request(made, &json);
              kernelpack_free_text(json);
              if (status == KERNELPACK_OK) status = kernelpack_run_request(made, nullptr);
              kernelpack_tensor* result = nullptr;
              if (status == KERNELPACK_OK) status = kernelpack_get_output(made, "output", &result);
              EXPECT_EQ(result != nullptr, status == KERNELPACK_OK);
              kernelpack_free_tensor(result);
              return status;
            }),
            30);
}

TEST_F(CApiMemory, PlansAndExplanations) {
  for (const kernelpack_format format : {KERNELPACK_FORMAT_TEXT, KERNELPACK_FORMAT_JSON}) {
    const RequestHandle request = filled_request();
    const auto text_of = [&](auto function) {
      return exhaust([&] {
        char* text = nullptr;
        const kernelpack_status status =
            function(request.get(), nullptr, "{\"features\": []}", format, &text);
        EXPECT_EQ(text != nullptr, status == KERNELPACK_OK);
        kernelpack_free_text(text);
        return status;
      });
    };
    EXPECT_GT(text_of(kernelpack_explain_request), 30);
    EXPECT_GT(text_of(kernelpack_plan_request), 30);
  }
}

// An error whose text finds no memory is an error of kind memory, and no other.
TEST_F(CApiMemory, Errors) {
  for (long allowed = 0; allowed < 2000; ++allowed) {
    kernelpack_kernel* kernel = nullptr;
    kernelpack_status status = KERNELPACK_OK;
    {
      const AllocationLimit limit(allowed);
      status = kernelpack_load_kernel("./no/such/folder/anywhere", nullptr, &kernel);
    }
    if (status == KERNELPACK_ERROR_IO) {
      EXPECT_GT(allowed, 5);
      return;
    }
    ASSERT_EQ(status, KERNELPACK_ERROR_MEMORY) << kernelpack_get_error_report();
  }
  FAIL() << "the error is never reported";
}

}  // namespace
}  // namespace kernelpack
