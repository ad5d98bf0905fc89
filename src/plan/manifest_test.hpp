#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "contract/bind.hpp"
#include "kernelpack/kernel.hpp"
#include "kernelpack/package.hpp"
#include "kernelpack/plan.hpp"
#include "plan/planner.hpp"

/// For tests: packages from a manifest written in the test, without templates.
namespace kernelpack::plan {

/// A folder of its own that vanishes with the object.
class ManifestFolder {
 public:
  explicit ManifestFolder(std::string_view manifest) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("kernelpack-plan-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(path_);
    std::ofstream(path_ / "manifest.json") << manifest;
  }
  ~ManifestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ManifestFolder(const ManifestFolder&) = delete;
  ManifestFolder& operator=(const ManifestFolder&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

inline Package load_text(std::string_view manifest) {
  const ManifestFolder folder(manifest);
  return Package::load(folder.path(), {.verify = false, .allow_missing_templates = true});
}

inline Call bind_specs(const Package& package, const std::vector<NamedSpec>& inputs,
                       const BindOptions& options = {}) {
  return contract::bind(package.model(), inputs, options);
}

inline Plan plan_call(const Package& package, const Call& call, const DeviceFacts& facts = {},
                      std::vector<TensorBuffer> buffers = {}) {
  return make_plan(package.model(), call, facts,
                   {.allow_missing_templates = true, .buffers = std::move(buffers), .profile = {}});
}

/// The error that planning throws; fails the test if it throws none.
inline Error plan_error(const Package& package, const Call& call, const DeviceFacts& facts = {},
                        std::vector<TensorBuffer> buffers = {}) {
  try {
    plan_call(package, call, facts, std::move(buffers));
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "planning succeeds";
  return Error(ErrorKind::internal, "planning succeeds");
}

inline NamedSpec f32(std::string name, Shape shape) {
  return {std::move(name), {DType::float32, std::move(shape)}};
}

/// A 2.x manifest with one float32 input x and one output y of its shape; `rest` follows after a comma.
inline std::string copy_manifest(std::string_view rest) {
  return R"({"name": "Copy", "domain": "test",
  "inputs": {"x": {"dtype": "T"}}, "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}},
  "typeConstraints": {"T": ["float32", "float16"]}, )" +
         std::string(rest) + "}";
}

/// One variant of one pass with that dispatch and those bindings.
inline std::string one_pass(std::string_view dispatch, std::string_view bindings = R"(["x", "y"])") {
  return R"("variants": [{"id": "v", "passes": [{"id": "main", "shader": "a.wgsl.jinja", "bindings": )" +
         std::string(bindings) + R"(, "dispatch": )" + std::string(dispatch) + "}]}]";
}

}  // namespace kernelpack::plan
