// GPUs through the C interface: devices of our own and of the caller, tensors that stay there.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "handles_test.hpp"
#include "kernelpack/batch.hpp"
#include "kernelpack/json.hpp"
#include "kernelpack/webgpu_interop.hpp"

namespace kernelpack {
namespace {

bool gpu_required() {
  const auto is = [](const char* name, std::string_view value) {
    const char* text = std::getenv(name);
    return text != nullptr && text == value;
  };
  return is("CI", "true") || is("KERNELPACK_REQUIRE_GPU", "1");
}

class CApiGpu : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto manifest = std::filesystem::path(KERNELPACK_WEBGPU_DIR) / "lavapipe" / "lvp_icd.json";
    if (std::filesystem::exists(manifest)) setenv("VK_DRIVER_FILES", manifest.c_str(), 0);
    setenv("KERNELPACK_SHADER_CACHE", "none", 0);
    device_ = open({.library = GetParam()});
    if (device_ == nullptr) {
      const std::string why = kernelpack_get_error_report();
      if (gpu_required()) FAIL() << "no device: " << why;
      GTEST_SKIP() << why;
    }
  }

  static DeviceHandle open(kernelpack_gpu_options options) {
    options.struct_size = sizeof options;
    kernelpack_device* device = nullptr;
    const kernelpack_status status = kernelpack_open_gpu(&options, &device);
    EXPECT_EQ(status == KERNELPACK_OK, device != nullptr);
    return DeviceHandle(device);
  }
  static TensorHandle upload(const DeviceHandle& device, const TensorHandle& values) {
    kernelpack_tensor* tensor = nullptr;
    expect_ok(kernelpack_upload_tensor(device.get(), values.get(), nullptr, &tensor));
    return TensorHandle(tensor);
  }
  static std::vector<float> read(const TensorHandle& tensor) {
    kernelpack_tensor* values = nullptr;
    expect_ok(kernelpack_download_tensor(tensor.get(), &values));
    return floats(TensorHandle(values));
  }

  DeviceHandle device_;
};

TEST_P(CApiGpu, TellsWhatItIs) {
  EXPECT_EQ(kernelpack_is_gpu(device_.get()), 1);
  const Device same = Device::open({.library = GetParam()});
  EXPECT_EQ(kernelpack_get_device_description(device_.get()), same.description());
  char* json = nullptr;
  expect_ok(kernelpack_get_device_facts(device_.get(), &json));
  EXPECT_EQ(json, same.facts().to_json());
  TextHandle(json).reset();
  expect_ok(kernelpack_list_gpus(GetParam(), &json));
  EXPECT_EQ(json, to_json(gpu_libraries(GetParam())));
  TextHandle(json).reset();
}

TEST_P(CApiGpu, IsOpenedByNamePowerAndFeature) {
  const std::string name = Device::open({.library = GetParam()}).adapter().name;
  EXPECT_NE(open({.adapter = name.c_str(), .library = GetParam(), .power = KERNELPACK_POWER_LOW}), nullptr);
  const auto said = [](const GpuOptions& options) {
    try {
      Device::open(options);
    } catch (const Error& error) {
      return error.report();
    }
    return std::string("opened");
  };
  EXPECT_EQ(open({.adapter = "no such adapter", .library = GetParam()}), nullptr);
  EXPECT_EQ(kernelpack_get_error_report(), said({.adapter = "no such adapter", .library = GetParam()}));
  const char* const features[] = {"no-such-feature"};
  EXPECT_EQ(open({.library = GetParam(), .required_features = features, .required_feature_count = 1}),
            nullptr);
  EXPECT_EQ(kernelpack_get_error_report(),
            said({.library = GetParam(), .required_features = {"no-such-feature"}}));
  EXPECT_EQ(open({.power = 7}), nullptr);
  EXPECT_EQ(kernelpack_get_error_status(), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(open({.required_feature_count = 1}), nullptr);
  EXPECT_EQ(kernelpack_get_error_status(), KERNELPACK_ERROR_ARGUMENT);
  const char* const null[] = {nullptr};
  EXPECT_EQ(open({.required_features = null, .required_feature_count = 1}), nullptr);
  EXPECT_EQ(kernelpack_get_error_status(), KERNELPACK_ERROR_ARGUMENT);
}

TEST_P(CApiGpu, RunsOnMemoryOfTheHost) {
  std::vector<float> a{1, 2, 3, 4, 5, 6};
  std::vector<float> b{10, 20, 30};
  std::vector<float> mine(6, -1);
  const RequestHandle request = request_of(load(kTestPackages + "broadcast_add"));
  const TensorHandle left = wrap(a, {2, 3});
  const TensorHandle right = wrap(b, {3});
  expect_ok(kernelpack_set_input(request.get(), "a", left.get()));
  expect_ok(kernelpack_set_input(request.get(), "b", right.get()));
  expect_ok(kernelpack_run_request(request.get(), device_.get()));
  const std::vector<float> sums{11, 22, 33, 14, 25, 36};
  EXPECT_EQ(floats(output(request, "sum")), sums);
  const TensorHandle destination = wrap(mine, {2, 3});
  expect_ok(kernelpack_set_destination(request.get(), "sum", destination.get()));
  expect_ok(kernelpack_run_request(request.get(), device_.get()));
  EXPECT_EQ(mine, sums);
}

TEST_P(CApiGpu, KeepsTensorsThatLieOnIt) {
  std::vector<float> a{1, 2, 3, 4, 5, 6};
  std::vector<float> b{10, 20, 30};
  const RequestHandle request = request_of(load(kTestPackages + "broadcast_add"));
  const TensorHandle host = wrap(b, {3});
  const TensorHandle right = upload(device_, host);
  TensorHandle x = upload(device_, wrap(a, {2, 3}));
  EXPECT_EQ(kernelpack_is_on_gpu(x.get()), 1);
  EXPECT_EQ(kernelpack_get_tensor_byte_size(x.get()), 24u);
  EXPECT_EQ(kernelpack_get_tensor_shape(x.get())[1], 3);
  EXPECT_EQ(kernelpack_get_tensor_data(x.get()), nullptr);
  EXPECT_EQ(kernelpack_get_error_status(), KERNELPACK_ERROR_CONTRACT);
  EXPECT_EQ(kernelpack_get_tensor_mutable_data(x.get()), nullptr);
  expect_ok(kernelpack_set_input(request.get(), "b", right.get()));
  for (int i = 0; i < 3; ++i) {
    expect_ok(kernelpack_set_input(request.get(), "a", x.get()));
    expect_ok(kernelpack_run_request(request.get(), device_.get()));
    x = output(request, "sum");
  }
  EXPECT_EQ(kernelpack_is_on_gpu(x.get()), 1);
  EXPECT_EQ(read(x), (std::vector<float>{31, 62, 93, 34, 65, 96}));
  const TensorHandle into = upload(device_, wrap(a, {2, 3}));
  expect_ok(kernelpack_set_destination(request.get(), "sum", into.get()));
  expect_ok(kernelpack_run_request(request.get(), device_.get()));
  EXPECT_EQ(kernelpack_get_output_count(request.get()), 0u);
  EXPECT_EQ(read(into)[0], 31);

  const auto file =
      std::filesystem::temp_directory_path() / ("kernelpack_c_api_gpu_" + std::to_string(getpid()) + ".npy");
  expect_ok(kernelpack_write_npy(file.c_str(), into.get()));
  kernelpack_tensor* written = nullptr;
  expect_ok(kernelpack_read_npy(file.c_str(), &written));
  EXPECT_EQ(floats(TensorHandle(written)), read(into));
  std::filesystem::remove(file);

  EXPECT_EQ(report_of(kernelpack_run_request(request.get(), nullptr)),
            "contract: The tensors lie on a GPU, but the call is to run on the CPU");
  expect_ok(kernelpack_set_input(request.get(), "b", host.get()));
  EXPECT_EQ(
      report_of(kernelpack_run_request(request.get(), device_.get())),
      "contract: The tensors of a call lie all in memory or all on a GPU, but b lies in memory and sum on a "
      "GPU (tensor b)");
  kernelpack_tensor* again = nullptr;
  EXPECT_EQ(kernelpack_upload_tensor(device_.get(), into.get(), nullptr, &again), KERNELPACK_ERROR_CONTRACT);
  kernelpack_storage_options storage{};
  storage.struct_size = sizeof storage;
  storage.storage = KERNELPACK_INT32;
  EXPECT_EQ(kernelpack_upload_tensor(device_.get(), host.get(), &storage, &again), KERNELPACK_ERROR_CONTRACT);
  storage.reserved = 1;
  EXPECT_EQ(kernelpack_upload_tensor(device_.get(), host.get(), &storage, &again), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(again, nullptr);
}

TEST_P(CApiGpu, PlansAndExplainsForItself) {
  const RequestHandle request = request_of(load(kTestPackages + "broadcast_add"));
  const int64_t shape[] = {2, 3};
  expect_ok(kernelpack_set_input_spec(request.get(), "a", KERNELPACK_FLOAT32, shape, 2));
  expect_ok(kernelpack_set_input_spec(request.get(), "b", KERNELPACK_FLOAT32, shape, 2));
  const Device same = Device::open({.library = GetParam()});
  const Kernel kernel = Kernel::get(kTestPackages + "broadcast_add");
  const Call call =
      kernel.bind(std::vector<NamedSpec>{{"a", {DType::float32, {2, 3}}}, {"b", {DType::float32, {2, 3}}}});
  char* text = nullptr;
  expect_ok(kernelpack_plan_request(request.get(), device_.get(), nullptr, KERNELPACK_FORMAT_JSON, &text));
  EXPECT_EQ(text, to_json(call, *kernel.plan(call, same)));
  TextHandle(text).reset();
  expect_ok(kernelpack_explain_request(request.get(), device_.get(), nullptr, KERNELPACK_FORMAT_TEXT, &text));
  EXPECT_EQ(text, to_string(kernel.explain(call, same.facts())));
  TextHandle(text).reset();
}

TEST_P(CApiGpu, IsClosed) {
  std::vector<float> a{1, 2, 3};
  const TensorHandle tensor = upload(device_, wrap(a, {3}));
  expect_ok(kernelpack_close_device(device_.get()));
  kernelpack_tensor* none = nullptr;
  EXPECT_EQ(kernelpack_download_tensor(tensor.get(), &none), KERNELPACK_ERROR_DEVICE);
  EXPECT_NE(std::strstr(kernelpack_get_error_message(), "closed"), nullptr) << kernelpack_get_error_message();
}

TEST_P(CApiGpu, IsAdopted) {
  std::optional<Device> owner = Device::open({.library = GetParam()});
  const std::string path = gpu_libraries(GetParam()).front().path;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << path;
  kernelpack_adopted_device adopted{};
  adopted.struct_size = sizeof adopted;
  adopted.device = webgpu_device(*owner);
  if (std::string_view(GetParam()) == "dawn")
    adopted.get_proc_address = dlsym(library, "wgpuGetProcAddress");
  else
    adopted.library = path.c_str();
  kernelpack_device* made = nullptr;
  expect_ok(kernelpack_adopt_device(&adopted, &made));
  DeviceHandle device(made);

  const std::vector<float> values{1, 2, 3, 4};
  const DeviceTensor theirs = DeviceTensor::upload(*owner, TensorView::of<float>(values, {4}));
  const DeviceTensor sums = DeviceTensor::zeros(*owner, {DType::float32, {4}});
  const int64_t shape[] = {4};
  const auto wrapped = [&](const DeviceTensor& tensor) {
    kernelpack_tensor* made_tensor = nullptr;
    expect_ok(kernelpack_wrap_buffer(device.get(), webgpu_buffer(tensor), tensor.byte_offset(),
                                     KERNELPACK_FLOAT32, shape, 1, nullptr, &made_tensor));
    return TensorHandle(made_tensor);
  };
  const RequestHandle request = request_of(load(kTestPackages + "broadcast_add"));
  const TensorHandle in = wrapped(theirs);
  expect_ok(kernelpack_set_input(request.get(), "a", in.get()));
  expect_ok(kernelpack_set_input(request.get(), "b", in.get()));
  const TensorHandle out = wrapped(sums);
  expect_ok(kernelpack_set_destination(request.get(), "sum", out.get()));
  expect_ok(kernelpack_run_request(request.get(), device.get()));
  EXPECT_EQ(read(out), (std::vector<float>{2, 4, 6, 8}));
  device.reset();
  const Tensor owners = sums.read();
  EXPECT_EQ(owners.values<float>()[3], 8);

  adopted.device = nullptr;
  EXPECT_EQ(report_of(kernelpack_adopt_device(&adopted, &made)),
            "argument: The argument adopted->device is NULL (kernelpack_adopt_device)");
  dlclose(library);
}

INSTANTIATE_TEST_SUITE_P(Libraries, CApiGpu, ::testing::Values("dawn", "wgpu-native"), [](const auto& each) {
  return std::string(std::string_view(each.param) == "dawn" ? "Dawn" : "WgpuNative");
});

TEST(CApiDevices, WithoutTheLibraryAskedForThereIsNone) {
  kernelpack_gpu_options options{};
  options.struct_size = sizeof options;
  options.library = "/no/such/library.so";
  kernelpack_device* device = nullptr;
  std::string expected;
  try {
    Device::open({.library = "/no/such/library.so"});
  } catch (const Error& error) {
    expected = error.report();
  }
  EXPECT_EQ(report_of(kernelpack_open_gpu(&options, &device)), expected);
  EXPECT_EQ(device, nullptr);
  char* json = nullptr;
  expect_ok(kernelpack_list_gpus("/no/such/library.so", &json));
  EXPECT_EQ(json, to_json(gpu_libraries("/no/such/library.so")));
  TextHandle(json).reset();
}

TEST(CApiDevices, OfTheCpuHaveNoFactsAndNoTensors) {
  kernelpack_device* opened = nullptr;
  expect_ok(kernelpack_open_cpu(nullptr, &opened));
  const DeviceHandle cpu(opened);
  EXPECT_EQ(kernelpack_get_device_description(opened), Device::cpu().description());
  char* json = nullptr;
  EXPECT_EQ(kernelpack_get_device_facts(opened, &json), KERNELPACK_ERROR_DEVICE);
  std::vector<float> values{1};
  const TensorHandle tensor = wrap(values, {1});
  kernelpack_tensor* none = nullptr;
  EXPECT_EQ(kernelpack_upload_tensor(opened, tensor.get(), nullptr, &none), KERNELPACK_ERROR_DEVICE);
  EXPECT_EQ(kernelpack_wrap_buffer(opened, &values, 0, KERNELPACK_FLOAT32, nullptr, 0, nullptr, &none),
            KERNELPACK_ERROR_DEVICE);
  EXPECT_EQ(kernelpack_wrap_buffer(opened, nullptr, 0, KERNELPACK_FLOAT32, nullptr, 0, nullptr, &none),
            KERNELPACK_ERROR_ARGUMENT);

  kernelpack_cpu_options options{};
  options.struct_size = sizeof options;
  options.target = "avx9";
  EXPECT_EQ(kernelpack_open_cpu(&options, &opened), KERNELPACK_ERROR_DEVICE);
  options.target = nullptr;
  options.threads = -1;
  EXPECT_EQ(kernelpack_open_cpu(&options, &opened), KERNELPACK_ERROR_DEVICE);
  EXPECT_EQ(opened, nullptr);
}

TEST(CApiDevices, NullIsAnError) {
  kernelpack_device* device = nullptr;
  char* json = nullptr;
  EXPECT_EQ(kernelpack_open_cpu(nullptr, nullptr), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_open_gpu(nullptr, nullptr), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_adopt_device(nullptr, &device), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_get_device_description(nullptr), nullptr);
  EXPECT_EQ(kernelpack_is_gpu(nullptr), -1);
  EXPECT_EQ(kernelpack_get_device_facts(nullptr, &json), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_list_gpus(nullptr, nullptr), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_close_device(nullptr), KERNELPACK_ERROR_ARGUMENT);
  kernelpack_free_device(nullptr);
}

}  // namespace
}  // namespace kernelpack
