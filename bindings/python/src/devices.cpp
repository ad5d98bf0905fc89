#include "devices.hpp"

#include <cxxabi.h>

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "arrays.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/json.hpp"
#include "kernelpack/webgpu_interop.hpp"

namespace kernelpack::python {
namespace {

template <class Handle>
Handle* handle_at(std::uintptr_t address) {
  return reinterpret_cast<Handle*>(address);
}

Power to_power(const std::string& power) {
  if (power == "high") return Power::high;
  if (power == "low") return Power::low;
  throw Error(ErrorKind::contract, fmt::format("The power ({}) is neither high nor low", power));
}

StorageOptions storage_options(const std::optional<std::string>& storage, bool packed, bool saturating) {
  StorageOptions options{.packed = packed, .saturating = saturating};
  if (storage) {
    options.storage = parse_dtype(*storage);
    if (!options.storage)
      throw Error(ErrorKind::contract, fmt::format("The storage ({}) is no dtype of kernelpack", *storage));
  }
  return options;
}

PyDevice open_device(const std::string& power, const std::string& adapter, const std::string& library,
                     std::uintptr_t get_proc_address, bool software, bool raise_all_limits,
                     std::vector<std::string> required_features, const std::string& shader_cache) {
  GpuOptions options{.power = to_power(power),
                     .adapter = adapter,
                     .library = library,
                     .get_proc_address = reinterpret_cast<void*>(get_proc_address),
                     .software = software,
                     .raise_all_limits = raise_all_limits,
                     .required_features = std::move(required_features),
                     .shader_cache = shader_cache};
  const GilRelease release(false);
  return {Device::open(options), false, {}};
}

// Which libraries there are is a question for Python: some lie in packages that it can import.
void init_device(PyDevice* self, const std::string& power, const std::string& adapter,
                 const std::string& library, bool software, bool raise_all_limits,
                 const std::vector<std::string>& required_features, const std::string& shader_cache) {
  const nb::object made = nb::module_::import_("kernelpack._libraries")
                              .attr("open_device")(power, adapter, library, software, raise_all_limits,
                                                   required_features, shader_cache);
  new (self) PyDevice(*nb::inst_ptr<PyDevice>(made));
}

PyDevice adopt(std::uintptr_t device, std::uintptr_t instance, std::uintptr_t get_proc_address,
               const std::string& library, bool keeps_gil, nb::object owner) {
  return {adopt_device({.get_proc_address = reinterpret_cast<void*>(get_proc_address),
                        .library = library,
                        .instance = handle_at<WGPUInstanceImpl>(instance),
                        .device = handle_at<WGPUDeviceImpl>(device)}),
          keeps_gil, std::move(owner)};
}

PyDeviceTensor upload(nb::handle array, nb::object device, const std::optional<std::string>& storage,
                      bool packed, bool saturating) {
  const PyDevice* target = to_device(device);
  const HostArray host = HostArray::read(array, "array", true);
  const StorageOptions options = storage_options(storage, packed, saturating);
  DeviceTensor tensor;
  {
    const GilRelease release(target);
    tensor = DeviceTensor::upload(target->device, host.view(), options);
  }
  return {std::move(tensor), std::move(device), {}};
}

PyDeviceTensor wrap(nb::object device, std::uintptr_t buffer, nb::handle dtype, Shape shape,
                    std::uint64_t offset, const std::optional<std::string>& storage, bool packed,
                    bool saturating, nb::object owner) {
  const PyDevice* target = to_device(device);
  auto tensor = wrap_buffer(target->device, handle_at<WGPUBufferImpl>(buffer), offset,
                            {to_dtype(dtype, "the buffer"), std::move(shape)},
                            storage_options(storage, packed, saturating));
  return {std::move(tensor), std::move(device), std::move(owner)};
}

nb::object read(const PyDeviceTensor& self) {
  Tensor values = Tensor::uninitialized(self.tensor.spec());
  {
    const GilRelease release(&self.on());
    self.tensor.read(values.mutable_view());
  }
  return to_numpy(std::move(values));
}

// The NumPy protocol: a dtype asks for a conversion, and copy=False cannot be granted.
nb::object as_array(const PyDeviceTensor& self, nb::handle dtype, nb::handle copy) {
  if (!copy.is_none() && PyObject_IsTrue(copy.ptr()) == 0)
    throw nb::value_error("A tensor on a GPU is always copied to become a NumPy array");
  const nb::object array = read(self);
  return dtype.is_none() ? array : array.attr("astype")(dtype);
}

void write(const PyDeviceTensor& self, nb::handle array) {
  const HostArray host = HostArray::read(array, "array", true);
  const GilRelease release(&self.on());
  self.tensor.write(host.view());
}

}  // namespace

GilRelease::~GilRelease() {
  if (state_ == nullptr) return;
#if defined(__GLIBCXX__)
  try {
    PyEval_RestoreThread(state_);
  } catch (abi::__forced_unwind&) {
    // Before 3.14 Python ends such a thread by unwinding its stack, which would run destructors that need the
    // GIL.
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  }
#else
  PyEval_RestoreThread(state_);
#endif
}

PyDevice* to_device(nb::handle object) {
  if (object.is_none()) return nullptr;
  if (!nb::isinstance<PyDevice>(object))
    throw Error(ErrorKind::contract, fmt::format("The device ({}) is no kernelpack.Device", kind_of(object)),
                "device");
  return nb::inst_ptr<PyDevice>(object);
}

nb::object to_json_object(const std::string& json) {
  return nb::module_::import_("json").attr("loads")(json);
}

void bind_devices(nb::module_& module) {
  nb::class_<PyDevice>(
      module, "Device",
      "Where calls run: a GPU, or the CPU with options. Cheap to copy, safe to use from several\n"
      "threads. Device(...) opens a GPU; Device.cpu() and Device.adopt() are the other ways.")
      .def("__init__", &init_device, nb::kw_only(), nb::arg("power") = "high", nb::arg("adapter") = "",
           nb::arg("library") = "", nb::arg("software") = false, nb::arg("raise_all_limits") = false,
           nb::arg("required_features") = std::vector<std::string>(), nb::arg("shader_cache") = "",
           "Opens a GPU.\n\n"
           "power: 'high' or 'low'. adapter: a part of its name. software: take a software adapter.\n"
           "library: 'dawn', 'wgpu-native', 'wgpudawn' or 'wgpu' (the Python packages), or a file; '' is "
           "what\n"
           "KERNELPACK_WEBGPU names, else the first that opens a device. required_features: such as "
           "'shader-f16'.\n"
           "raise_all_limits: ask for all limits of the adapter and not only for those that a browser "
           "raises.\n"
           "shader_cache: a folder for compiled shaders, or 'none'.\n\n"
           "Raises DeviceError, saying what is missing.")
      .def_static(
          "adopt",
          [](nb::handle device, nb::handle library) {
            return nb::module_::import_("kernelpack._adoption").attr("adopt")(device, library);
          },
          nb::arg("device"), nb::kw_only(), nb::arg("library") = nb::none(),
          nb::sig("def adopt(device: typing.Any, *, library: str | None = None) -> Device"),
          "Takes a device that the package wgpu or wgpudawn made. It stays its owner's: kernelpack holds a\n"
          "reference and never destroys it.\n\n"
          "device: a wgpu.GPUDevice or wgpudawn.GPUDevice, or the address of a WGPUDevice of the library "
          "that is\n"
          "loaded from the file `library` (wgpu-native).\n\n"
          "With a Dawn device that lacks the feature implicit-device-synchronization, calls keep the GIL.")
      .def_static(
          "cpu",
          [](int threads, const std::string& target, int spin_microseconds) {
            return PyDevice{
                Device::cpu({.threads = threads, .target = target, .spin_microseconds = spin_microseconds}),
                false,
                {}};
          },
          nb::kw_only(), nb::arg("threads") = 0, nb::arg("target") = "", nb::arg("spin_microseconds") = 1000,
          "The CPU.\n\n"
          "threads: that share the work of one call, the caller's included; 0 is one per processor.\n"
          "target: an instruction set, 'avx3', 'avx2', 'sse4', 'scalar' or 'neon'; '' is the best.\n"
          "spin_microseconds: how long idle threads poll for the next call before they sleep, at most "
          "1000.\n\n"
          "Raises DeviceError for an unknown target, UnsupportedError for one that the machine lacks.")
      .def_prop_ro(
          "description", [](const PyDevice& self) { return self.device.description(); },
          "A line such as 'cpu (avx3, 2 threads)' or 'NVIDIA H200 (vulkan, Dawn)'.")
      .def_prop_ro(
          "is_gpu", [](const PyDevice& self) { return self.device.is_gpu(); }, "Whether this is a GPU.")
      .def_prop_ro(
          "facts", [](const PyDevice& self) { return to_json_object(self.device.facts().to_json()); },
          nb::sig("def facts(self) -> dict[str, typing.Any]"),
          "What planning knows of the GPU: features, limits, adapterInfo. Raises DeviceError for the CPU.")
      .def(
          "close",
          [](const PyDevice& self) {
            const GilRelease release(&self);
            self.device.close();
          },
          "Waits for what was submitted and ends the use of a GPU: later calls on it and its tensors raise\n"
          "DeviceError. A device that was adopted stays as it is. The CPU ignores it.")
      .def("__repr__",
           [](const PyDevice& self) {
             return fmt::format("<kernelpack.Device {}>", self.device.description());
           })
      .def_prop_ro("_keeps_gil", [](const PyDevice& self) { return self.keeps_gil; });

  module.def("_open_device", &open_device, nb::arg("power"), nb::arg("adapter"), nb::arg("library"),
             nb::arg("get_proc_address"), nb::arg("software"), nb::arg("raise_all_limits"),
             nb::arg("required_features"), nb::arg("shader_cache"));
  module.def("_adopt", &adopt, nb::arg("device"), nb::arg("instance"), nb::arg("get_proc_address"),
             nb::arg("library"), nb::arg("keeps_gil"), nb::arg("owner").none());
  module.def(
      "_gpu_libraries",
      [](const std::string& library) { return to_json_object(to_json(gpu_libraries(library))); },
      nb::arg("library"), nb::sig("def _gpu_libraries(library: str) -> list[dict[str, typing.Any]]"));
  module.def("_wrap_buffer", &wrap, nb::arg("device"), nb::arg("buffer"), nb::arg("dtype"), nb::arg("shape"),
             nb::arg("offset"), nb::arg("storage").none(), nb::arg("packed"), nb::arg("saturating"),
             nb::arg("owner").none());

  nb::class_<PyDeviceTensor>(
      module, "DeviceTensor",
      "A tensor in a buffer of a GPU. Calls that get one run there and leave their results there. Made by\n"
      "to_device, by calls, and from buffers by wrap_buffer.")
      .def_prop_ro(
          "shape", [](const PyDeviceTensor& self) { return to_tuple(self.tensor.shape()); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "The dimensions.")
      .def_prop_ro(
          "dtype", [](const PyDeviceTensor& self) { return numpy_dtype(self.tensor.dtype()); },
          nb::sig("def dtype(self) -> numpy.dtype[typing.Any]"), "NumPy's dtype.")
      .def_prop_ro(
          "device", [](const PyDeviceTensor& self) { return self.device; },
          nb::sig("def device(self) -> Device"), "The Device that it lies on.")
      .def("numpy", &read, nb::sig("def numpy(self) -> numpy.typing.NDArray[typing.Any]"),
           "Waits for what was submitted so far and returns the values as a new NumPy array.")
      .def("write", &write, nb::arg("array"), nb::sig("def write(self, array: typing.Any) -> None"),
           "Replaces the values by those of an array of the same dtype and shape.")
      .def("__array__", &as_array, nb::arg("dtype") = nb::none(), nb::kw_only(), nb::arg("copy") = nb::none(),
           nb::sig("def __array__(self, dtype: typing.Any = None, *, copy: bool | None = None) -> "
                   "typing.Any"))
      .def("__repr__", [](const PyDeviceTensor& self) {
        return fmt::format("<kernelpack.DeviceTensor {} on {}>", to_string(self.tensor.spec()),
                           self.on().device.description());
      });
  module.def(
      "to_device", &upload, nb::arg("array"), nb::arg("device"), nb::kw_only(),
      nb::arg("storage") = nb::none(), nb::arg("packed") = false, nb::arg("saturating") = false,
      nb::sig(
          "def to_device(array: typing.Any, device: Device, *, storage: str | None = None, packed: bool = "
          "False, saturating: bool = False) -> DeviceTensor"),
      "Puts an array on a GPU and returns a DeviceTensor.\n\n"
      "storage: 'int32' or 'uint32' for int64 values that a package projects to 32 bits; saturating clamps\n"
      "values outside its range, which are an error otherwise. packed: uint8 values lie four to a word.\n\n"
      "Raises ContractError, LimitError or DeviceError.");
}

}  // namespace kernelpack::python
