#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "kernelpack/tensor.hpp"

namespace kernelpack {

/// One row of the dtype table (format.md 11.1). `float64` is a host-only row: no storage, no WGSL type.
struct DTypeInfo {
  DType dtype;
  std::string_view name;         ///< "float16"
  std::size_t host_bytes;        ///< bytes of an element in host memory
  std::size_t storage_bytes;     ///< bytes of an element in a GPU buffer, uint8 unpacked; 0 if not storable
  std::string_view wgsl;         ///< "f16", "vec2<u32>"; empty if not storable
  int onnx_code;                 ///< TensorProto.DataType
  std::string_view npy;          ///< type string of .npy without byte order: "f2"
  std::string_view safetensors;  ///< "F16"
};

const std::array<DTypeInfo, 10>& dtype_table() noexcept;
const DTypeInfo& info(DType dtype) noexcept;
std::optional<DType> dtype_of_onnx_code(int code) noexcept;

}  // namespace kernelpack
