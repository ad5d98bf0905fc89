#include "arrays.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "kernelpack/error.hpp"

namespace kernelpack::python {
namespace {

[[noreturn]] void refuse(const std::string& role, std::string message) {
  throw Error(ErrorKind::contract, std::move(message), role);
}

std::string text_of(nb::handle object) {
  return nb::cast<std::string>(nb::str(object));
}

// The text of the Python exception under way, which is cleared.
std::string taken_exception() {
  nb::python_error error;
  return text_of(error.value());
}

std::optional<DType> dtype_of_format(char code, Py_ssize_t size) {
  switch (code) {
    case '?':
      return DType::bool_;
    case 'e':
      return DType::float16;
    case 'f':
      return DType::float32;
    case 'd':
      return DType::float64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return size == 1 ? DType::int8 : size == 2 ? DType::int16 : size == 4 ? DType::int32 : DType::int64;
    case 'B':
    case 'I':
    case 'L':
      if (size == 1) return DType::uint8;
      if (size == 4) return DType::uint32;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<DType> dtype_of_dlpack(nb::dlpack::dtype dtype) {
  if (dtype.lanes != 1) return std::nullopt;
  const auto is = [&](nb::dlpack::dtype_code code, int bits) {
    return dtype.code == static_cast<std::uint8_t>(code) && dtype.bits == bits;
  };
  using Code = nb::dlpack::dtype_code;
  if (is(Code::Float, 16)) return DType::float16;
  if (is(Code::Float, 32)) return DType::float32;
  if (is(Code::Float, 64)) return DType::float64;
  if (is(Code::Int, 8)) return DType::int8;
  if (is(Code::Int, 16)) return DType::int16;
  if (is(Code::Int, 32)) return DType::int32;
  if (is(Code::Int, 64)) return DType::int64;
  if (is(Code::UInt, 8)) return DType::uint8;
  if (is(Code::UInt, 32)) return DType::uint32;
  if (is(Code::Bool, 8)) return DType::bool_;
  return std::nullopt;
}

std::string dlpack_name(nb::dlpack::dtype dtype) {
  constexpr std::string_view kNames[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  const std::string_view name = dtype.code < std::size(kNames) ? kNames[dtype.code] : "code ";
  return dtype.lanes == 1 ? fmt::format("{}{}", name, dtype.bits)
                          : fmt::format("{}{}x{}", name, dtype.bits, dtype.lanes);
}

bool is_contiguous(const Shape& shape, const std::vector<std::int64_t>& byte_strides, std::size_t element) {
  auto expected = static_cast<std::int64_t>(element);
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && byte_strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

// Writes the elements of dimensions `axis` and on to `to`, and returns where they end.
std::byte* gather(const std::byte* from, std::byte* to, const Shape& shape,
                  const std::vector<std::int64_t>& byte_strides, std::size_t element, std::size_t axis) {
  if (axis == shape.size()) {
    std::memcpy(to, from, element);
    return to + element;
  }
  const std::int64_t stride = byte_strides[axis];
  if (axis + 1 == shape.size() && stride == static_cast<std::int64_t>(element)) {
    const std::size_t bytes = static_cast<std::size_t>(shape[axis]) * element;
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  if (axis + 1 == shape.size()) {
    const auto copy = [&]<class Word>(Word) {
      for (std::int64_t i = 0; i < shape[axis]; ++i, to += sizeof(Word))
        std::memcpy(to, from + i * stride, sizeof(Word));
    };
    if (element == 2)
      copy(std::uint16_t());
    else if (element == 4)
      copy(std::uint32_t());
    else if (element == 8)
      copy(std::uint64_t());
    else
      copy(std::uint8_t());
    return to;
  }
  for (std::int64_t i = 0; i < shape[axis]; ++i)
    to = gather(from + i * stride, to, shape, byte_strides, element, axis + 1);
  return to;
}

// Memory of a result, which NumPy's arrays borrow.
struct ResultMemory {
  Tensor tensor;
};

int get_result_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto* memory = nb::inst_ptr<ResultMemory>(self);
  return PyBuffer_FillInfo(view, self, memory->tensor.data(),
                           static_cast<Py_ssize_t>(memory->tensor.byte_size()), 0, flags);
}

PyType_Slot result_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_result_buffer)}, {0, nullptr}};

// What results are made with; kept for the life of the process, like NumPy itself.
struct NumPy {
  nb::object array;
  nb::object dtype;
  nb::object dtypes[10];

  static const NumPy& get() {
    static const NumPy& numpy = *new NumPy;
    return numpy;
  }

 private:
  NumPy() {
    const nb::module_ module = nb::module_::import_("numpy");
    array = module.attr("ndarray");
    dtype = module.attr("dtype");
    for (std::uint8_t i = 0; i < std::size(dtypes); ++i) {
      const auto name = to_string(static_cast<DType>(i));
      dtypes[i] = dtype(nb::str(name.data(), name.size()));
    }
  }
};

}  // namespace

HostArray::~HostArray() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
}

void HostArray::swap(HostArray& other) noexcept {
  std::swap(buffer_, other.buffer_);
  std::swap(exchanged_, other.exchanged_);
  std::swap(copy_, other.copy_);
  std::swap(view_, other.view_);
}

HostArray HostArray::read(nb::handle object, const std::string& role, bool may_copy) {
  HostArray array;
  if (PyObject_CheckBuffer(object.ptr()))
    array.take_buffer(object, role, may_copy, false);
  else
    array.take_dlpack(object, role, may_copy, false);
  return array;
}

HostArray HostArray::write(nb::handle object, const std::string& role) {
  HostArray array;
  if (PyObject_CheckBuffer(object.ptr()))
    array.take_buffer(object, role, false, true);
  else
    array.take_dlpack(object, role, false, true);
  return array;
}

void HostArray::take_buffer(nb::handle object, const std::string& role, bool may_copy, bool writable) {
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) {
    buffer_.obj = nullptr;
    const std::string reason = taken_exception();
    refuse(role, fmt::format("The {} ({}) gives no {} buffer: {}", role, kind_of(object),
                             writable ? "writable" : "readable", reason));
  }
  std::string_view format = buffer_.format == nullptr ? "B" : buffer_.format;
  char order = '@';
  if (!format.empty() && std::string_view("@=<>!").find(format[0]) != std::string_view::npos) {
    order = format[0];
    format.remove_prefix(1);
  }
  const auto dtype = format.size() == 1 ? dtype_of_format(format[0], buffer_.itemsize) : std::nullopt;
  if (!dtype || static_cast<Py_ssize_t>(element_size(*dtype)) != buffer_.itemsize)
    refuse(role, fmt::format("The {} has elements ({}) that are of no dtype of kernelpack", role,
                             buffer_.format == nullptr ? "" : buffer_.format));
  if ((order == '>' || order == '!') && buffer_.itemsize > 1)
    refuse(role, fmt::format("The {} is big-endian ({}), but native byte order is expected; with NumPy: "
                             "x.astype(x.dtype.newbyteorder('='))",
                             role, buffer_.format));
  const auto rank = static_cast<std::size_t>(buffer_.ndim);
  // An exporter without shape or strides has one dimension or none, or is contiguous.
  Shape shape = buffer_.shape != nullptr ? Shape(buffer_.shape, buffer_.shape + rank)
                                         : Shape{buffer_.len / buffer_.itemsize};
  std::vector<std::int64_t> strides;
  if (buffer_.strides != nullptr) strides.assign(buffer_.strides, buffer_.strides + rank);
  take_values(buffer_.buf, *dtype, std::move(shape), strides, role, may_copy, writable);
}

void HostArray::take_dlpack(nb::handle object, const std::string& role, bool may_copy, bool writable) {
  if (!nb::hasattr(object, "__dlpack__"))
    refuse(role, fmt::format("The {} ({}) is no array: it offers neither the buffer protocol nor DLPack",
                             role, kind_of(object)));
  if (nb::hasattr(object, "requires_grad") &&
      PyObject_IsTrue(nb::object(object.attr("requires_grad")).ptr()) == 1)
    refuse(role,
           fmt::format("The {} ({}) requires gradients, which kernelpack does not compute; pass x.detach()",
                       role, kind_of(object)));
  nb::object capsule;
  try {
    if (nb::hasattr(object, "__dlpack_device__")) {
      const auto device = nb::cast<nb::tuple>(object.attr("__dlpack_device__")());
      const int type = nb::cast<int>(nb::int_(device[0]));
      // Pinned memory of CUDA and ROCm is memory of the host.
      if (type != nb::device::cpu::value && type != nb::device::cuda_host::value &&
          type != nb::device::rocm_host::value)
        refuse(role,
               fmt::format("The {} ({}) lies on another device ({}), but memory of the CPU is expected; with "
                           "PyTorch: x.cpu()",
                           role, kind_of(object),
                           nb::hasattr(object, "device") ? text_of(nb::object(object.attr("device")))
                                                         : fmt::format("DLPack device type {}", type)));
    }
    try {
      nb::dict version;
      version["max_version"] = nb::make_tuple(1, 0);
      capsule = object.attr("__dlpack__")(**version);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_TypeError)) throw;
      capsule = object.attr("__dlpack__")();
    }
  } catch (nb::python_error& error) {
    refuse(role, fmt::format("The {} ({}) cannot be exchanged through DLPack: {}", role, kind_of(object),
                             text_of(error.value())));
  }
  nb::ndarray<nb::ro> array;
  nb::ndarray<> writable_array;
  if (writable ? nb::try_cast(capsule, writable_array) : nb::try_cast(capsule, array)) {
    if (writable) array = nb::ndarray<nb::ro>(writable_array);
  } else {
    refuse(role, fmt::format("The {} ({}) gives no {} DLPack capsule", role, kind_of(object),
                             writable ? "writable" : "readable"));
  }
  const auto dtype = dtype_of_dlpack(array.dtype());
  if (!dtype)
    refuse(role, fmt::format("The {} has elements ({}) that are of no dtype of kernelpack", role,
                             dlpack_name(array.dtype())));
  Shape shape(array.ndim());
  std::vector<std::int64_t> strides(array.ndim());
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape[i] = static_cast<std::int64_t>(array.shape(i));
    strides[i] = array.stride(i) * static_cast<std::int64_t>(element_size(*dtype));
  }
  take_values(const_cast<void*>(static_cast<const void*>(array.data())), *dtype, std::move(shape), strides,
              role, may_copy, writable);
  exchanged_ = std::move(array);
}

void HostArray::take_values(void* data, DType dtype, Shape shape,
                            const std::vector<std::int64_t>& byte_strides, const std::string& role,
                            bool may_copy, bool writable) {
  const std::size_t element = element_size(dtype);
  const std::size_t bytes = static_cast<std::size_t>(element_count(shape)) * element;
  if (byte_strides.empty() || is_contiguous(shape, byte_strides, element)) {
    if (reinterpret_cast<std::uintptr_t>(data) % element == 0 || bytes == 0) {
      view_ = MutableTensorView(dtype, std::move(shape), {static_cast<std::byte*>(data), bytes});
      return;
    }
    if (writable)
      refuse(role, fmt::format("The {} is not aligned to its elements ({} bytes)", role, element));
  } else if (writable) {
    refuse(role, fmt::format("The {} is not contiguous, so it cannot be written in place", role));
  }
  if (!may_copy) refuse(role, fmt::format("The {} is not contiguous, and copy=False forbids a copy", role));
  copy_ = Tensor::uninitialized({dtype, shape});
  if (bytes > 0) {
    std::vector<std::int64_t> strides = byte_strides;
    if (strides.empty()) strides.push_back(static_cast<std::int64_t>(element));
    gather(static_cast<const std::byte*>(data), copy_.data(), shape, strides, element, 0);
  }
  view_ = copy_.mutable_view();
}

bool is_array(nb::handle object) {
  return PyObject_CheckBuffer(object.ptr()) || nb::hasattr(object, "__dlpack__");
}

std::string kind_of(nb::handle object) {
  const nb::handle type = object.type();
  const std::string module = nb::cast<std::string>(type.attr("__module__"));
  const std::string name = nb::cast<std::string>(type.attr("__qualname__"));
  return module == "builtins" ? name : fmt::format("{}.{}", module, name);
}

nb::object numpy_dtype(DType dtype) {
  return NumPy::get().dtypes[static_cast<std::size_t>(dtype)];
}

DType to_dtype(nb::handle dtype, const std::string& role) {
  const nb::object made = NumPy::get().dtype(dtype);
  const std::string name = nb::cast<std::string>(made.attr("name"));
  if (const auto known = parse_dtype(name)) return *known;
  refuse(role, fmt::format("The dtype ({}) of {} is none of kernelpack", name, role));
}

nb::tuple to_tuple(const Shape& shape) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t i = 0; i < shape.size(); ++i)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(shape[i]));
  return nb::borrow<nb::tuple>(tuple);
}

nb::object to_numpy(Tensor&& tensor) {
  const nb::tuple shape = to_tuple(tensor.shape());
  const nb::object dtype = numpy_dtype(tensor.dtype());
  return NumPy::get().array(shape, dtype, nb::cast(ResultMemory{std::move(tensor)}));
}

void bind_arrays(nb::module_& module) {
  nb::class_<ResultMemory>(module, "_ResultMemory", nb::type_slots(result_slots),
                           "Memory of a result, which a NumPy array borrows.");
}

}  // namespace kernelpack::python
