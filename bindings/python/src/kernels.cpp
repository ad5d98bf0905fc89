#include "kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernelpack/batch.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/json.hpp"
#include "request.hpp"

namespace kernelpack::python {
namespace {

/// The results of a call by name, in the order of the contract.
struct PyOutputs {
  std::vector<std::pair<std::string, nb::object>> entries;

  nb::object at(std::string_view name) const {
    for (const auto& [known, array] : entries)
      if (known == name) return array;
    throw nb::key_error(std::string(name).c_str());
  }
  const nb::object& only(const char* protocol) const {
    if (entries.size() == 1) return entries.front().second;
    throw Error(ErrorKind::contract,
                fmt::format("Outputs ({}) speak {} only if there is one; take one by its name",
                            entries.size(), protocol));
  }
};

struct PyKernel {
  Kernel kernel;
  ContractNames names;
  BoundCalls calls;

  explicit PyKernel(Kernel made) : kernel(std::move(made)) {
    const PackageSummary summary = kernel.package().describe();
    for (const auto& port : summary.inputs) names.inputs.push_back(port.name);
    for (const auto& argument : summary.arguments) names.arguments.push_back(argument.name);
    for (const auto& attribute : summary.attributes) names.attributes.push_back(attribute.name);
    for (const auto& port : summary.outputs)
      if (!port.inout) names.outputs.push_back(port.name);
  }
};

template <class Named>
const Named* find(const std::vector<Named>& entries, std::string_view name) {
  for (const Named& entry : entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

// Everything lies on the device of the tensors there; arrays of the host are uploaded, results stay.
PyOutputs run_on_device(PyKernel& self, GivenRequest& request, nb::handle device_object) {
  const PyDevice& device = *nb::inst_ptr<PyDevice>(device_object);
  DeviceInputs inputs;
  BatchOptions options{.attributes = std::move(request.attributes),
                       .arguments = std::move(request.arguments),
                       .wanted = std::move(request.wanted),
                       .tunables = std::move(request.tunables),
                       .variant = std::move(request.variant)};
  for (const GivenDestination& destination : request.destinations) {
    if (destination.on_device == nullptr)
      throw Error(
          ErrorKind::contract,
          fmt::format("The output {} goes to an array of the host, but the inputs lie on a GPU; out takes a "
                      "DeviceTensor then",
                      destination.name),
          fmt::format("output {}", destination.name));
    options.destinations.push_back({std::string(destination.name), destination.on_device->tensor});
  }
  DeviceOutputs results;
  {
    const GilRelease release(&device);
    for (const GivenInput& input : request.inputs)
      inputs.push_back({std::string(input.name),
                        input.on_device != nullptr ? input.on_device->tensor
                                                   : DeviceTensor::upload(device.device, input.host.view())});
    Batch batch(device.device);
    results = batch.add(self.kernel, inputs, options);
    batch.submit();
  }
  PyOutputs outputs;
  for (const GivenDestination& destination : request.destinations)
    outputs.entries.emplace_back(destination.name, nb::borrow(destination.object));
  for (const NamedDeviceTensor& result : results.entries()) {
    if (find(request.destinations, result.name) != nullptr) continue;
    outputs.entries.emplace_back(result.name,
                                 nb::cast(PyDeviceTensor{result.tensor, nb::borrow(device_object), {}}));
  }
  return outputs;
}

PyOutputs run_request(PyKernel& self, GivenRequest& request) {
  for (const GivenInput& input : request.inputs) {
    if (input.on_device == nullptr) continue;
    const nb::object device = input.on_device->device;
    if (request.device != nullptr &&
        (!request.device->device.is_gpu() ||
         &request.device->device.engine() != &input.on_device->on().device.engine()))
      throw Error(
          ErrorKind::contract,
          fmt::format("The input {} lies on another device ({}) than the one asked for ({})", input.name,
                      input.on_device->on().device.description(), request.device->device.description()),
          fmt::format("input {}", input.name));
    return run_on_device(self, request, device);
  }
  const std::shared_ptr<const Call> call = self.calls.get(self.kernel, request);
  std::vector<TensorView> sources;
  sources.reserve(call->inputs.size());
  for (const BoundTensor& bound : call->inputs)
    sources.push_back(find(request.inputs, bound.name)->host.view());
  std::vector<Tensor> results;
  results.reserve(call->outputs.size());
  std::vector<MutableTensorView> targets;
  targets.reserve(call->outputs.size());
  for (const BoundTensor& bound : call->outputs) {
    if (const GivenDestination* destination = find(request.destinations, bound.name)) {
      if (destination->on_device != nullptr)
        throw Error(
            ErrorKind::contract,
            fmt::format("The output {} goes to a tensor on a GPU, but no input lies there", bound.name),
            fmt::format("output {}", bound.name));
      targets.push_back(destination->host.mutable_view());
    } else if (bound.inout) {
      // The caller's array stays as it is: a copy is written in place and becomes the result.
      const auto place = static_cast<std::size_t>(find(call->inputs, bound.name) - call->inputs.data());
      results.emplace_back(sources[place]);
      sources[place] = results.back().view();
      targets.push_back(results.back().mutable_view());
    } else {
      results.push_back(Tensor::uninitialized({bound.dtype, bound.shape}));
      targets.push_back(results.back().mutable_view());
    }
  }
  static const Device& cpu = *new Device(Device::cpu());
  {
    const GilRelease release(request.device);
    self.kernel.run(*call, sources, targets, request.device != nullptr ? request.device->device : cpu);
  }
  PyOutputs outputs;
  outputs.entries.reserve(call->outputs.size());
  auto made = results.begin();
  for (const BoundTensor& bound : call->outputs) {
    const GivenDestination* destination = find(request.destinations, bound.name);
    outputs.entries.emplace_back(
        bound.name, destination != nullptr ? nb::borrow(destination->object) : to_numpy(std::move(*made++)));
  }
  return outputs;
}

void add_tunables(GivenRequest& request, nb::handle tunables) {
  if (tunables.is_none()) return;
  for (auto [key, value] : nb::cast<nb::dict>(tunables))
    request.tunables.push_back({std::string(to_text(key)), to_attribute(value, to_text(key))});
}

// Our own keywords of a call.
struct Keywords {
  nb::handle out;
  nb::handle tunables;
  nb::handle device;

  // Whether the keyword is ours.
  bool take(GivenRequest& request, std::string_view name, nb::handle value) {
    if (name == "out") {
      out = value;
    } else if (name == "device") {
      device = value;
    } else if (name == "tunables") {
      tunables = value;
    } else if (name == "copy") {
      const int truth = PyObject_IsTrue(value.ptr());
      if (truth < 0) throw nb::python_error();
      request.may_copy = truth == 1;
    } else {
      return false;
    }
    return true;
  }
};

// `device` of a plan may be facts as JSON text, so it is left to the caller.
Keywords split_keywords(GivenRequest& request, const ContractNames& names, const nb::dict& keywords,
                        bool bare) {
  Keywords own;
  // `copy` decides how inputs are read, so our own keywords come first.
  std::size_t others = 0;
  for (auto [key, value] : keywords)
    if (!own.take(request, to_text(key), value)) ++others;
  request.inputs.reserve(others);
  request.attributes.reserve(others);
  for (auto [key, value] : keywords) {
    const std::string_view name = to_text(key);
    if (name == "out" || name == "device" || name == "tunables" || name == "copy") continue;
    add_keyword(request, names, key, value, bare);
  }
  if (own.tunables) add_tunables(request, own.tunables);
  if (own.out) add_destinations(request, names, own.out);
  return own;
}

PyOutputs call_kernel(PyKernel& self, const nb::kwargs& keywords) {
  GivenRequest request;
  const Keywords own = split_keywords(request, self.names, keywords, false);
  if (own.device) request.device = to_device(own.device);
  return run_request(self, request);
}

void add_named(NamedValues& values, nb::handle given) {
  if (given.is_none()) return;
  for (auto [key, value] : nb::cast<nb::dict>(given))
    values.push_back({std::string(to_text(key)), to_attribute(value, to_text(key))});
}

GivenRequest explicit_request(nb::handle inputs, nb::handle attributes, nb::handle arguments,
                              nb::handle outputs, nb::handle tunables, const std::string& variant, bool copy,
                              bool bare) {
  GivenRequest request;
  request.may_copy = copy;
  request.variant = variant;
  if (!inputs.is_none())
    for (auto [key, value] : nb::cast<nb::dict>(inputs)) add_input(request, to_text(key), value, bare);
  add_named(request.attributes, attributes);
  add_named(request.arguments, arguments);
  add_named(request.tunables, tunables);
  if (!outputs.is_none())
    for (nb::handle name : outputs) request.wanted.push_back({std::string(to_text(name)), {}});
  return request;
}

PyOutputs run(PyKernel& self, nb::handle inputs, nb::handle attributes, nb::handle arguments,
              nb::handle outputs, nb::handle tunables, const std::string& variant, nb::handle out,
              nb::handle device, bool copy) {
  GivenRequest request =
      explicit_request(inputs, attributes, arguments, outputs, tunables, variant, copy, false);
  add_destinations(request, self.names, out);
  request.device = to_device(device);
  return run_request(self, request);
}

DeviceFacts facts_of(nb::handle device) {
  if (device.is_none() || !device.is_valid()) return DeviceFacts::defaults();
  if (nb::isinstance<PyDevice>(device)) {
    const Device& known = nb::inst_ptr<PyDevice>(device)->device;
    return known.is_gpu() ? known.facts() : DeviceFacts::defaults();
  }
  if (PyUnicode_Check(device.ptr())) return DeviceFacts::from_json(std::string(to_text(device)), "device");
  if (PyDict_Check(device.ptr()))
    return DeviceFacts::from_json(nb::cast<std::string>(nb::module_::import_("json").attr("dumps")(device)),
                                  "device");
  throw Error(
      ErrorKind::contract,
      fmt::format("The device ({}) is neither a Device nor facts as JSON text or dict", kind_of(device)),
      "device");
}

nb::object make_report(const char* name, auto&&... parts) {
  return nb::module_::import_("kernelpack._reports").attr(name)(parts...);
}

// With a GPU it is the plan that a run takes, its tuned profile included.
nb::object plan(PyKernel& self, const nb::kwargs& keywords) {
  GivenRequest request;
  const Keywords own = split_keywords(request, self.names, keywords, true);
  const std::shared_ptr<const Call> call = self.calls.get(self.kernel, request);
  const bool gpu = own.device && nb::isinstance<PyDevice>(own.device) &&
                   nb::inst_ptr<PyDevice>(own.device)->device.is_gpu();
  const auto made = gpu ? self.kernel.plan(*call, nb::inst_ptr<PyDevice>(own.device)->device)
                        : self.kernel.plan(*call, facts_of(own.device));
  return make_report("Plan", to_string(*made), to_json(*call, *made));
}

nb::object explain(PyKernel& self, const nb::kwargs& keywords) {
  GivenRequest request;
  const Keywords own = split_keywords(request, self.names, keywords, true);
  const std::shared_ptr<const Call> call = self.calls.get(self.kernel, request);
  const Explanation made = self.kernel.explain(*call, facts_of(own.device));
  return make_report("Explanation", to_string(made), to_string(made, {.wgsl = true}), to_json(made));
}

PyKernel get_kernel(const std::string& source, std::optional<int> version, const std::string& revision,
                    bool verify, bool trust_remote_code, bool offline, const std::string& token,
                    const std::string& cache_dir, bool allow_missing_templates) {
  const GetOptions options{.verify = verify,
                           .allow_missing_templates = allow_missing_templates,
                           .version = version,
                           .revision = revision,
                           .trust_remote_code = trust_remote_code,
                           .token = token,
                           .offline = offline,
                           .cache_dir = cache_dir};
  const auto load = [&] {
    const GilRelease release(false);
    return Kernel::get(source, options);
  };
  return PyKernel(load());
}

void bind_outputs(nb::module_& module) {
  nb::class_<PyOutputs>(
      module, "Outputs",
      "The results of a call: a mapping of output names to arrays, in the order of the contract.\n"
      "With one output it is also taken for that array: by NumPy, and by whatever reads DLPack.")
      .def("__getitem__", &PyOutputs::at, nb::arg("name"),
           nb::sig("def __getitem__(self, name: str) -> typing.Any"))
      .def("__len__", [](const PyOutputs& self) { return self.entries.size(); })
      .def("__contains__",
           [](const PyOutputs& self, nb::handle name) {
             if (!PyUnicode_Check(name.ptr())) return false;
             return std::any_of(
                 self.entries.begin(), self.entries.end(),
                 [wanted = to_text(name)](const auto& entry) { return entry.first == wanted; });
           })
      .def(
          "keys",
          [](const PyOutputs& self) {
            nb::list names;
            for (const auto& entry : self.entries) names.append(entry.first);
            return names;
          },
          nb::sig("def keys(self) -> list[str]"), "The names.")
      .def(
          "values",
          [](const PyOutputs& self) {
            nb::list arrays;
            for (const auto& entry : self.entries) arrays.append(entry.second);
            return arrays;
          },
          nb::sig("def values(self) -> list[typing.Any]"), "The arrays.")
      .def(
          "items",
          [](const PyOutputs& self) {
            nb::list items;
            for (const auto& entry : self.entries) items.append(nb::make_tuple(entry.first, entry.second));
            return items;
          },
          nb::sig("def items(self) -> list[tuple[str, typing.Any]]"), "Pairs of name and array.")
      .def(
          "get",
          [](const PyOutputs& self, const std::string& name, nb::object absent) {
            for (const auto& [known, array] : self.entries)
              if (known == name) return array;
            return absent;
          },
          nb::arg("name"), nb::arg("default") = nb::none(),
          nb::sig("def get(self, name: str, default: typing.Any = None) -> typing.Any"),
          "The array of that name, or `default`.")
      .def(
          "__iter__", [](nb::handle self) { return nb::object(self.attr("keys")()).attr("__iter__")(); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[str]"))
      .def(
          "__array__",
          [](const PyOutputs& self, nb::handle dtype, nb::handle copy) {
            const nb::module_ numpy = nb::module_::import_("numpy");
            // NumPy 1 knows no copy.
            if (copy.is_none()) return nb::object(numpy.attr("asarray")(self.only("__array__"), dtype));
            nb::dict options;
            options["copy"] = copy;
            return nb::object(numpy.attr("asarray")(self.only("__array__"), dtype, **options));
          },
          nb::arg("dtype") = nb::none(), nb::kw_only(), nb::arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, *, copy: bool | None = None) -> "
                  "numpy.typing.NDArray[typing.Any]"))
      .def(
          "__dlpack__",
          [](const PyOutputs& self, const nb::kwargs& options) {
            return nb::object(self.only("__dlpack__").attr("__dlpack__")(**options));
          },
          nb::sig("def __dlpack__(self, **options: typing.Any) -> typing.Any"))
      .def(
          "__dlpack_device__",
          [](const PyOutputs& self) {
            return nb::object(self.only("__dlpack_device__").attr("__dlpack_device__")());
          },
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def("__repr__", [](const PyOutputs& self) {
        std::string text = "Outputs(";
        for (std::size_t i = 0; i < self.entries.size(); ++i) {
          const auto& [name, array] = self.entries[i];
          text += fmt::format("{}{}: {}{}", i == 0 ? "" : ", ", name,
                              nb::cast<std::string>(nb::str(nb::object(array.attr("dtype")))),
                              nb::cast<std::string>(nb::str(nb::object(
                                  nb::module_::import_("builtins").attr("list")(array.attr("shape"))))));
        }
        return text + ")";
      });
}

}  // namespace

void bind_kernels(nb::module_& module) {
  bind_outputs(module);
  nb::class_<PyKernel>(
      module, "Kernel",
      "A package ready to be called. Immutable, safe to use from several threads; see get_kernel.")
      .def("__call__", &call_kernel,
           nb::sig(
               "def __call__(self, *, out: typing.Any = None, device: Device | None = None, "
               "tunables: dict[str, typing.Any] | None = None, copy: bool = True, **tensors_and_attributes: "
               "typing.Any) -> Outputs"),
           "Runs the kernel. Keywords are the names of the contract: inputs, scalars and attributes.\n\n"
           "Inputs are NumPy arrays, or whatever offers the buffer protocol or DLPack on the CPU, or "
           "DeviceTensors.\n"
           "They are only read and never converted; contiguous ones are not copied, others once.\n\n"
           "out: an array to write the only output to, or a dict of names and arrays.\n"
           "device: where to run; by default the CPU, or the GPU where the inputs lie.\n"
           "tunables: overrides of the package's. copy: False makes it an error that an input must be "
           "copied.\n\n"
           "Returns Outputs: NumPy arrays, those of `out`, or DeviceTensors if an input is one. Raises "
           "ContractError\n"
           "for a request that does not fit, and what running raises: NoVariantError, LimitError, "
           "DeviceError, ...")
      .def("run", &run, nb::arg("inputs"), nb::arg("attributes") = nb::none(), nb::kw_only(),
           nb::arg("arguments") = nb::none(), nb::arg("outputs") = nb::none(),
           nb::arg("tunables") = nb::none(), nb::arg("variant") = "", nb::arg("out") = nb::none(),
           nb::arg("device") = nb::none(), nb::arg("copy") = true,
           nb::sig(
               "def run(self, inputs: dict[str, typing.Any], attributes: dict[str, typing.Any] | None = "
               "None, *, "
               "arguments: dict[str, typing.Any] | None = None, outputs: "
               "collections.abc.Iterable[str] | None = None, tunables: dict[str, typing.Any] | None = None, "
               "variant: str = '', out: typing.Any = None, device: Device | None = None, copy: bool = True) "
               "-> Outputs"),
           "Runs the kernel as a call does, with inputs, attributes and scalar arguments in dicts of their "
           "own: for\n"
           "names that are also our keywords, and for what a call does not say.\n\n"
           "outputs: names of optional outputs to produce. variant: the id of the only variant to consider.")
      .def("plan", &plan,
           nb::sig("def plan(self, *, device: Device | dict[str, typing.Any] | str | None = None, tunables: "
                   "dict[str, typing.Any] | None = None, **tensors_and_attributes: typing.Any) -> "
                   "kernelpack._reports.Plan"),
           "How a call runs on a GPU; keywords as for a call. An input may be a pair (dtype, shape) "
           "instead.\n\n"
           "device: a GPU, or facts of one as JSON text or a dict, as Device.facts has them; by default a "
           "GPU with\n"
           "WebGPU's default limits and no features. Nothing runs, and no GPU is needed.\n\n"
           "Raises NoVariantError with every variant's reason, and ContractError.")
      .def("explain", &explain,
           nb::sig(
               "def explain(self, *, device: Device | dict[str, typing.Any] | str | None = None, tunables: "
               "dict[str, typing.Any] | None = None, **tensors_and_attributes: typing.Any) -> "
               "kernelpack._reports.Explanation"),
           "Why a call is planned as it is, or why it cannot be; arguments as for plan.")
      .def_prop_ro(
          "contract",
          [](const PyKernel& self) { return make_report("Contract", to_json_object(to_json(self.kernel))); },
          nb::sig("def contract(self) -> kernelpack._reports.Contract"),
          "What the package says of its operator: op, inputs, outputs, attributes, tunables, variants, "
          "files.")
      .def_prop_ro(
          "op_id", [](const PyKernel& self) { return self.kernel.package().op_id(); },
          "The operator, such as 'com.microsoft.BiasSoftmax'.")
      .def_prop_ro(
          "folder", [](const PyKernel& self) { return self.kernel.package().folder().string(); },
          "The folder that holds manifest.json.")
      .def("__repr__", [](const PyKernel& self) {
        const PackageSummary summary = self.kernel.package().describe();
        std::string inputs;
        for (const auto& port : summary.inputs) inputs += (inputs.empty() ? "" : ", ") + port.name;
        for (const auto& attribute : summary.attributes)
          inputs += (inputs.empty() ? "" : ", ") + attribute.name;
        return fmt::format("<kernelpack.Kernel {}({})>", summary.op_id, inputs);
      });
  module.def(
      "get_kernel", &get_kernel, nb::arg("source"), nb::kw_only(), nb::arg("version") = nb::none(),
      nb::arg("revision") = "", nb::arg("verify") = true, nb::arg("trust_remote_code") = false,
      nb::arg("offline") = false, nb::arg("token") = "", nb::arg("cache_dir") = "",
      nb::arg("allow_missing_templates") = false,
      "Loads and verifies a package.\n\n"
      "source: the op id of a shipped package ('com.microsoft.BiasSoftmax'), a folder, a package of the\n"
      "Hugging Face Hub ('ORG/NAME' with version or revision, or 'ORG/NAME@v1'), or a base URL.\n"
      "verify: check every used file against its digest. trust_remote_code: accept publishers other than\n"
      "webgpu-kernels. offline: make no request. cache_dir: Hugging Face's cache, by default where its own\n"
      "tools have it. allow_missing_templates: load a package that can be planned, but not run on a GPU.\n\n"
      "Raises PackageError, IntegrityError, TrustError, IoError, ...");
}

}  // namespace kernelpack::python
