// Every folder beside this file is a package with one planted fault; see README.md there.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "kernelpack/package.hpp"

namespace kernelpack {
namespace {

namespace fs = std::filesystem;

constexpr int kFewestFaults = 200;

fs::path root() {
  return fs::path(KERNELPACK_SOURCE_DIR) / "tests" / "bad_packages";
}

std::string read(const fs::path& path) {
  return read_file(path, std::size_t{64} << 20);
}

void write(const fs::path& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::string text_or(const json::Value& value, std::string_view key, std::string fallback) {
  const json::Value* found = value.find(key);
  return found == nullptr ? std::move(fallback) : found->string();
}

std::string repeated(const std::string& text, double count) {
  std::string result;
  for (int i = 0; i < static_cast<int>(count); ++i) result += text;
  return result;
}

// A text of a fixture: a string, bytes, or a long text made of a repeated one.
std::string content(const json::Value& value) {
  if (value.is_string()) return value.string();
  if (const json::Value* bytes = value.find("bytes")) {
    std::string text;
    for (const json::Value& byte : bytes->items())
      text += static_cast<char>(static_cast<unsigned char>(byte.number()));
    return text;
  }
  const double count = value.find("count")->number();
  return text_or(value, "before", "") + repeated(text_or(value, "repeat", ""), count) +
         text_or(value, "middle", "") + repeated(text_or(value, "repeat_after", ""), count) +
         text_or(value, "after", "");
}

void edit(const fs::path& folder, const json::Value* edits) {
  if (edits == nullptr) return;
  for (const json::Value& entry : edits->items()) {
    const fs::path path = folder / entry.find("file")->string();
    std::string text = read(path);
    const std::string& find = entry.find("find")->string();
    const std::size_t at = text.find(find);
    if (at == std::string::npos) throw std::runtime_error(path.filename().string() + " has no " + find);
    write(path, text.replace(at, find.size(), content(*entry.find("with"))));
  }
}

void seal(const fs::path& folder, const std::string& spec) {
  std::map<std::string, std::string> digests;
  for (const auto& entry : fs::directory_iterator(folder))
    digests[entry.path().filename().string()] = base64_encode(sha256(read(entry.path())));
  std::string files;
  for (const auto& [name, digest] : digests)
    files += fmt::format("{}\n      {}: \"{}\"", files.empty() ? "" : ",", json::quote(name), digest);
  write(folder / "metadata.json", fmt::format(R"({{
  "name": "ai.onnx.Base", "version": 1, "license": "Apache-2.0",
  "backend": {{ "type": "webgpu" }},
  "digest": {{
    "algorithm": "sha256",
    "files": {{{}
    }}
  }},
  "webgpu": {{ "manifestSpec": "{}" }}
}}
)",
                                              files, spec));
}

// A copy of the base with the fault planted; removed at the end.
class FaultyPackage {
 public:
  explicit FaultyPackage(const json::Value& fault) {
    const std::string base = text_or(fault, "base", "2.1");
    folder_ = fs::temp_directory_path() /
              fmt::format("kernelpack_bad_package_{}", ::testing::UnitTest::GetInstance()->random_seed());
    fs::remove_all(folder_);
    fs::copy(root() / "base" / base, folder_);
    edit(folder_, fault.find("edits"));
    if (const json::Value* files = fault.find("write"))
      for (const json::Member& member : files->members()) write(folder_ / member.key, content(member.value));
    seal(folder_, base);
    if (const json::Value* files = fault.find("remove"))
      for (const json::Value& name : files->items()) fs::remove(folder_ / name.string());
    edit(folder_, fault.find("tamper"));
  }
  FaultyPackage(const FaultyPackage&) = delete;
  FaultyPackage& operator=(const FaultyPackage&) = delete;
  ~FaultyPackage() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::vector<Error> faults() const { return Package::validate(folder_); }
  std::string report() const {
    std::string text;
    for (const Error& error : faults()) {
      std::string report = error.report();
      // The folder is another one each time.
      for (std::size_t at = report.find(folder_.string()); at != std::string::npos;
           at = report.find(folder_.string(), at))
        report.replace(at, folder_.string().size(), "PACKAGE");
      text += report + "\n\n";
    }
    if (!text.empty()) text.pop_back();
    return text;
  }
  const fs::path& folder() const noexcept { return folder_; }

 private:
  fs::path folder_;
};

TEST(BadPackages, BasesHaveNoFault) {
  for (const std::string base : {"2.1", "1.0"}) {
    const json::Document fault = json::parse(R"({ "base": ")" + base + "\" }", "fault.json");
    EXPECT_EQ(FaultyPackage(fault.root).report(), "") << base;
  }
}

TEST(BadPackages, EveryFaultIsReportedWithItsPlace) {
  const char* variable = std::getenv("KERNELPACK_UPDATE_GOLDENS");
  const bool update = variable != nullptr && std::string(variable) == "1";
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root()))
    if (fs::exists(entry.path() / "fault.json")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());

  std::map<std::string, std::string> messages;  // message -> fault
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    SCOPED_TRACE(name);
    const json::Document fault = json::parse(read(folder / "fault.json"), "fault.json");
    const std::string kind = fault.root.find("kind")->string();
    const std::string file = fault.root.find("file")->string();
    const std::string pointer = fault.root.find("pointer")->string();

    const FaultyPackage package(fault.root);
    const std::string report = package.report();
    if (update) write(folder / "expected_error.txt", report);
    ASSERT_TRUE(fs::exists(folder / "expected_error.txt")) << report;
    EXPECT_EQ(report, read(folder / "expected_error.txt"));

    // The report names the planted fault: its kind, its file, and its pointer where the fault has one.
    const std::string place = pointer.empty() ? file : file + ":" + pointer + ",";
    bool named = false;
    for (const Error& error : package.faults()) {
      const bool here = std::string(to_string(error.kind())) == kind &&
                        (error.where() + ",").find(place) != std::string::npos;
      if (!here || named) continue;
      named = true;
      const auto [earlier, fresh] = messages.emplace(error.message(), name);
      EXPECT_TRUE(fresh || earlier->second == text_or(fault.root, "same_as", ""))
          << "the message is that of " << earlier->second << ": " << error.message();
    }
    EXPECT_TRUE(named) << "nothing of kind " << kind << " at " << place << " in\n" << report;
  }
  std::printf("%zu planted faults\n", folders.size());
  EXPECT_GE(static_cast<int>(folders.size()), kFewestFaults);
}

}  // namespace
}  // namespace kernelpack
