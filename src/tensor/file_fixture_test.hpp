#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "kernelpack/error.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack {

/// A test with a folder of its own.
class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "kernelpack-tensor-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path at(const char* name) const { return folder_ / name; }
  std::filesystem::path put(std::string_view bytes, const char* name = "f") const {
    std::ofstream(at(name), std::ios::binary | std::ios::trunc) << bytes;
    return at(name);
  }
  /// Changes one byte in place, which is far cheaper than writing the file anew.
  static void patch(const std::filesystem::path& path, std::size_t offset, char byte) {
    std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(byte);
  }
  static std::string content(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

inline bool same_bytes(const TensorView& a, const TensorView& b) {
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

/// The error that `action` throws.
template <class Action>
Error thrown(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::internal, "no error");
}

}  // namespace kernelpack
