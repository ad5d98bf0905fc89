// Conformance points 1 to 6 and 8 of the package format's checklist.
#include <gtest/gtest.h>

#include "package/model.hpp"
#include "package/test_package.hpp"

namespace kernelpack::package {
namespace {

Error load_error(const TestPackage& package, const LoadOptions& options = {}) {
  try {
    Package::load(package.folder(), options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "the package loads";
  return Error(ErrorKind::internal, "none");
}

TEST(Point1, FlippedByteOfAUsedFileIsAnIntegrityFault) {
  for (const char* file : {"a.wgsl.jinja", "manifest.json"}) {
    SCOPED_TRACE(file);
    const TestPackage package(small_manifest());
    EXPECT_TRUE(Package::load(package.folder()).verified());
    package.write(file, file[0] == 'a' ? "@compute @workgroup_size(2)\nfn main() {}\n"
                                       : small_manifest({{"\"main\"", "\"mian\""}}));
    const Error error = load_error(package);
    EXPECT_EQ(error.kind(), ErrorKind::integrity) << error.report();
    EXPECT_NE(error.message().find(file), std::string::npos) << error.report();
    EXPECT_FALSE(Package::load(package.folder(), {.verify = false}).verified());
  }
}

TEST(Point2, AbsentTestAndBenchFilesLoad) {
  const TestPackage package;
  package.write("manifest.json", small_manifest());
  package.write("a.wgsl.jinja", "fn main() {}");
  package.write("test.json", "{}");
  package.write("bench.json", "{}");
  package.seal("ai.onnx.Small");
  package.remove("test.json");
  package.remove("bench.json");
  const Package loaded = Package::load(package.folder());
  for (const PackageFile& file : loaded.files()) {
    const bool absent = file.name == "test.json" || file.name == "bench.json";
    if (file.name == "metadata.json") continue;
    EXPECT_EQ(file.digest, absent ? DigestState::absent : DigestState::matches) << file.name;
  }
}

TEST(Point2, ValidationReportsChangedFilesThatLoadingDoesNotRead) {
  const TestPackage package;
  package.write("manifest.json", small_manifest());
  package.write("a.wgsl.jinja", "fn main() {}");
  package.write("test.json", "{}");
  package.seal("ai.onnx.Small");
  EXPECT_TRUE(Package::validate(package.folder()).empty());
  package.write("test.json", "{ }");
  EXPECT_TRUE(Package::load(package.folder()).verified());
  const std::vector<Error> errors = Package::validate(package.folder());
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].kind(), ErrorKind::integrity);
  EXPECT_NE(errors[0].message().find("The digest of file test.json ("), std::string::npos)
      << errors[0].report();
  EXPECT_TRUE(Package::validate(package.folder(), {.verify = false}).empty());
}

TEST(Manifest, ThatIsNoObjectIsOneFault) {
  const TestPackage package(small_manifest());
  package.write("manifest.json", "null");
  const std::vector<Error> errors = Package::validate(package.folder(), {.verify = false});
  ASSERT_EQ(errors.size(), 1U) << errors.back().report();
  EXPECT_NE(errors[0].message().find("null"), std::string::npos) << errors[0].report();
}

TEST(Point3, UnlistedTemplateIsRefused) {
  const TestPackage package;
  package.write("manifest.json", small_manifest());
  package.seal("ai.onnx.Small");
  package.write("a.wgsl.jinja", "fn main() {}");
  const Error error = load_error(package);
  EXPECT_EQ(error.kind(), ErrorKind::integrity);
  EXPECT_NE(error.message().find("a.wgsl.jinja"), std::string::npos);
  EXPECT_NE(error.where().find("/variants/0/passes/0/shader"), std::string::npos) << error.where();
}

TEST(Point4, FileNamesWithFoldersAreRefused) {
  for (const char* name : {"../x", "a/b", "a\\\\b", "..", "."}) {
    SCOPED_TRACE(name);
    const TestPackage in_manifest(small_manifest({{"a.wgsl.jinja", name}}));
    EXPECT_EQ(load_error(in_manifest).kind(), ErrorKind::integrity);

    const TestPackage listed(small_manifest());
    listed.write(
        "metadata.json",
        std::string(
            R"({"name": "ai.onnx.Small", "version": 1, "digest": {"algorithm": "sha256", "files": {")") +
            name +
            R"(": "uwBUephmnQNSAjs0kgmJ4LCddzZ3lS9qagmOV/9IUcQ="}}, "webgpu": {"manifestSpec": "2.1"}})");
    const Error error = load_error(listed);
    EXPECT_EQ(error.kind(), ErrorKind::integrity) << error.report();
    EXPECT_NE(error.where().find("metadata.json:/digest/files/"), std::string::npos) << error.where();
  }
}

TEST(Point5, Sha512IsRefused) {
  const TestPackage package(small_manifest());
  package.write(
      "metadata.json",
      R"({"name": "ai.onnx.Small", "version": 1, "digest": {"algorithm": "sha512", "files": {}}, "webgpu": {"manifestSpec": "2.1"}})");
  const Error error = load_error(package);
  EXPECT_EQ(error.kind(), ErrorKind::integrity);
  EXPECT_NE(error.message().find("sha512"), std::string::npos);
}

TEST(Point6, UnknownManifestLanguageIsUnsupported) {
  const TestPackage package(small_manifest(), "3.0");
  const Error error = load_error(package);
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_NE(error.message().find("3.0"), std::string::npos);
  EXPECT_EQ(Package::validate(package.folder()).size(), 1u);
}

TEST(Point7, BareManifestLoadsUnverifiedWithItsLanguageInferred) {
  const TestPackage package(small_manifest());
  package.remove("metadata.json");
  const Package loaded = Package::load(package.folder());
  EXPECT_EQ(loaded.manifest_spec(), "2.1");
  EXPECT_FALSE(loaded.version());
  EXPECT_FALSE(loaded.verified());
  EXPECT_FALSE(loaded.model().verification_waived);
  EXPECT_TRUE(Package::load(package.folder(), {.verify = false}).model().verification_waived);
}

TEST(Point8, NamesMustAgree) {
  const TestPackage package(small_manifest());
  package.seal("ai.onnx.Other");
  const Error error = load_error(package);
  EXPECT_EQ(error.kind(), ErrorKind::package);
  EXPECT_NE(error.where().find("metadata.json:/name"), std::string::npos) << error.where();

  const TestPackage good(small_manifest());
  EXPECT_NO_THROW(Package::load(good.folder(), {.expected_op_id = "ai.onnx.Small"}));
  const Error unexpected = load_error(good, {.expected_op_id = "ai.onnx.Abs"});
  EXPECT_NE(unexpected.message().find("ai.onnx.Abs"), std::string::npos);
}

TEST(Loading, TemplatesAreParsed) {
  const TestPackage package;
  package.write("manifest.json", small_manifest());
  package.write("a.wgsl.jinja", "fn main() {\n  {% if x %}\n}\n");
  package.seal("ai.onnx.Small");
  const Error broken = load_error(package);
  EXPECT_EQ(broken.kind(), ErrorKind::template_) << broken.report();
  EXPECT_NE(broken.where().find("a.wgsl.jinja"), std::string::npos) << broken.where();
  package.write("a.wgsl.jinja", "fn main() {} // \xff");
  package.seal("ai.onnx.Small");
  EXPECT_EQ(load_error(package).kind(), ErrorKind::package);
  package.write("a.wgsl.jinja", "{{ 1 + 1 }}");
  package.seal("ai.onnx.Small");
  EXPECT_TRUE(Package::load(package.folder()).model().templates.at(0).parsed);
}

TEST(Loading, IncludedFilesAreUsedFiles) {
  const TestPackage package;
  package.write("manifest.json", small_manifest());
  package.write("a.wgsl.jinja", "{% include \"part.wgsl\" %}");
  package.write("part.wgsl", "fn main() {}");
  package.seal("ai.onnx.Small");
  EXPECT_NO_THROW(Package::load(package.folder()));
  package.write("part.wgsl", "fn main() { }");
  EXPECT_EQ(load_error(package).kind(), ErrorKind::integrity);
  package.remove("part.wgsl");
  EXPECT_EQ(load_error(package).kind(), ErrorKind::package);
}

TEST(Loading, MissingTemplatesNeedTheOption) {
  const TestPackage package(small_manifest());
  package.remove("a.wgsl.jinja");
  EXPECT_EQ(load_error(package).kind(), ErrorKind::package);
  const Package loaded = Package::load(package.folder(), {.allow_missing_templates = true});
  ASSERT_EQ(loaded.model().templates.size(), 1u);
  EXPECT_TRUE(loaded.model().templates[0].absent);
}

TEST(Loading, FolderWithoutPackageIsNamed) {
  const TestPackage empty;
  EXPECT_EQ(load_error(empty).kind(), ErrorKind::package);
  empty.remove("");
  try {
    Package::load(empty.folder());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_NE(error.message().find(empty.folder().string()), std::string::npos);
  }
}

TEST(Loading, FolderOfARepositoryIsFound) {
  const TestPackage package;
  std::filesystem::create_directories(package.folder() / "build" / "webgpu");
  package.write("build/webgpu/manifest.json", small_manifest());
  package.write("build/webgpu/a.wgsl.jinja", "fn main() {}");
  EXPECT_EQ(Package::load(package.folder()).folder(), package.folder() / "build" / "webgpu");
}

TEST(Loading, AllFaultsAreCollectedInTheOrderOfTheText) {
  const auto faults =
      faults_of(small_manifest({{"\"dtype\": \"T\" }", "\"dtype\": \"T\", \"optoinal\": true }"},
                                {"\"id\": \"main\"", "\"id\": \"_main\""},
                                {"\"x\": \"numel(shapes.y)\"", "\"x\": \"numel(shapes.y\""}}));
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_NE(faults[0].find("did you mean (optional)"), std::string::npos) << faults[0];
  EXPECT_NE(faults[1].find("/variants/0/id"), std::string::npos) << faults[1];
  EXPECT_NE(faults[2].find("manifest.json:/variants/0/passes/0/dispatch/x, line 1"), std::string::npos)
      << faults[2];
}

}  // namespace
}  // namespace kernelpack::package
