#pragma once

#include <nanobind/nanobind.h>

#include "kernelpack/device.hpp"
#include "kernelpack/device_tensor.hpp"

namespace kernelpack::python {
namespace nb = nanobind;

/// A device as Python holds it.
struct PyDevice {
  Device device;
  /// An adopted Dawn device that does not synchronize its threads: everything on it happens under the GIL, as
  /// everything that its owner does.
  bool keeps_gil = false;
  nb::object
      owner;  ///< the object that an adopted device was taken from; it may destroy the device when it goes
};

/// A tensor on a GPU with its device.
struct PyDeviceTensor {
  DeviceTensor tensor;
  nb::object device;  ///< a PyDevice
  nb::object owner;   ///< the buffer's, if it was wrapped
  const PyDevice& on() const { return *nb::inst_ptr<PyDevice>(device); }
};

/// Lets other Python threads run while this lives, unless the device forbids it. A thread that comes back
/// when the interpreter is being finalized waits for the end of the process.
class GilRelease {
 public:
  explicit GilRelease(bool keep) : state_(keep ? nullptr : PyEval_SaveThread()) {}
  explicit GilRelease(const PyDevice* device) : GilRelease(device != nullptr && device->keeps_gil) {}
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  ~GilRelease();

 private:
  PyThreadState* state_;
};

/// The device of an argument that may be None; null then. Throws contract for anything else.
PyDevice* to_device(nb::handle object);
nb::object to_json_object(const std::string& json);

void bind_devices(nb::module_& module);

}  // namespace kernelpack::python
