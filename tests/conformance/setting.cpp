#include "setting.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "kernelpack/webgpu_interop.hpp"
#include "webgpu/adapters.hpp"
#include "webgpu/device_fixture_test.hpp"

namespace kernelpack::conformance {
namespace {

const std::filesystem::path kPackages = std::filesystem::path(KERNELPACK_SOURCE_DIR) / "packages";

struct Answer : webgpu::Completion {
  WGPUDevice device = nullptr;
};

/// kernelpack asks for every feature, so a device without any is made as a program of the user would.
Device open_without_features(const std::string& name) {
  const auto library = webgpu::find_library(name);
  const auto instance = webgpu::Instance::of(library);
  const webgpu::Functions& f = library->functions();
  const webgpu::Adapter adapter =
      webgpu::choose_adapter(webgpu::list_adapters(*instance), GpuOptions{}, *library);
  WGPUDeviceDescriptor descriptor{};
  // wgpu-native ends the process on an error that nobody catches.
  descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType,
                                                       WGPUStringView message, void*, void*) noexcept {
    ADD_FAILURE() << std::string_view(message.data, message.length);
  };
  Answer answer;
  WGPURequestDeviceCallbackInfo callback{};
  callback.mode = instance->callback_mode();
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice made, WGPUStringView, void* user,
                         void*) noexcept {
    static_cast<Answer*>(user)->device = made;
    static_cast<Answer*>(user)->done.store(true, std::memory_order_release);
  };
  instance->wait(nullptr, f.AdapterRequestDevice(adapter.handle.get(), &descriptor, callback), answer);
  if (answer.device == nullptr)
    throw Error(ErrorKind::device, "The library makes no device without features");
  const webgpu::Handle<WGPUDevice> owner(answer.device, f.DeviceRelease);
  AdoptedDevice adopted{.device = answer.device};
  if (library->is_dawn()) {
    void* loaded = dlopen(library->origin().c_str(), RTLD_NOW | RTLD_NOLOAD);
    adopted.get_proc_address = dlsym(loaded, "wgpuGetProcAddress");
    adopted.instance = instance->get();
  } else {
    adopted.library = library->origin();
  }
  return adopt_device(adopted);
}

struct Opened {
  std::vector<Place> places;
  std::string reason;
};

const Opened& opened(const std::string& library) {
  static std::map<std::string, Opened> all;
  const auto [found, first] = all.try_emplace(library);
  if (first) {
    try {
      found->second.places = open_places(library);
    } catch (const Error& error) {
      found->second.reason = error.report();
    }
  }
  return found->second;
}

}  // namespace

bool long_form() {
  const char* text = std::getenv("KERNELPACK_TEST_LONG");
  return text != nullptr && std::string_view(text) == "1";
}

std::vector<Place> open_places(const std::string& library) {
  webgpu::use_fetched_driver();
  const Device device = Device::open({.library = library});
  std::vector<Place> places{{"all features", device, device.facts()}};
  if (device.facts().subgroup_min_size) {
    DeviceFacts facts = device.facts();
    facts.subgroup_min_size.reset();
    facts.subgroup_max_size.reset();
    places.push_back({"unreported sizes", device, std::move(facts)});
  }
  DeviceFacts narrow = device.facts();
  narrow.limits["maxComputeInvocationsPerWorkgroup"] = 128;
  places.push_back({"128 invocations", device, std::move(narrow)});
  const Device without = open_without_features(library);
  places.push_back({"no features", without, without.facts()});
  return places;
}

void ConformanceTest::SetUp() {
  const Opened& there = opened(GetParam().library);
  if (there.places.empty()) {
    if (webgpu::gpu_required()) FAIL() << "no device: " << there.reason;
    GTEST_SKIP() << there.reason;
  }
  places_ = &there.places;
  ASSERT_TRUE(no_features().facts.features.empty());
  // wgpu-native does not tell.
  const char* subgroups = std::getenv("KERNELPACK_TEST_SUBGROUPS");
  if (subgroups != nullptr && all_features().facts.subgroup_min_size) {
    ASSERT_EQ(*all_features().facts.subgroup_min_size, std::atoi(subgroups));
  }
  kernel_ = Kernel::get((kPackages / GetParam().generation / "com.microsoft.BiasSoftmax").string());
}

std::vector<std::string> ConformanceTest::variants() const {
  std::vector<std::string> ids;
  for (const PackageSummary::Variant& variant : kernel().package().describe().variants)
    ids.push_back(variant.id);
  return ids;
}

std::string setting_name(const ::testing::TestParamInfo<Setting>& setting) {
  return std::string(setting.param.library == std::string("dawn") ? "Dawn" : "WgpuNative") +
         (*setting.param.generation == '\0' ? "" : "Generation1");
}

}  // namespace kernelpack::conformance
