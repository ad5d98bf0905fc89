#include <nanobind/nanobind.h>

#include "arrays.hpp"
#include "devices.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/package.hpp"
#include "kernelpack/plan.hpp"
#include "kernels.hpp"

namespace nb = nanobind;

namespace kernelpack::python {
namespace {

// Raises the Python exception of the error's kind, which has the same text.
void raise(const Error& error, const std::vector<Rejection>* reasons) {
  nb::list given;
  if (reasons != nullptr)
    for (const Rejection& reason : *reasons)
      given.append(nb::make_tuple(reason.variant, std::string(to_string(reason.kind)), reason.text));
  const nb::module_ module = nb::module_::import_("kernelpack._errors");
  const nb::object exception =
      module.attr("make")(std::string(to_string(error.kind())), error.line(), error.message(), error.where(),
                          error.excerpt(), error.context(), error.report(), given);
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const NoVariantError& error) {
    raise(error, &error.reasons());
  } catch (const Error& error) {
    raise(error, nullptr);
  }
}

}  // namespace

NB_MODULE(_kernelpack, module) {
  nb::register_exception_translator(translate);
  bind_arrays(module);
  bind_devices(module);
  bind_kernels(module);
  module.def("_version", [] { return KERNELPACK_VERSION; });
  module.def(
      "shipped_packages",
      [] {
        std::vector<std::string> names;
        for (const ShippedPackage& shipped : shipped_packages()) names.push_back(shipped.op_id);
        return names;
      },
      "The op ids of the packages that are installed with kernelpack, sorted.");
}

}  // namespace kernelpack::python
