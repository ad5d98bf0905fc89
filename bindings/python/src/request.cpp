#include "request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernelpack/error.hpp"

namespace kernelpack::python {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// NumPy's scalars are buffers, too, and its bool has none of the number protocols.
bool is_numpy_scalar(nb::handle value) {
  return nb::hasattr(value, "item") && nb::hasattr(value, "ndim") &&
         nb::object(value.attr("ndim")).equal(nb::int_(0));
}

double to_double(nb::handle number, std::string_view name) {
  const double value = PyFloat_AsDouble(number.ptr());
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw Error(ErrorKind::contract, fmt::format("The value of {} is no number that a double holds", name),
                std::string(name));
  }
  return value;
}

// A pair (dtype, shape).
TensorSpec to_spec(nb::handle pair, const std::string& role) {
  if (!PyTuple_Check(pair.ptr()) || PyTuple_Size(pair.ptr()) != 2)
    throw Error(
        ErrorKind::contract,
        fmt::format("The {} ({}) is neither an array nor a pair of dtype and shape", role, kind_of(pair)),
        role);
  const nb::tuple parts = nb::borrow<nb::tuple>(pair);
  Shape shape;
  for (nb::handle extent : nb::object(parts[1])) {
    long long value = PyLong_AsLongLong(nb::object(nb::steal(PyNumber_Index(extent.ptr()))).ptr());
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
    shape.push_back(value);
  }
  return {to_dtype(nb::object(parts[0]), role), std::move(shape)};
}

template <class Named>
bool same_specs(const std::vector<NamedSpec>& bound, const std::vector<Named>& given, auto spec_of) {
  if (bound.size() != given.size()) return false;
  for (std::size_t i = 0; i < bound.size(); ++i) {
    const TensorSpec& spec = spec_of(given[i]);
    if (bound[i].spec.dtype != spec.dtype || bound[i].name != given[i].name ||
        bound[i].spec.shape != spec.shape)
      return false;
  }
  return true;
}

const TensorSpec& input_spec(const GivenInput& input) {
  return input.what();
}

}  // namespace

std::string_view to_text(nb::handle text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_Check(text.ptr()) ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
  if (data == nullptr) {
    PyErr_Clear();
    throw Error(ErrorKind::contract, fmt::format("A name ({}) is no text", kind_of(text)));
  }
  return {data, static_cast<std::size_t>(size)};
}

AttributeValue to_attribute(nb::handle value, std::string_view name) {
  PyObject* object = value.ptr();
  if (value.is_none()) return {};
  if (PyBool_Check(object)) return object == Py_True;
  if (PyFloat_Check(object)) return PyFloat_AsDouble(object);
  if (PyLong_Check(object)) {
    const double number = to_double(value, name);
    if (std::abs(number) > 9007199254740992.0)
      throw Error(ErrorKind::contract,
                  fmt::format("The integer of {} ({}) is beyond 2^53, up to which doubles are exact", name,
                              nb::cast<std::string>(nb::str(value))),
                  std::string(name));
    return number;
  }
  if (PyUnicode_Check(object)) return to_text(value);
  if (PyList_Check(object) || PyTuple_Check(object)) {
    AttributeValue::List items;
    for (nb::handle item : value) items.push_back(to_attribute(item, name));
    return items;
  }
  if (is_numpy_scalar(value)) return to_attribute(nb::object(value.attr("item")()), name);
  throw Error(ErrorKind::contract,
              fmt::format("The value of {} ({}) is none of None, bool, int, float, str and a list of these",
                          name, kind_of(value)),
              std::string(name));
}

void add_input(GivenRequest& request, std::string_view name, nb::handle value, bool bare) {
  GivenInput& input = request.inputs.emplace_back();
  input.name = name;
  if (nb::isinstance<PyDeviceTensor>(value)) {
    input.on_device = nb::inst_ptr<PyDeviceTensor>(value);
    input.spec = input.on_device->tensor.spec();
    return;
  }
  std::string role("input ");
  role += name;
  if (bare && !is_array(value)) {
    input.bare = true;
    input.spec = to_spec(value, role);
    return;
  }
  input.host = HostArray::read(value, role, request.may_copy);
}

void add_keyword(GivenRequest& request, const ContractNames& names, nb::handle key, nb::handle value,
                 bool bare) {
  const std::string_view name = to_text(key);
  if (contains(names.inputs, name)) {
    // An optional input that is None is absent.
    if (!value.is_none()) add_input(request, name, value, bare);
  } else if (contains(names.arguments, name)) {
    request.arguments.push_back({std::string(name), to_attribute(value, name)});
  } else if (!contains(names.attributes, name) &&
             (nb::isinstance<PyDeviceTensor>(value) || (is_array(value) && !is_numpy_scalar(value)))) {
    add_input(request, name, value, bare);
  } else {
    request.attributes.push_back({std::string(name), to_attribute(value, name)});
  }
}

void add_destinations(GivenRequest& request, const ContractNames& names, nb::handle out) {
  const auto add = [&](std::string_view name, nb::handle object) {
    GivenDestination& destination = request.destinations.emplace_back();
    destination.name = name;
    destination.object = object;
    if (nb::isinstance<PyDeviceTensor>(object))
      destination.on_device = nb::inst_ptr<PyDeviceTensor>(object);
    else
      destination.host = HostArray::write(object, fmt::format("output {}", name));
  };
  if (out.is_none()) return;
  if (PyDict_Check(out.ptr())) {
    for (auto [key, value] : nb::borrow<nb::dict>(out)) add(to_text(key), value);
    return;
  }
  if (names.outputs.size() != 1)
    throw Error(ErrorKind::contract,
                fmt::format("The kernel has {} outputs, so out must be a dict of names and arrays",
                            names.outputs.size()),
                "out");
  add(names.outputs.front(), out);
}

bool BoundCalls::Entry::matches(const GivenRequest& request) const {
  return options.attributes == request.attributes && same_specs(inputs, request.inputs, input_spec) &&
         same_specs(options.destinations, request.destinations,
                    [](const GivenDestination& destination) -> const TensorSpec& {
                      static thread_local TensorSpec on_device;
                      if (destination.on_device == nullptr) return destination.host.view().spec();
                      return on_device = destination.on_device->tensor.spec();
                    }) &&
         options.arguments == request.arguments && options.tunables == request.tunables &&
         options.variant == request.variant && options.wanted.empty() && request.wanted.empty();
}

std::shared_ptr<const Call> BoundCalls::get(const Kernel& kernel, const GivenRequest& request) {
  for (const Entry& entry : entries_)
    if (entry.matches(request)) return entry.call;
  Entry made;
  for (const GivenInput& input : request.inputs)
    made.inputs.push_back({std::string(input.name), input.what()});
  made.options.attributes = request.attributes;
  made.options.arguments = request.arguments;
  made.options.tunables = request.tunables;
  made.options.wanted = request.wanted;
  made.options.variant = request.variant;
  for (const GivenDestination& destination : request.destinations)
    made.options.destinations.push_back(
        {std::string(destination.name), destination.on_device != nullptr
                                            ? destination.on_device->tensor.spec()
                                            : destination.host.view().spec()});
  made.call = std::make_shared<const Call>(kernel.bind(made.inputs, made.options));
  auto call = made.call;
  if (entries_.size() < kMost) {
    entries_.push_back(std::move(made));
  } else {
    entries_[next_] = std::move(made);
    next_ = (next_ + 1) % kMost;
  }
  return call;
}

}  // namespace kernelpack::python
