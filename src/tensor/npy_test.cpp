#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "base/dtype.hpp"
#include "kernelpack/tensor.hpp"
#include "tensor/file_fixture_test.hpp"
#include "tensor/npy_header.hpp"

namespace kernelpack {
namespace {

class Npy : public FileTest {
 protected:
  Error failure(std::string_view bytes) const {
    const std::filesystem::path path = put(bytes);
    const Error error = thrown([&] { read_npy(path); });
    EXPECT_EQ(error.kind(), ErrorKind::contract) << error.line();
    EXPECT_NE(error.where().find(path.string()), std::string::npos) << error.line();
    return error;
  }
};

std::string file(std::string_view header, std::string_view data, char major = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += major;
  bytes += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  return bytes.append(header).append(data);
}

std::string dict(std::string_view descr, std::string_view shape, bool fortran = false) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr,
                     fortran ? "True" : "False", shape);
}

template <class T>
std::vector<T> values(const Tensor& tensor) {
  const auto span = tensor.values<T>();
  return {span.begin(), span.end()};
}

TEST_F(Npy, EveryDTypeRoundTrips) {
  for (const DTypeInfo& row : dtype_table()) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{0}, Shape{4, 0, 2}, Shape{1, 2, 3, 4}}) {
      Tensor tensor(row.dtype, shape);
      for (std::size_t i = 0; i < tensor.byte_size(); ++i) {
        tensor.data()[i] = static_cast<std::byte>(row.dtype == DType::bool_ ? i % 2 : i * 37 + 11);
      }
      write_npy(at("t.npy"), tensor);
      const Tensor read = read_npy(at("t.npy"));
      EXPECT_EQ(read.spec(), tensor.spec());
      EXPECT_TRUE(same_bytes(read, tensor));
      EXPECT_EQ((std::filesystem::file_size(at("t.npy")) - tensor.byte_size()) % 64, 0u);
    }
  }
}

TEST_F(Npy, WritesTheBytesThatNumPyWrites) {
  write_npy(at("t.npy"), Tensor::from<float>({1, 2}, {2}));
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  expected.resize(127, ' ');
  expected += '\n';
  expected += std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
  EXPECT_EQ(content(at("t.npy")), expected);
  EXPECT_NE(npy_preamble({DType::bool_, {}}).find("'descr': '|b1', 'fortran_order': False, 'shape': (), }"),
            std::string::npos);
  EXPECT_NE(npy_preamble({DType::int64, {2, 3}}).find("'<i8', 'fortran_order': False, 'shape': (2, 3), }"),
            std::string::npos);
}

TEST_F(Npy, ALongHeaderGetsVersionTwo) {
  const Tensor tensor(DType::int8, Shape(30000, 1));
  write_npy(at("t.npy"), tensor);
  EXPECT_EQ(content(at("t.npy"))[6], 2);
  EXPECT_EQ(read_npy(at("t.npy")).spec(), tensor.spec());
}

TEST_F(Npy, ReadsAllVersions) {
  for (const char major : {'\1', '\2', '\3'}) {
    const Tensor tensor = read_npy(put(file(dict("<i2", "(2,)"), std::string("\x01\x00\xFE\xFF", 4), major)));
    EXPECT_EQ(values<std::int16_t>(tensor), (std::vector<std::int16_t>{1, -2}));
  }
  EXPECT_EQ(failure(file(dict("<i2", "(0,)"), "", 4)).message(),
            "The version of the .npy file (4.0) is not 1.0, 2.0 or 3.0");
  EXPECT_EQ(failure(std::string("\x93NUMPY\x01\x01xxxx", 12)).message(),
            "The version of the .npy file (1.1) is not 1.0, 2.0 or 3.0");
}

TEST_F(Npy, ConvertsBigEndianValues) {
  const Tensor shorts = read_npy(put(file(dict(">i2", "(2,)"), std::string("\x01\x02\xFF\xFE", 4))));
  EXPECT_EQ(values<std::int16_t>(shorts), (std::vector<std::int16_t>{0x0102, -2}));
  const Tensor floats = read_npy(put(file(dict(">f4", "(1,)"), std::string("\x3f\x80\x00\x00", 4))));
  EXPECT_EQ(values<float>(floats), std::vector<float>{1});
  const Tensor doubles = read_npy(put(file(dict(">f8", "()"), std::string("\xc0\x08\0\0\0\0\0\0", 8))));
  EXPECT_EQ(values<double>(doubles), std::vector<double>{-3});
  const Tensor bytes = read_npy(put(file(dict(">u1", "(2,)"), "ab")));
  EXPECT_EQ(values<std::uint8_t>(bytes), (std::vector<std::uint8_t>{'a', 'b'}));
}

TEST_F(Npy, ConvertsFortranOrder) {
  // Column-major [[0, 1, 2], [3, 4, 5]].
  const Tensor matrix = read_npy(put(file(dict("|i1", "(2, 3)", true), std::string("\0\3\1\4\2\5", 6))));
  EXPECT_EQ(matrix.shape(), (Shape{2, 3}));
  EXPECT_EQ(values<std::int8_t>(matrix), (std::vector<std::int8_t>{0, 1, 2, 3, 4, 5}));

  std::string data;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) data.append({static_cast<char>(0), static_cast<char>(i * 12 + j * 4 + k)});
    }
  }
  const Tensor cube = read_npy(put(file(dict(">i2", "(2, 3, 4)", true), data)));
  std::vector<std::int16_t> expected(24);
  std::iota(expected.begin(), expected.end(), std::int16_t{0});
  EXPECT_EQ(values<std::int16_t>(cube), expected);
  EXPECT_EQ(read_npy(put(file(dict("|i1", "(2, 0)", true), ""))).shape(), (Shape{2, 0}));
  EXPECT_EQ(values<std::int8_t>(read_npy(put(file(dict("|i1", "(3,)", true), "abc")))),
            (std::vector<std::int8_t>{'a', 'b', 'c'}));
}

TEST_F(Npy, BoolBytesAreNormalised) {
  const Tensor tensor = read_npy(put(file(dict("|b1", "(4,)"), std::string("\0\1\7\xFF", 4))));
  const auto bytes = tensor.view().bytes();
  EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()),
            (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{1}}));
}

TEST_F(Npy, AcceptsOtherSpellingsOfTheHeader) {
  for (const char* header : {
           "{\"shape\":(2,),\"descr\":\"<i1\",\"fortran_order\":False}",
           "{ 'shape' : ( 2 , ) , 'fortran_order' : True , 'descr' : '=i1' , }   \n",
           "{'descr': 'i1', 'fortran_order': False, 'shape': (2L,), }",
           "{'descr': '|i1',\n 'fortran_order': False,\n 'shape': (1, 2)}\n\n",
       }) {
    EXPECT_EQ(read_npy(put(file(header, "ab"))).byte_size(), 2u) << header;
  }
}

TEST_F(Npy, ForeignDTypesAreRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"<u2", "uint16"}, {"<u8", "uint64"},         {"<c8", "complex64"},      {"<c16", "complex128"},
      {"|O", "object"},  {"<f16", "long double"},   {"|S5", "bytes"},          {"<U3", "string"},
      {"|V8", "void"},   {"<M8[ns]", "datetime64"}, {"<m8[s]", "timedelta64"}, {"<q9", "unknown"},
      {"", "unknown"},   {"<", "unknown"}};
  for (const auto& [descr, name] : cases) {
    EXPECT_EQ(failure(file(dict(descr, "(0,)"), "")).message(),
              fmt::format("The dtype of the file ({}, {}) is not supported", descr, name));
  }
  EXPECT_EQ(failure(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (0,)}", "")).message(),
            "The dtype of the file is structured, which is not supported");
  EXPECT_EQ(failure(file(dict("|f4", "(0,)"), "")).message(),
            "The dtype of the file (|f4) does not say its byte order");
}

TEST_F(Npy, MalformedHeadersHaveOneClearError) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "The header does not begin with a brace"},
      {"[]", "The header does not begin with a brace"},
      {"{", "The key of the header is not a quoted string"},
      {"{}", "The header lacks the key (descr)"},
      {"{'descr': '<f4', 'shape': (0,)}", "The header lacks the key (fortran_order)"},
      {"{'descr': '<f4', 'fortran_order': False}", "The header lacks the key (shape)"},
      {"{'descr': '<f4', 'descr': '<f4'}", "The header has the key (descr) twice"},
      {"{'x': 1}", "The header has an unknown key (x)"},
      {"{'descr' '<f4'}", "The colon after a key of the header is missing"},
      {"{'descr': '<f4' 'shape': ()}", "The comma or closing brace after a value of the header is missing"},
      {"{'descr': 4}", "The dtype of the file is not a quoted string"},
      {"{'descr': '<f4", "The closing quotation mark of a string is missing"},
      {"{'descr': '<\\x664'}", "A string of the header is malformed"},
      {"{'fortran_order': 0}", "The value of the key (fortran_order) is neither True nor False"},
      {"{'shape': 3}", "The value of the key (shape) is not a tuple"},
      {"{'shape': (3)}", "The value of the key (shape) is not a tuple"},
      {"{'shape': [3]}", "The value of the key (shape) is not a tuple"},
      {"{'shape': (3, x)}", "The dimension 1 is not an integer"},
      {"{'shape': (,)}", "The dimension 0 is not an integer"},
      {"{'shape': (1.5,)}", "The comma or closing bracket after a dimension is missing"},
      {"{'shape': (2, -3)}", "The dimension 1 (-3) is negative"},
      {"{'shape': (03,)}", "The dimension 0 (03) has a leading zero"},
      {"{'shape': (99999999999999999999999,)}",
       "The dimension 0 (99999999999999999999999) exceeds 2^53 - 1 (9007199254740991)"},
      {"{'shape': (9007199254740992,)}",
       "The dimension 0 (9007199254740992) exceeds 2^53 - 1 (9007199254740991)"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,)} x",
       "The header goes on after its closing brace"},
      {"{'descr': '\xC3\xA4'}", "The byte 11 of the header (0xc3) is not printable ASCII"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
       "The number of elements of the shape ([4294967296, 4294967296]) exceeds 2^53 - 1 (9007199254740991)"},
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (9007199254740991,)}",
       "The size in bytes of the tensor (float64[9007199254740991]) exceeds 2^53 - 1 (9007199254740991)"},
  };
  for (const auto& [header, message] : cases)
    EXPECT_EQ(failure(file(header, "")).message(), message) << header;
  EXPECT_EQ(failure(file("{'descr': '<f4', 'x': 1}", "")).where(), at("f").string() + ", line 1, column 18");
  EXPECT_EQ(failure(file(std::string("{}\0", 3), "")).message(),
            "The byte 2 of the header (0x00) is not printable ASCII");
}

TEST_F(Npy, LyingFilesAreRefusedBeforeAllocation) {
  EXPECT_EQ(failure("").message(), "The .npy file ends within its first 10 bytes (at 0)");
  EXPECT_EQ(failure("\x93NUM").message(), "The .npy file ends within its first 10 bytes (at 4)");
  EXPECT_EQ(failure("PK\3\4zzzzzzzzzz").message(),
            "The file is not a .npy file: it does not begin with \\x93NUMPY");
  EXPECT_EQ(failure(std::string("\x93NUMPY\x02\x00\x01\x00\x00", 11)).message(),
            "The .npy file ends within the length of its header");
  EXPECT_EQ(failure(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFFxx", 14)).message(),
            "The length of the header (4294967295 bytes) exceeds what the .npy file holds (2 bytes)");
  EXPECT_EQ(failure(file(std::string(kNpyLongestHeader + 1, ' '), "", 2)).message(),
            "The length of the header (1048577 bytes) exceeds the limit for .npy files (1048576 bytes)");
  EXPECT_EQ(
      failure(file(dict("<f4", "(2,)"), "1234567")).message(),
      "The size of the values (7 bytes) differs from the size that the header gives (float32[2], 8 bytes)");
  EXPECT_EQ(
      failure(file(dict("<f4", "(2,)"), "123456789")).message(),
      "The size of the values (9 bytes) differs from the size that the header gives (float32[2], 8 bytes)");
  EXPECT_EQ(
      failure(file(dict("|i1", "(1099511627776,)"), "")).message(),
      "The size of the values (0 bytes) differs from the size that the header gives (int8[1099511627776], "
      "1099511627776 bytes)");
}

TEST_F(Npy, UnreadableFilesAreIoErrors) {
  EXPECT_EQ(thrown([&] { read_npy(at("none")); }).line(),
            "io: The file does not exist (" + at("none").string() + ")");
  EXPECT_EQ(thrown([&] { read_npy(folder_); }).kind(), ErrorKind::io);
  EXPECT_EQ(thrown([] { read_npy("/proc/self/mem"); }).line(),
            "io: The file cannot be read (Input/output error) (/proc/self/mem)");
  EXPECT_EQ(thrown([] { write_npy("/dev/full", Tensor(DType::int8, {1})); }).kind(), ErrorKind::io);
  EXPECT_EQ(thrown([&] { write_npy(at("no") / "f", Tensor(DType::int8, {1})); }).kind(), ErrorKind::io);
}

TEST_F(Npy, ReadsFromAPipe) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const Tensor tensor = Tensor::from<float>(std::vector<float>(50000, 2.5f), {50000});
  std::thread writer([&] { write_npy(at("pipe"), tensor); });
  const Tensor read = read_npy(at("pipe"));
  writer.join();
  EXPECT_EQ(values<float>(read), std::vector<float>(50000, 2.5f));

  std::thread liar([&] { put(file(dict("<f4", "(2,)"), "123"), "pipe"); });
  EXPECT_EQ(thrown([&] { read_npy(at("pipe")); }).kind(), ErrorKind::contract);
  liar.join();
}

TEST_F(Npy, MutatedAndTruncatedFilesGiveOnlyErrors) {
  const std::string valid =
      file(dict("<i2", "(2, 3)", true), std::string("\1\2\3\4\5\6\7\10\11\12\13\14", 12));
  ASSERT_EQ(read_npy(put(valid)).byte_size(), 12u);
  for (std::size_t length = valid.size(); length-- > 0;) {
    std::filesystem::resize_file(at("f"), length);
    EXPECT_EQ(thrown([&] { read_npy(at("f")); }).kind(), ErrorKind::contract) << length;
  }
  failure(valid + "x");
  int accepted = 0;
  int refused = 0;
  put(valid);
  for (std::size_t i = 0; i < valid.size() - 12; ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      patch(at("f"), i, static_cast<char>(byte));
      try {
        const Tensor tensor = read_npy(at("f"));
        EXPECT_EQ(tensor.byte_size(), 12u);
        ++accepted;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::contract) << error.line();
        ++refused;
      }
    }
    patch(at("f"), i, valid[i]);
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 5000);
}

TEST_F(Npy, ReadsTheSharedAttentionScores) {
  const std::filesystem::path folder =
      std::filesystem::path(KERNELPACK_SHARED_DIR) / "data" / "minilm-attention";
  if (!std::filesystem::exists(folder)) {
    const char* ci = std::getenv("CI");
    if (ci != nullptr && std::string_view(ci) == "true") FAIL() << "the shared data are absent";
    GTEST_SKIP() << "the shared data are absent";
  }
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".npy") continue;
    const Tensor tensor = read_npy(entry.path());
    write_npy(at("again.npy"), tensor);
    EXPECT_EQ(content(at("again.npy")), content(entry.path())) << entry.path();
    ++count;
  }
  std::printf("%d files read\n", count);
  EXPECT_GE(count, 7);
}

}  // namespace
}  // namespace kernelpack
