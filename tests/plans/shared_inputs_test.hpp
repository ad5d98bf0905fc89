#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace kernelpack::tests {

inline std::filesystem::path shared_folder() {
  return KERNELPACK_SHARED_DIR;
}

/// Whether that shared input is present; where it is not, the caller skips, and under CI fails.
inline bool has_shared(const std::filesystem::path& path) {
  if (std::filesystem::exists(path)) return true;
  const char* ci = std::getenv("CI");
  if (ci != nullptr && std::string_view(ci) == "true")
    ADD_FAILURE() << path << " is absent, which CI does not allow";
  return false;
}

}  // namespace kernelpack::tests
