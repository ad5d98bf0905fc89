#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernelpack/call.hpp"
#include "package/model.hpp"

namespace kernelpack::contract {

/// The dtypes that type variables (and concrete dtype strings) are bound to while a request is read.
class TypeBindings {
 public:
  explicit TypeBindings(const package::Model& model) : model_(model) {}

  /// Binds the dtype of a host tensor to its port (format.md 11.2) and gives the dtype of its storage. Throws
  /// contract if the port does not allow it or if another tensor of the same dtype string has a different
  /// one.
  DType bind(const package::Port& port, DType logical, bool is_output);

  const BoundType* find(std::string_view name) const noexcept;
  const std::vector<BoundType>& all() const noexcept { return types_; }

 private:
  struct Holder {
    std::string tensor;
    bool is_output;
  };
  const package::Model& model_;
  std::vector<BoundType> types_;
  std::vector<Holder> holders_;  ///< the tensor that bound each type first
};

/// The dtypes that a port allows; nothing if it allows any (no dtype, or a variable without constraint).
std::optional<std::vector<DType>> allowed_dtypes(const package::Model& model, const package::Port& port);

/// The logical dtype of an output that the request does not fix (format.md 6.2). Throws contract if there is
/// none.
DType infer_dtype(const package::Model& model, const package::Port& port, const TypeBindings& types,
                  const Call& call);

/// "float32, float16".
std::string join_dtypes(const std::vector<DType>& dtypes);

}  // namespace kernelpack::contract
