// The last error, versions, option structs and what is no Error.
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "handles_test.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/kernel.hpp"

// Under AddressSanitizer too large an allocation must fail as it does elsewhere.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

namespace kernelpack {
namespace {

TEST(CApiErrors, NamesOfStatusesAreThoseOfTheKinds) {
  EXPECT_STREQ(kernelpack_get_status_name(KERNELPACK_OK), "ok");
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::internal); ++kind)
    EXPECT_EQ(kernelpack_get_status_name(kind + 1), to_string(static_cast<ErrorKind>(kind)));
  EXPECT_STREQ(kernelpack_get_status_name(KERNELPACK_ERROR_ARGUMENT), "argument");
  EXPECT_STREQ(kernelpack_get_status_name(KERNELPACK_ERROR_MEMORY), "memory");
  EXPECT_STREQ(kernelpack_get_status_name(-1), "unknown");
  EXPECT_STREQ(kernelpack_get_status_name(16), "unknown");
}

TEST(CApiErrors, NothingIsWrongAtFirstAndAfterClearing) {
  for (int round = 0; round < 2; ++round) {
    kernelpack_clear_error();
    EXPECT_EQ(kernelpack_get_error_status(), KERNELPACK_OK);
    EXPECT_STREQ(kernelpack_get_error_kind(), "ok");
    EXPECT_STREQ(kernelpack_get_error_message(), "");
    EXPECT_STREQ(kernelpack_get_error_where(), "");
    EXPECT_STREQ(kernelpack_get_error_excerpt(), "");
    EXPECT_STREQ(kernelpack_get_error_report(), "");
    EXPECT_EQ(kernelpack_get_error_context_count(), 0u);
    EXPECT_STREQ(kernelpack_get_error_context(0), "");
    EXPECT_NE(kernelpack_load_kernel(nullptr, nullptr, nullptr), KERNELPACK_OK);
  }
}

TEST(CApiErrors, HoldEveryPartOfAnError) {
  const std::string folder = KERNELPACK_SOURCE_DIR "/tests/bad_packages/derive_exponent";
  kernelpack_kernel_options options{};
  options.struct_size = sizeof options;
  options.skip_verification = 1;
  // What C++ says of every faulty package is what C says.
  int packages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KERNELPACK_SOURCE_DIR "/tests/bad_packages")) {
    if (!entry.is_directory()) continue;
    std::optional<Error> expected;
    try {
      Kernel::get(entry.path().string(), {.verify = false});
      continue;
    } catch (const Error& error) {
      expected = error;
    }
    ++packages;
    kernelpack_kernel* kernel = nullptr;
    EXPECT_EQ(report_of(kernelpack_load_kernel(entry.path().c_str(), &options, &kernel)), expected->report());
    EXPECT_EQ(kernel, nullptr);
    EXPECT_EQ(kernelpack_get_error_message(), expected->message());
    EXPECT_EQ(kernelpack_get_error_where(), expected->where());
    EXPECT_EQ(kernelpack_get_error_excerpt(), expected->excerpt());
    ASSERT_EQ(kernelpack_get_error_context_count(), expected->context().size());
    for (std::size_t i = 0; i < expected->context().size(); ++i)
      EXPECT_EQ(kernelpack_get_error_context(i), expected->context()[i]);
    EXPECT_STREQ(kernelpack_get_error_context(expected->context().size()), "");
  }
  EXPECT_GE(packages, 3);
}

TEST(CApiErrors, StayAfterCallsThatSucceed) {
  report_of(kernelpack_load_kernel(nullptr, nullptr, nullptr));
  const KernelHandle kernel = load(kBiasSoftmax);
  EXPECT_EQ(kernelpack_get_error_status(), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_STREQ(kernelpack_get_error_where(), "kernelpack_load_kernel");
}

TEST(CApiErrors, BelongToTheirThread) {
  kernelpack_clear_error();
  constexpr int kThreads = 4;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([thread, &wrong] {
      if (kernelpack_get_error_status() != KERNELPACK_OK) ++wrong;
      const std::string source = "./none/" + std::to_string(thread);
      for (int i = 0; i < 200; ++i) {
        kernelpack_kernel* kernel = nullptr;
        if (kernelpack_load_kernel(source.c_str(), nullptr, &kernel) != KERNELPACK_ERROR_IO) ++wrong;
        if (std::strstr(kernelpack_get_error_where(), source.c_str()) == nullptr) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(kernelpack_get_error_status(), KERNELPACK_OK);
}

TEST(CApiErrors, MemoryThatIsExhausted) {
  const int64_t shape[] = {int64_t{1} << 30, int64_t{1} << 20};
  kernelpack_tensor* tensor = nullptr;
  EXPECT_EQ(report_of(kernelpack_create_tensor(KERNELPACK_FLOAT32, shape, 2, &tensor)),
            "memory: Memory is exhausted");
  EXPECT_EQ(tensor, nullptr);
  EXPECT_STREQ(kernelpack_get_error_message(), "Memory is exhausted");
  EXPECT_STREQ(kernelpack_get_error_where(), "");
  EXPECT_EQ(kernelpack_get_error_context_count(), 0u);
  kernelpack_clear_error();
  EXPECT_STREQ(kernelpack_get_error_report(), "");
}

struct Thrower {
  const char* what = nullptr;  ///< nothing: something that is no std::exception
};

// Exceptions that are no Error reach the guard from callbacks, which must not throw, but might.
TEST(CApiErrors, ForeignExceptionsDoNotLeave) {
  const KernelHandle kernel = load(kBiasSoftmax);
  const RequestHandle request = request_of(kernel);
  std::vector<float> data(64 * 4096, 1.0F);
  std::vector<float> bias(4096, 0.0F);
  const TensorHandle scores = wrap(data, {64, 4096});
  const TensorHandle mask = wrap(bias, {1, 4096});
  expect_ok(kernelpack_set_input(request.get(), "data", scores.get()));
  expect_ok(kernelpack_set_input(request.get(), "bias", mask.get()));
  expect_ok(kernelpack_set_number(request.get(), KERNELPACK_ATTRIBUTE, "axis", 1));
  expect_ok(kernelpack_set_number(request.get(), KERNELPACK_ATTRIBUTE, "is_inner_broadcast", 1));

  Thrower thrower{"thrown by a callback"};
  kernelpack_cpu_options options{};
  options.struct_size = sizeof options;
  options.threads = 4;
  options.user_data = &thrower;
  options.run_tasks = [](void* user_data, int32_t, kernelpack_task, void*) {
    const auto* given = static_cast<const Thrower*>(user_data);
    if (given->what == nullptr) throw 7;
    throw std::runtime_error(given->what);
  };
  kernelpack_device* opened = nullptr;
  expect_ok(kernelpack_open_cpu(&options, &opened));
  const DeviceHandle device(opened);
  EXPECT_EQ(report_of(kernelpack_run_request(request.get(), device.get())),
            "internal: thrown by a callback (kernelpack_run_request)");
  thrower.what = nullptr;
  EXPECT_EQ(report_of(kernelpack_run_request(request.get(), device.get())),
            "internal: An exception of unknown type is thrown (kernelpack_run_request)");
  EXPECT_EQ(kernelpack_get_output_count(request.get()), 0u);
}

TEST(CApiVersion, IsThatOfTheProject) {
  EXPECT_STREQ(kernelpack_get_version(), KERNELPACK_PROJECT_VERSION);
  EXPECT_EQ(std::string(kernelpack_get_version()), std::to_string(KERNELPACK_VERSION_MAJOR) + "." +
                                                       std::to_string(KERNELPACK_VERSION_MINOR) + "." +
                                                       std::to_string(KERNELPACK_VERSION_PATCH));
  EXPECT_EQ(kernelpack_check_abi(KERNELPACK_ABI_VERSION), KERNELPACK_OK);
  EXPECT_EQ(report_of(kernelpack_check_abi(KERNELPACK_ABI_VERSION + 1)),
            "unsupported: The program is compiled for another version of the C interface (" +
                std::to_string(KERNELPACK_ABI_VERSION + 1) + ") than that of the library (" +
                std::to_string(KERNELPACK_ABI_VERSION) + ")");
}

TEST(CApiOptions, MustStateTheirSize) {
  kernelpack_device* device = nullptr;
  kernelpack_cpu_options options{};
  const std::string least = std::to_string(sizeof options);
  EXPECT_EQ(report_of(kernelpack_open_cpu(&options, &device)),
            "argument: The struct_size of options (0) is not the size of the struct (at least " + least +
                ") (kernelpack_open_cpu)");
  options.struct_size = sizeof options - 1;
  EXPECT_EQ(report_of(kernelpack_open_cpu(&options, &device)).substr(0, 9), "argument:");
  options.struct_size = SIZE_MAX;
  EXPECT_EQ(report_of(kernelpack_open_cpu(&options, &device)).substr(0, 9), "argument:");
  EXPECT_EQ(device, nullptr);

  // Of every struct, in every function that takes one.
  kernelpack_gpu_options gpu{};
  EXPECT_EQ(kernelpack_open_gpu(&gpu, &device), KERNELPACK_ERROR_ARGUMENT);
  kernelpack_adopted_device adopted{};
  EXPECT_EQ(kernelpack_adopt_device(&adopted, &device), KERNELPACK_ERROR_ARGUMENT);
  kernelpack_kernel_options kernel_options{};
  kernelpack_kernel* kernel = nullptr;
  EXPECT_EQ(kernelpack_load_kernel(kBiasSoftmax.c_str(), &kernel_options, &kernel),
            KERNELPACK_ERROR_ARGUMENT);
}

TEST(CApiOptions, OfALaterVersionServeWhileTheirNewFieldsAreZero) {
  struct Later {
    kernelpack_cpu_options known;
    std::int64_t added;
  } later{};
  later.known.struct_size = sizeof later;
  later.known.threads = 1;
  kernelpack_device* opened = nullptr;
  expect_ok(kernelpack_open_cpu(&later.known, &opened));
  const DeviceHandle device(opened);
  EXPECT_NE(std::strstr(kernelpack_get_device_description(opened), "1 thread"), nullptr);
  later.added = 1;
  EXPECT_EQ(report_of(kernelpack_open_cpu(&later.known, &opened)),
            "unsupported: A field of options is set that this version of kernelpack (" +
                std::string(kernelpack_get_version()) + ") does not know");
  EXPECT_EQ(opened, nullptr);
}

}  // namespace
}  // namespace kernelpack
