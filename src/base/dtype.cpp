#include "base/dtype.hpp"

namespace kernelpack {
namespace {

// In the order of DType, so that a dtype indexes its row.
constexpr std::array<DTypeInfo, 10> kTable{{
    {DType::float16, "float16", 2, 2, "f16", 10, "f2", "F16"},
    {DType::float32, "float32", 4, 4, "f32", 1, "f4", "F32"},
    {DType::float64, "float64", 8, 0, "", 11, "f8", "F64"},
    {DType::int8, "int8", 1, 4, "i32", 3, "i1", "I8"},
    {DType::int16, "int16", 2, 4, "i32", 5, "i2", "I16"},
    {DType::int32, "int32", 4, 4, "i32", 6, "i4", "I32"},
    {DType::int64, "int64", 8, 8, "vec2<u32>", 7, "i8", "I64"},
    {DType::uint8, "uint8", 1, 4, "u32", 2, "u1", "U8"},
    {DType::uint32, "uint32", 4, 4, "u32", 12, "u4", "U32"},
    {DType::bool_, "bool", 1, 4, "u32", 9, "b1", "BOOL"},
}};

}  // namespace

const std::array<DTypeInfo, 10>& dtype_table() noexcept {
  return kTable;
}

const DTypeInfo& info(DType dtype) noexcept {
  return kTable[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtype_of_onnx_code(int code) noexcept {
  for (const DTypeInfo& row : kTable) {
    if (row.onnx_code == code) return row.dtype;
  }
  return std::nullopt;
}

std::string_view to_string(DType dtype) noexcept {
  return info(dtype).name;
}

std::optional<DType> parse_dtype(std::string_view name) noexcept {
  for (const DTypeInfo& row : kTable) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::size_t element_size(DType dtype) noexcept {
  return info(dtype).host_bytes;
}

}  // namespace kernelpack
