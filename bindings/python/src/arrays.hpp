#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
// All casters in one place: a file that lacks one would make the same instantiation with another meaning.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernelpack/tensor.hpp"

namespace kernelpack::python {
namespace nb = nanobind;

/// The values of an array of the caller: NumPy's, or anything that offers the buffer protocol or DLPack on
/// the CPU. Borrows them, without a copy where they are contiguous, and keeps their owner alive. Made, moved
/// and destroyed with the GIL; the views may be used without it.
class HostArray {
 public:
  HostArray() = default;
  HostArray(HostArray&& other) noexcept { swap(other); }
  HostArray& operator=(HostArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~HostArray();

  /// `role` ("input data") names the array in messages. Strided values are copied once; without `may_copy`
  /// they are an error. Throws contract for values that are big-endian, not on the CPU, require gradients, or
  /// are of a dtype that kernelpack lacks, and for objects that are no arrays.
  static HostArray read(nb::handle object, const std::string& role, bool may_copy);
  /// The same for an array that is written, which must be contiguous and writable.
  static HostArray write(nb::handle object, const std::string& role);

  const TensorView& view() const noexcept { return view_; }
  const MutableTensorView& mutable_view() const noexcept { return view_; }

 private:
  void swap(HostArray& other) noexcept;
  void take_buffer(nb::handle object, const std::string& role, bool may_copy, bool writable);
  void take_dlpack(nb::handle object, const std::string& role, bool may_copy, bool writable);
  void take_values(void* data, DType dtype, Shape shape, const std::vector<std::int64_t>& byte_strides,
                   const std::string& role, bool may_copy, bool writable);

  Py_buffer buffer_{};
  nb::ndarray<nb::ro> exchanged_;
  Tensor copy_;
  MutableTensorView view_;
};

/// Whether the object looks like an array, and not like the value of an attribute.
bool is_array(nb::handle object);

/// "a numpy.ndarray", for messages.
std::string kind_of(nb::handle object);

/// A NumPy array that owns the tensor's memory.
nb::object to_numpy(Tensor&& tensor);
/// NumPy's dtype, which must be one of `DType`. Throws contract.
DType to_dtype(nb::handle dtype, const std::string& role);
nb::object numpy_dtype(DType dtype);
nb::tuple to_tuple(const Shape& shape);

void bind_arrays(nb::module_& module);

}  // namespace kernelpack::python
