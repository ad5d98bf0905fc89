#include "arguments.hpp"

#include <gtest/gtest.h>

#include "failure.hpp"

namespace kernelpack::cli {
namespace {

TEST(Arguments, SplitAssignmentsAtTheFirstEqualsSign) {
  const Assignment assignment = parse_assignment("--input", "data=a=b.npy");
  EXPECT_EQ(assignment.name, "data");
  EXPECT_EQ(assignment.value, "a=b.npy");
}

TEST(Arguments, RefuseMalformedAssignments) {
  for (const char* text : {"", "data", "=x", "1a=x", "a b=x", "a-b=x"}) {
    EXPECT_THROW(parse_assignment("--input", text), UsageError) << text;
  }
  EXPECT_THROW(parse_assignments("--input", {"a=1", "b=2", "a=3"}), UsageError);
}

TEST(Arguments, TakeAttributesAsJsonElseAsText) {
  const auto value = [](const char* text) { return parse_attribute("--attr", {"a", text}); };
  EXPECT_EQ(value("3"), AttributeValue(3.0));
  EXPECT_EQ(value("-1.5e2"), AttributeValue(-150.0));
  EXPECT_EQ(value("true"), AttributeValue(true));
  EXPECT_EQ(value("null"), AttributeValue());
  EXPECT_EQ(value("\"3\""), AttributeValue("3"));
  EXPECT_EQ(value("[0, [1]]"), AttributeValue(AttributeValue::List{0, AttributeValue::List{1}}));
  EXPECT_EQ(value("tanh"), AttributeValue("tanh"));
  EXPECT_EQ(value(""), AttributeValue(""));
  EXPECT_EQ(value("1e999"), AttributeValue("1e999"));
  EXPECT_EQ(value("01"), AttributeValue("01"));
}

TEST(Arguments, RefuseAttributesThatNoListCanHold) {
  EXPECT_THROW(parse_attribute("--attr", {"a", "{\"b\": 1}"}), UsageError);
  EXPECT_THROW(parse_attribute("--attr", {"a", "[{}]"}), UsageError);
  EXPECT_NO_THROW(parse_attribute("--attr", {"a", std::string(30, '[') + std::string(30, ']')}));
  EXPECT_THROW(parse_attribute("--attr", {"a", std::string(40, '[') + std::string(40, ']')}), UsageError);
  EXPECT_THROW(parse_attribute("--attr", {"a", std::string(60000, '[') + std::string(60000, ']')}),
               UsageError);
}

TEST(Arguments, SeparateTheTensorFromItsFile) {
  const TensorFile npy = parse_tensor_file("--input", "a:b.npy");
  EXPECT_EQ(npy.path, "a:b.npy");
  EXPECT_FALSE(npy.safetensors);
  const TensorFile named = parse_tensor_file("--input", "dir.safetensors/m.safetensors:layer.0:w");
  EXPECT_EQ(named.path, "dir.safetensors/m.safetensors");
  EXPECT_TRUE(named.safetensors);
  EXPECT_EQ(named.entry, "layer.0:w");
  const TensorFile whole = parse_tensor_file("--input", "m.safetensors");
  EXPECT_TRUE(whole.safetensors);
  EXPECT_EQ(whole.entry, "");
  EXPECT_THROW(parse_tensor_file("--input", ""), UsageError);
  EXPECT_THROW(parse_tensor_file("--input", "m.safetensors:"), UsageError);
}

TEST(Arguments, ParseIndices) {
  EXPECT_EQ(parse_index("--index", ""), std::vector<std::int64_t>());
  EXPECT_EQ(parse_index("--index", "7"), std::vector<std::int64_t>({7}));
  EXPECT_EQ(parse_index("--index", "0,-3,12"), std::vector<std::int64_t>({0, -3, 12}));
  for (const char* text : {",", "1,", ",1", "1,,2", "a", "1.5", "1 ,2", "99999999999999999999"}) {
    EXPECT_THROW(parse_index("--index", text), UsageError) << text;
  }
}

}  // namespace
}  // namespace kernelpack::cli
