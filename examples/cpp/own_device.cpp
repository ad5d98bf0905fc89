// A program with a WebGPU device, buffers and an encoder of its own, to which it adds a kernel.
#include <cstdio>

#include <webgpu/webgpu.h>

#include <kernelpack/kernelpack.hpp>
#include <kernelpack/webgpu_interop.hpp>

namespace kp = kernelpack;

int main() {
  // The program's own: an instance, a device, buffers.
  WGPUInstance instance = wgpuCreateInstance(nullptr);
  WGPUAdapter adapter = nullptr;
  WGPURequestAdapterCallbackInfo got_adapter{};
  got_adapter.mode = WGPUCallbackMode_AllowProcessEvents;
  got_adapter.userdata1 = &adapter;
  got_adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter found, WGPUStringView, void* to, void*) {
    *static_cast<WGPUAdapter*>(to) = found;
  };
  wgpuInstanceRequestAdapter(instance, nullptr, got_adapter);
  wgpuInstanceProcessEvents(instance);
  if (adapter == nullptr) return 77;

  WGPUDevice device = nullptr;
  WGPUDeviceDescriptor description{};
  description.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType,
                                                        WGPUStringView message, void*, void*) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(message.length), message.data);
  };
  WGPURequestDeviceCallbackInfo got_device{};
  got_device.mode = WGPUCallbackMode_AllowProcessEvents;
  got_device.userdata1 = &device;
  got_device.callback = [](WGPURequestDeviceStatus, WGPUDevice made, WGPUStringView, void* to, void*) {
    *static_cast<WGPUDevice*>(to) = made;
  };
  wgpuAdapterRequestDevice(adapter, &description, got_device);
  wgpuInstanceProcessEvents(instance);
  WGPUQueue queue = wgpuDeviceGetQueue(device);
  const auto make_buffer = [&](WGPUBufferUsage usage) {
    WGPUBufferDescriptor descriptor{};
    descriptor.usage = usage;
    descriptor.size = 8 * sizeof(float);
    return wgpuDeviceCreateBuffer(device, &descriptor);
  };
  const float scores[] = {0, 1, 2, 3, 3, 2, 1, 0};
  WGPUBuffer data = make_buffer(WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst);
  WGPUBuffer bias = make_buffer(WGPUBufferUsage_Storage);  // zeros
  WGPUBuffer probabilities = make_buffer(WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc);
  WGPUBuffer result = make_buffer(WGPUBufferUsage_CopyDst | WGPUBufferUsage_MapRead);
  wgpuQueueWriteBuffer(queue, data, 0, scores, sizeof scores);

  // kernelpack works on them. With Dawn: .get_proc_address = reinterpret_cast<void*>(&wgpuGetProcAddress).
  {
    const kp::Device gpu =
        kp::adopt_device({.library = "libwgpu_native.so", .instance = instance, .device = device});
    const kp::Kernel softmax = kp::Kernel::get("com.microsoft.BiasSoftmax");
    kp::Batch batch(gpu);
    batch.add(
        softmax,
        {{"data", kp::wrap_buffer(gpu, data, 0, {kp::DType::float32, {2, 4}})},
         {"bias", kp::wrap_buffer(gpu, bias, 0, {kp::DType::float32, {1, 4}})}},
        {.attributes = {{"axis", 1}, {"is_inner_broadcast", 1}},
         .destinations = {{"output", kp::wrap_buffer(gpu, probabilities, 0, {kp::DType::float32, {2, 4}})}}});

    // Its commands go into the program's encoder, before a copy of the program's own.
    WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device, nullptr);
    kp::Recording recording;
    recording.add(batch, encoder);
    wgpuCommandEncoderCopyBufferToBuffer(encoder, probabilities, 0, result, 0, sizeof scores);
    WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
    wgpuQueueSubmit(queue, 1, &commands);
    wgpuCommandBufferRelease(commands);
    wgpuCommandEncoderRelease(encoder);
  }  // kernelpack is gone, the device is not

  bool mapped = false;
  WGPUBufferMapCallbackInfo on_map{};
  on_map.mode = WGPUCallbackMode_AllowProcessEvents;
  on_map.userdata1 = &mapped;
  on_map.callback = [](WGPUMapAsyncStatus, WGPUStringView, void* done, void*) {
    *static_cast<bool*>(done) = true;
  };
  wgpuBufferMapAsync(result, WGPUMapMode_Read, 0, sizeof scores, on_map);
  while (!mapped) wgpuInstanceProcessEvents(instance);
  const auto* values = static_cast<const float*>(wgpuBufferGetConstMappedRange(result, 0, sizeof scores));
  for (int i = 0; i < 8; ++i) std::printf("%.3f%c", static_cast<double>(values[i]), i % 4 == 3 ? '\n' : ' ');
  wgpuBufferUnmap(result);
  for (WGPUBuffer buffer : {data, bias, probabilities, result}) wgpuBufferRelease(buffer);
  wgpuQueueRelease(queue);
  wgpuDeviceRelease(device);
  wgpuAdapterRelease(adapter);
  wgpuInstanceRelease(instance);
}
