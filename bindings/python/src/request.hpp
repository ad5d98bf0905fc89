#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "devices.hpp"
#include "kernelpack/kernel.hpp"

namespace kernelpack::python {

/// The value of an attribute, a scalar or a tunable. Throws contract for what is none.
AttributeValue to_attribute(nb::handle value, std::string_view name);

/// The text of a str. Throws contract for anything else.
std::string_view to_text(nb::handle text);

/// An input of a request: an array, a tensor on a GPU, or only what it is.
struct GivenInput {
  std::string_view name;
  HostArray host;
  const PyDeviceTensor* on_device = nullptr;
  TensorSpec spec;  ///< of the latter two; that of an array is in its view
  const TensorSpec& what() const noexcept { return on_device != nullptr || bare ? spec : host.view().spec(); }
  bool bare = false;
};

/// Where an output goes.
struct GivenDestination {
  std::string_view name;
  nb::handle object;
  HostArray host;
  const PyDeviceTensor* on_device = nullptr;
};

/// What a call says, out of Python's arguments. Borrows from them.
struct GivenRequest {
  std::vector<GivenInput> inputs;
  std::vector<GivenDestination> destinations;
  NamedValues attributes;
  NamedValues arguments;
  NamedValues tunables;
  std::vector<WantedOutput> wanted;
  std::string variant;
  PyDevice* device = nullptr;
  bool may_copy = true;
};

/// The names of a package's contract, to tell inputs from attributes.
struct ContractNames {
  std::vector<std::string> inputs;
  std::vector<std::string> arguments;
  std::vector<std::string> attributes;
  std::vector<std::string> outputs;
};

/// Adds one keyword of a call: an input, a scalar or an attribute of the contract; what the contract does not
/// name is an input if it is an array and an attribute otherwise, so that binding says what is wrong with it.
/// With `bare` a pair (dtype, shape) stands for an input.
void add_keyword(GivenRequest& request, const ContractNames& names, nb::handle key, nb::handle value,
                 bool bare);
void add_input(GivenRequest& request, std::string_view name, nb::handle value, bool bare);
/// `out`: an array, or names with arrays.
void add_destinations(GivenRequest& request, const ContractNames& names, nb::handle out);

/// The calls that were bound last, found by their request: binding is most of the time of a small call. For
/// use under the GIL.
class BoundCalls {
 public:
  std::shared_ptr<const Call> get(const Kernel& kernel, const GivenRequest& request);

 private:
  struct Entry {
    std::vector<NamedSpec> inputs;
    BindOptions options;
    std::shared_ptr<const Call> call;
    bool matches(const GivenRequest& request) const;
  };
  static constexpr std::size_t kMost = 16;
  std::vector<Entry> entries_;
  std::size_t next_ = 0;
};

}  // namespace kernelpack::python
