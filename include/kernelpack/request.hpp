#pragma once

#include <string>
#include <vector>

#include "kernelpack/kernel.hpp"
#include "kernelpack/plan.hpp"

namespace kernelpack {

/// A request without tensor values, as data: what Kernel::bind takes, and which buffers the tensors lie in.
struct Request {
  std::vector<NamedSpec> inputs;
  BindOptions options;  ///< attributes, scalars, destinations, wanted outputs, tunables, pinned variant
  std::vector<TensorBuffer> buffers;  ///< of tensors for which the request names one
  struct Storage {
    std::string tensor;
    DType storage;
  };
  std::vector<Storage> storages;  ///< of tensors for which the request states the dtype on the GPU

  /// Reads `{tensors: {NAME: {shape, dtype, storage?, buffer?, byteOffset?}}, attrs?, args?, outputs?:
  /// [{name, shape?, dtype?}], tunables?, variant?}`. A tensor that is an output of the package's contract is
  /// a destination, `outputs` are optional outputs that are wanted. `name` names the text in messages. Throws
  /// contract, with the JSON pointer, for anything malformed; names are held against the contract by `bind`.
  static Request from_json(std::string text, std::string name, const Package& package);

  /// Binds the request as Kernel::bind does. Throws the same, and contract if a stated storage dtype is not
  /// that of the contract.
  Call bind(const Package& package) const;
};

}  // namespace kernelpack
