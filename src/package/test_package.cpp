#include "package/test_package.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

namespace kernelpack::package {

TestPackage::TestPackage() {
  static std::atomic<int> count{0};
  folder_ =
      std::filesystem::temp_directory_path() / fmt::format("kernelpack_package_{}_{}", getpid(), count++);
  std::filesystem::create_directories(folder_);
}

TestPackage::TestPackage(std::string_view manifest, std::string_view spec) : TestPackage() {
  write("manifest.json", manifest);
  for (const char* name : {"a.wgsl.jinja", "b.wgsl.jinja", "c.wgsl.jinja"})
    write(name, "@compute @workgroup_size(1)\nfn main() {}\n");
  seal("ai.onnx.Small", spec);
}

TestPackage::~TestPackage() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void TestPackage::write(const std::string& name, std::string_view content) const {
  std::ofstream file(folder_ / name, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + name);
}

void TestPackage::remove(const std::string& name) const {
  std::filesystem::remove(folder_ / name);
}

void TestPackage::seal(std::string_view name, std::string_view spec) const {
  std::string files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string file = entry.path().filename().string();
    if (file == "metadata.json") continue;
    files += fmt::format("{}\n    {}: \"{}\"", files.empty() ? "" : ",", json::quote(file),
                         base64_encode(sha256(read_file(entry.path(), std::size_t{64} << 20))));
  }
  write("metadata.json", fmt::format(R"({{
  "name": "{}", "id": "_x", "version": 1, "license": "Apache-2.0",
  "backend": {{ "type": "webgpu" }},
  "digest": {{ "algorithm": "sha256", "files": {{{}
  }} }},
  "webgpu": {{ "manifestSpec": "{}" }}
}}
)",
                                     name, files, spec));
}

std::string small_manifest(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string text = R"JSON({
  "domain": "ai.onnx",
  "name": "Small",
  "inputs": { "x": { "dtype": "T" } },
  "outputs": { "y": { "dtype": "T", "shape": "shapes.x" } },
  "typeConstraints": { "T": ["float32", "float16"] },
  "variants": [
    {
      "id": "main",
      "passes": [
        {
          "shader": "a.wgsl.jinja",
          "bindings": ["x", "y"],
          "dispatch": { "x": "numel(shapes.y)"
}
}
      ]
      }
  ]
  }
)JSON";
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("the small manifest has no " + from);
    text.replace(at, from.size(), to);
  }
  return text;
}

std::vector<std::string> faults_of(const std::string& manifest, std::string_view spec) {
  const TestPackage package(manifest, spec);
  std::vector<std::string> reports;
  for (const Error& error : Package::validate(package.folder())) reports.push_back(error.report());
  return reports;
}

}  // namespace kernelpack::package
