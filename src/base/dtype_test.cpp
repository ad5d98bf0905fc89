#include "base/dtype.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kernelpack {
namespace {

TEST(DTypeTable, RowsAreIndexedByDType) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < dtype_table().size(); ++i) {
    const DTypeInfo& row = dtype_table()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.dtype), i);
    EXPECT_EQ(&info(row.dtype), &row);
    EXPECT_EQ(to_string(row.dtype), row.name);
    EXPECT_EQ(parse_dtype(row.name), row.dtype);
    EXPECT_EQ(element_size(row.dtype), row.host_bytes);
    EXPECT_EQ(dtype_of_onnx_code(row.onnx_code), row.dtype);
    names.insert(row.name);
    names.insert(row.npy);
    names.insert(row.safetensors);
  }
  EXPECT_EQ(names.size(), 30u);
}

TEST(DTypeTable, FormatTables) {
  EXPECT_EQ(info(DType::float16).storage_bytes, 2u);
  for (const DType dtype : {DType::int8, DType::int16, DType::uint8, DType::bool_}) {
    EXPECT_EQ(info(dtype).storage_bytes, 4u);
  }
  EXPECT_EQ(info(DType::int64).wgsl, "vec2<u32>");
  EXPECT_EQ(info(DType::float64).storage_bytes, 0u);
  EXPECT_TRUE(info(DType::float64).wgsl.empty());
  // format.md 4.9, onnxDtypeCode.
  EXPECT_EQ(info(DType::float32).onnx_code, 1);
  EXPECT_EQ(info(DType::uint8).onnx_code, 2);
  EXPECT_EQ(info(DType::int8).onnx_code, 3);
  EXPECT_EQ(info(DType::int16).onnx_code, 5);
  EXPECT_EQ(info(DType::int32).onnx_code, 6);
  EXPECT_EQ(info(DType::int64).onnx_code, 7);
  EXPECT_EQ(info(DType::bool_).onnx_code, 9);
  EXPECT_EQ(info(DType::float16).onnx_code, 10);
  EXPECT_EQ(info(DType::uint32).onnx_code, 12);
}

TEST(DTypeTable, UnknownNamesAndCodes) {
  EXPECT_EQ(parse_dtype("f32"), std::nullopt);
  EXPECT_EQ(parse_dtype("uint16"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
  EXPECT_EQ(dtype_of_onnx_code(4), std::nullopt);
  EXPECT_EQ(dtype_of_onnx_code(-1), std::nullopt);
}

}  // namespace
}  // namespace kernelpack
