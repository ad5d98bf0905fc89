#include "kernelpack/request.hpp"

#include <gtest/gtest.h>

#include "plan/manifest_test.hpp"

namespace kernelpack {
namespace {

Package package() {
  return plan::load_text(
      R"({"name": "Op", "domain": "test", "inputs": {"x": {"dtype": "float32"}, "i": {"dtype": "int64",
      "storage": "uint32", "narrowing": "checked", "optional": true}}, "args": {"n": {"kind": "u32", "required": false}},
      "attributes": {"axis": {"default": 0}, "pads": {}}, "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"},
      "z": {"dtype": "float32", "optional": true}}})");
}

Call bound(const std::string& text) {
  const Package loaded = package();
  return Request::from_json(text, "request.json", loaded).bind(loaded);
}

Error refusal(const std::string& text) {
  try {
    bound(text);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << text << " is accepted";
  return Error(ErrorKind::internal, "accepted");
}

TEST(Request, SaysWhatBindTakes) {
  const Package loaded = package();
  const Request request = Request::from_json(
      R"({"$comment": "c", "tensors": {"x": {"shape": [2, 3], "dtype": "float32", "buffer": "a", "byteOffset": 512},
      "i": {"shape": [], "dtype": "int64", "storage": "uint32"}, "y": {"shape": [2, 3], "dtype": "float32"}},
      "attrs": {"axis": -1, "pads": [1, [2.5, "a", null, true]]}, "args": {"n": 7}, "tunables": {"N": 4},
      "outputs": [{"name": "z", "shape": [9], "dtype": "float32"}]})",
      "request.json", loaded);
  ASSERT_EQ(request.inputs.size(), 2u);
  EXPECT_EQ(request.inputs[0].spec, (TensorSpec{DType::float32, {2, 3}}));
  EXPECT_EQ(request.inputs[1].spec, (TensorSpec{DType::int64, {}}));
  ASSERT_EQ(request.options.destinations.size(), 1u);
  EXPECT_EQ(request.options.destinations[0].name, "y");
  EXPECT_EQ(request.buffers, (std::vector<TensorBuffer>{{"x", "a", 512}}));
  const Call call = request.bind(loaded);
  EXPECT_EQ(call.inputs.at(1).storage, DType::uint32);
  EXPECT_EQ(call.outputs.at(1).shape, (Shape{9}));
  EXPECT_EQ(to_string(*call.attribute("pads")), R"([1, [2.5, "a", null, true]])");
  EXPECT_EQ(call.arguments.at(0).value, AttributeValue(7));
  EXPECT_EQ(call.tunables.at(0).value, AttributeValue(4));
}

TEST(Request, MalformedTextNamesItsPointer) {
  const auto where = [](const std::string& text) {
    const Error error = refusal(text);
    EXPECT_EQ(error.kind(), ErrorKind::contract) << text;
    return error.where();
  };
  const auto tensor = [](std::string_view text) {
    return R"({"tensors": {"x": )" + std::string(text) + "}}";
  };
  EXPECT_NE(where("{").find("request.json"), std::string::npos);
  EXPECT_NE(where(R"({"tensor": {}})").find("/tensor"), std::string::npos);
  EXPECT_NE(where(tensor(R"({"dtype": "float32"})")).find("/tensors/x"), std::string::npos);
  EXPECT_NE(where(tensor(R"({"shape": [2]})")).find("/tensors/x"), std::string::npos);
  EXPECT_NE(where(tensor(R"({"shape": [2, -1], "dtype": "float32"})")).find("/tensors/x/shape/1"),
            std::string::npos);
  EXPECT_NE(where(tensor(R"({"shape": [2, 1.5], "dtype": "float32"})")).find("/tensors/x/shape/1"),
            std::string::npos);
  EXPECT_NE(where(tensor(R"({"shape": [1e20], "dtype": "float32"})")).find("/tensors/x/shape/0"),
            std::string::npos);
  EXPECT_NE(where(tensor(R"({"shape": [2], "dtype": "f32"})")).find("/tensors/x/dtype"), std::string::npos);
  EXPECT_NE(where(tensor(R"({"shape": [2], "dtype": "float32", "byteOffset": 4})")).find("/tensors/x"),
            std::string::npos);
  EXPECT_NE(where(R"({"outputs": [{"shape": [1], "dtype": "float32"}]})").find("/outputs/0"),
            std::string::npos);
  EXPECT_NE(where(R"({"outputs": [{"name": "z", "shape": [1]}]})").find("/outputs/0"), std::string::npos);
  EXPECT_NE(where(R"({"attrs": {"axis": {}}})").find("/attrs/axis"), std::string::npos);
  EXPECT_NE(where(R"({"variant": 3})").find("/variant"), std::string::npos);
}

TEST(Request, AStatedStorageMustBeThatOfTheContract) {
  EXPECT_EQ(refusal(R"({"tensors": {"x": {"shape": [1], "dtype": "float32"},
                        "i": {"shape": [1], "dtype": "int64", "storage": "int64"}}, "args": {"n": 1}})")
                .message(),
            "The storage dtype of tensor i (int64) differs from that of the contract (uint32)");
}

TEST(Request, NamesAreHeldAgainstTheContract) {
  EXPECT_EQ(refusal(R"({"tensors": {"q": {"shape": [1], "dtype": "float32"}}})").kind(), ErrorKind::contract);
  EXPECT_EQ(refusal(R"({"tensors": {}})").kind(), ErrorKind::contract);
}

}  // namespace
}  // namespace kernelpack
