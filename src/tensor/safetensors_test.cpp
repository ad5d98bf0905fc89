#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "base/dtype.hpp"
#include "kernelpack/tensor.hpp"
#include "tensor/file_fixture_test.hpp"
#include "tensor/safetensors_header.hpp"

namespace kernelpack {
namespace {

class Safetensors : public FileTest {
 protected:
  Error failure(std::string_view bytes) const {
    const std::filesystem::path path = put(bytes);
    const Error error = thrown([&] { SafetensorsFile file(path); });
    EXPECT_EQ(error.kind(), ErrorKind::contract) << error.line();
    EXPECT_NE(error.where().find(path.string()), std::string::npos) << error.line();
    return error;
  }
};

std::string file(std::string_view header, std::string_view data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  return bytes.append(header).append(data);
}

std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, int begin, int end) {
  return fmt::format("\"{}\":{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}}", name, dtype, shape,
                     begin, end);
}

std::string object(const std::string& members) {
  return fmt::format("{{{}}}", members);
}

TEST_F(Safetensors, EveryDTypeRoundTripsInOneFile) {
  std::vector<Tensor> tensors;
  std::vector<NamedTensorView> named;
  for (const DTypeInfo& row : dtype_table()) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{0, 2}, Shape{2, 1, 2}}) {
      Tensor tensor(row.dtype, shape);
      for (std::size_t i = 0; i < tensor.byte_size(); ++i) {
        tensor.data()[i] =
            static_cast<std::byte>(row.dtype == DType::bool_ ? i % 2 : i * 41 + tensors.size());
      }
      tensors.push_back(std::move(tensor));
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    named.push_back({fmt::format("layer.{}/\"\xC3\xA4\"", i), tensors[i]});
  }
  write_safetensors(at("t"), named);
  const SafetensorsFile read(at("t"));
  ASSERT_EQ(read.entries().size(), tensors.size());
  for (const NamedTensorView& expected : named) {
    const TensorView& got = read.at(expected.name);
    EXPECT_EQ(got.spec(), expected.tensor.spec());
    EXPECT_TRUE(same_bytes(got, expected.tensor));
  }
}

TEST_F(Safetensors, WrittenTensorsAreReadWithoutCopies) {
  const Tensor flags(DType::bool_, {3});
  const Tensor wide(DType::float64, {2});
  const std::vector<NamedTensorView> named{{"flags", flags}, {"wide", wide}};
  write_safetensors(at("t"), named);
  const SafetensorsFile read(at("t"));
  ASSERT_EQ(read.entries()[0].name, "wide");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read.at("wide").data()) % 64, 0u);
  EXPECT_EQ(read.at("flags").data(), read.at("wide").data() + 16) << "both lie in the mapping";
}

TEST_F(Safetensors, NoTensorsAndTheMovedFromFile) {
  write_safetensors(at("t"), {});
  SafetensorsFile read(at("t"));
  EXPECT_TRUE(read.entries().empty());
  const SafetensorsFile moved = std::move(read);
  EXPECT_TRUE(moved.entries().empty());
  EXPECT_TRUE(read.entries().empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(thrown([&] { read.at("x"); }).kind(), ErrorKind::contract);
}

TEST_F(Safetensors, ViewsOutliveAMoveOfTheFile) {
  SafetensorsFile first(put(file(object(entry("a", "I8", "[2]", 0, 2)), "xy")));
  const TensorView view = first.at("a");
  const SafetensorsFile second = std::move(first);
  EXPECT_EQ(view.values<std::int8_t>()[1], 'y');
  EXPECT_EQ(second.at("a").data(), view.data());
}

TEST_F(Safetensors, ReadsForeignLayouts) {
  const SafetensorsFile read(
      put(file("{\"__metadata__\":{\"format\":\"pt\"}," + entry("b", "F16", "[2]", 1, 5) + "," +
                   entry("a", "BOOL", "[]", 0, 1) + "," + entry("e", "F32", "[0]", 5, 5) + "}  ",
               std::string("\x07\x00\x3c\x00\xc0", 5))));
  ASSERT_EQ(read.entries().size(), 3u);
  EXPECT_EQ(read.entries()[0].name, "a");
  EXPECT_EQ(read.entries()[1].name, "b");
  EXPECT_EQ(read.entries()[2].name, "e");
  EXPECT_EQ(read.at("a").bytes()[0], std::byte{1}) << "a bool byte of 7 is true";
  // One of the two possible placements of the header makes the halves unaligned in the file.
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read.at("b").data()) % 2, 0u);
  EXPECT_EQ(static_cast<float>(read.at("b").values<Float16>()[1]), -2);
  EXPECT_EQ(thrown([&] { read.at("c"); }).message(),
            "The file holds no tensor of that name (c); its tensors are (a, b, e)");
}

TEST_F(Safetensors, UnalignedTensorsAreCopied) {
  for (int padding = 0; padding < 8; ++padding) {
    const std::string header =
        object(entry("a", "I64", "[1]", 0, 8)) + std::string(static_cast<std::size_t>(padding), ' ');
    const SafetensorsFile read(put(file(header, std::string("\x05\0\0\0\0\0\0\xFF", 8))));
    EXPECT_EQ(read.at("a").values<std::int64_t>()[0], static_cast<std::int64_t>(0xFF00000000000005u));
  }
}

TEST_F(Safetensors, MalformedHeadersHaveOneClearError) {
  const std::string good = entry("a", "I8", "[2]", 0, 2);
  const std::pair<std::string, const char*> cases[] = {
      {object(good + "," + entry("b", "I8", "[1]", 1, 2)),
       "The data of tensor \"b\" (bytes 1 to 2) overlap those of another tensor (up to 2)"},
      {object(entry("b", "I8", "[1]", 1, 2)),
       "The data before tensor \"b\" (bytes 0 to 1) belong to no tensor"},
      {object(entry("b", "I8", "[1]", 0, 1)),
       "The size of the data (2 bytes) differs from the size that the tensors cover (1 bytes)"},
      {"{}", "The size of the data (2 bytes) differs from the size that the tensors cover (0 bytes)"},
      {object(good + "," + good), "The key (\"a\") occurs twice in one object, first at line 1, column 2"},
      {"[]", "The header of the .safetensors file does not begin with a brace"},
      {" {}", "The header of the .safetensors file does not begin with a brace"},
      {"", "The header of the .safetensors file does not begin with a brace"},
      {"{", "The quoted key of an object member is missing"},
      {"{\"a\":1}", "The description of the tensor is not an object"},
      {"{\"a\":{}}", "The tensor lacks the key (dtype)"},
      {"{\"a\":{\"dtype\":1}}", "The kind of the key dtype (number) differs from the expected one (string)"},
      {"{\"a\":{\"dtype\":\"I8\"}}", "The tensor lacks the key (shape)"},
      {"{\"a\":{\"dtype\":\"I8\",\"shape\":[2]}}", "The tensor lacks the key (data_offsets)"},
      {"{\"a\":{\"dtype\":\"I8\",\"shape\":[2],\"x\":1}}", "The tensor has an unknown key (x)"},
      {"{\"a\":{\"dtype\":\"I8\",\"shape\":[2],\"data_offsets\":[0]}}",
       "The number of data offsets (1) is not 2"},
      {object(entry("a", "BF16", "[1]", 0, 2)), "The dtype of the tensor (BF16) is not supported"},
      {object(entry("a", "U16", "[1]", 0, 2)), "The dtype of the tensor (U16) is not supported"},
      {object(entry("a", "i8", "[2]", 0, 2)), "The dtype of the tensor (i8) is not supported"},
      {object(entry("a", "I8", "[-2]", 0, 2)), "The dimension (-2) is negative"},
      {object(entry("a", "I8", "[1.5]", 0, 2)), "The dimension (1.5) is not an integer"},
      {object(entry("a", "I8", "[null]", 0, 2)), "The dimension (null) is not an integer"},
      {object(entry("a", "I8", "[1e30]", 0, 2)), "The dimension (1e+30) exceeds 2^53 - 1 (9007199254740991)"},
      {object(entry("a", "I8", "[4294967296,4294967296]", 0, 2)),
       "The number of elements of the shape ([4294967296, 4294967296]) exceeds 2^53 - 1 (9007199254740991)"},
      {object(entry("a", "I8", "[3]", 0, 2)),
       "The size between the data offsets (2 bytes) differs from the size of the tensor (int8[3], 3 bytes)"},
      {object(entry("a", "I8", "[3]", 0, 3)),
       "The data offsets (0, 3) are not in order within the data (2 bytes)"},
      {object(entry("a", "I8", "[1]", 2, 1)),
       "The data offsets (2, 1) are not in order within the data (2 bytes)"},
      {object(entry("a", "I8", "[1]", -1, 1)), "The data offset (-1) is negative"},
      {"{\"__metadata__\":1," + good + "}", "The metadata is not an object"},
      {"{\"__metadata__\":{\"a\":null}," + good + "}", "The metadata value (null) is not a string"},
      {"{\"\xFF\":1}", "The byte at offset 2 (0xff) is not valid UTF-8"},
  };
  for (const auto& [header, message] : cases)
    EXPECT_EQ(failure(file(header, "xy")).message(), message) << header;
  EXPECT_EQ(failure(file(object(entry("a", "BF16", "[1]", 0, 2)), "xy")).where(),
            at("f").string() + ":/a/dtype, line 1, column 15");
}

TEST_F(Safetensors, LyingLengthsAreRefused) {
  EXPECT_EQ(failure("").message(), "The .safetensors file ends within its first 8 bytes (at 0)");
  EXPECT_EQ(failure("1234567").message(), "The .safetensors file ends within its first 8 bytes (at 7)");
  EXPECT_EQ(failure(std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10)).message(),
            "The length of the header (18446744073709551615 bytes) exceeds the limit of the format "
            "(100000000 bytes)");
  EXPECT_EQ(failure(std::string("\x03\0\0\0\0\0\0\0{}", 10)).message(),
            "The length of the header (3 bytes) exceeds what the .safetensors file holds (2 bytes)");
}

TEST_F(Safetensors, UnreadableFilesAreIoErrors) {
  const auto kind = [](const std::filesystem::path& path) {
    return thrown([&] { SafetensorsFile read(path); }).kind();
  };
  EXPECT_EQ(kind(at("none")), ErrorKind::io);
  EXPECT_EQ(kind(folder_), ErrorKind::io);
  EXPECT_EQ(kind("/proc/self/mem"), ErrorKind::io);
  EXPECT_EQ(thrown([] { write_safetensors("/dev/full", {}); }).kind(), ErrorKind::io);
}

TEST_F(Safetensors, UnusableNamesAreRefused) {
  const Tensor tensor(DType::int8, {1});
  const auto message = [&](std::vector<NamedTensorView> named) {
    const Error error = thrown([&] { write_safetensors(at("t"), named); });
    EXPECT_EQ(error.kind(), ErrorKind::contract);
    EXPECT_EQ(error.where(), at("t").string());
    EXPECT_FALSE(std::filesystem::exists(at("t")));
    return error.message();
  };
  EXPECT_EQ(message({{"a", tensor}, {"a", tensor}}), "The name of a tensor (\"a\") occurs twice");
  EXPECT_EQ(message({{"__metadata__", tensor}}),
            "The name of a tensor (\"__metadata__\") cannot be used in a .safetensors file");
  EXPECT_NE(message({{"\xFF", tensor}}).find("cannot be used"), std::string::npos);
}

TEST_F(Safetensors, ReadsFromAPipe) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  std::thread writer([&] { put(file(object(entry("a", "I8", "[2]", 0, 2)), "xy"), "pipe"); });
  const SafetensorsFile read(at("pipe"));
  writer.join();
  EXPECT_EQ(read.at("a").values<std::int8_t>()[0], 'x');
}

TEST_F(Safetensors, MutatedAndTruncatedFilesGiveOnlyErrors) {
  const std::string valid = file("{\"__metadata__\":{\"k\":\"v\"}," + entry("a", "F16", "[2]", 0, 4) + "," +
                                     entry("b", "BOOL", "[3]", 4, 7) + "}",
                                 std::string("\1\2\3\4\0\1\1", 7));
  ASSERT_EQ(SafetensorsFile(put(valid)).entries().size(), 2u);
  for (std::size_t length = valid.size(); length-- > 0;) {
    std::filesystem::resize_file(at("f"), length);
    EXPECT_EQ(thrown([&] { SafetensorsFile read(at("f")); }).kind(), ErrorKind::contract) << length;
  }
  failure(valid + "x");
  int accepted = 0;
  int refused = 0;
  put(valid);
  for (std::size_t i = 0; i < valid.size() - 7; ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      patch(at("f"), i, static_cast<char>(byte));
      try {
        const SafetensorsFile read(at("f"));
        std::size_t bytes = 0;
        for (const auto& item : read.entries()) bytes += item.tensor.byte_size();
        EXPECT_EQ(bytes, 7u);
        ++accepted;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::contract) << error.line();
        ++refused;
      }
    }
    patch(at("f"), i, valid[i]);
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace kernelpack
