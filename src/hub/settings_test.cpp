#include "hub/settings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "kernelpack/error.hpp"

namespace kernelpack::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::array kVariables = {"HF_ENDPOINT",
                                   "HF_HOME",
                                   "HF_HUB_CACHE",
                                   "HUGGINGFACE_HUB_CACHE",
                                   "HF_HUB_OFFLINE",
                                   "TRANSFORMERS_OFFLINE",
                                   "HF_TOKEN",
                                   "HUGGING_FACE_HUB_TOKEN",
                                   "HF_TOKEN_PATH",
                                   "HF_HUB_DISABLE_IMPLICIT_TOKEN",
                                   "HF_HUB_ETAG_TIMEOUT",
                                   "HF_HUB_DOWNLOAD_TIMEOUT",
                                   "KERNELPACK_CACHE",
                                   "XDG_CACHE_HOME",
                                   "HOME"};

/// The environment holds none of the variables but those of the test, and is put back after it.
class HubSettings : public testing::Test {
 protected:
  HubSettings() {
    for (const char* name : kVariables) {
      const char* value = std::getenv(name);
      if (value != nullptr) before_[name] = value;
      ::unsetenv(name);
    }
    set("HOME", "/home/nobody-of-that-name");
  }
  ~HubSettings() override {
    for (const char* name : kVariables) ::unsetenv(name);
    for (const auto& [name, value] : before_) set(name, value);
  }
  static void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(HubSettings, Defaults) {
  const Settings settings = read_settings({});
  EXPECT_EQ(settings.endpoint, "https://huggingface.co");
  EXPECT_FALSE(settings.offline);
  EXPECT_EQ(settings.hub_cache, "/home/nobody-of-that-name/.cache/huggingface/hub");
  EXPECT_EQ(settings.url_cache, "/home/nobody-of-that-name/.cache/kernelpack");
  EXPECT_EQ(settings.limits.branch, std::chrono::seconds(10));
  EXPECT_EQ(settings.limits.connect, std::chrono::seconds(10));
  EXPECT_EQ(settings.limits.stall, std::chrono::seconds(30));
}

TEST_F(HubSettings, EmptyVariablesAreUnset) {
  for (const char* name : kVariables)
    if (std::string(name) != "HOME") set(name, "");
  const Settings settings = read_settings({});
  EXPECT_EQ(settings.endpoint, "https://huggingface.co");
  EXPECT_FALSE(settings.offline);
  EXPECT_EQ(settings.hub_cache, "/home/nobody-of-that-name/.cache/huggingface/hub");
  EXPECT_EQ(settings.url_cache, "/home/nobody-of-that-name/.cache/kernelpack");
  EXPECT_EQ(token_for(Repository{"a", "b", "v1", {}}, {}), "");
}

TEST_F(HubSettings, Endpoints) {
  const std::map<std::string, std::optional<std::string>> cases = {
      {"https://mirror.example/", "https://mirror.example"},
      {"https://mirror.example/a/b//", "https://mirror.example/a/b"},
      {"HTTP://Mirror.example:8080", "HTTP://Mirror.example:8080"},
      {"http://[::1]:8080", "http://[::1]:8080"},
      {"mirror.example", std::nullopt},
      {"ftp://mirror.example", std::nullopt},
      {"file:///tmp", std::nullopt},
      {"https://", std::nullopt},
      {"https:///x", std::nullopt},
      {"https://mirror.example?x=1", std::nullopt},
      {"https://mirror.example#x", std::nullopt},
      {"https://mirror.example:99999", std::nullopt},
      {"https://user:secret@mirror.example", std::nullopt},
      {"https://secret@mirror.example", std::nullopt},
      {"https://mirror.example\r\nX: secret", std::nullopt},
      {" https://mirror.example", std::nullopt}};
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    set("HF_ENDPOINT", text);
    if (expected) {
      EXPECT_EQ(read_settings({}).endpoint, *expected);
      continue;
    }
    try {
      (void)read_settings({});
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::contract);
      const bool secret = text.find('@') != std::string::npos;
      EXPECT_FALSE(secret && error.message().find("secret") != std::string::npos) << error.message();
    }
  }
  set("HF_ENDPOINT", "nonsense");
  GetOptions options;
  options.endpoint = "http://127.0.0.1:1/";
  EXPECT_EQ(read_settings(options).endpoint, "http://127.0.0.1:1");
}

TEST_F(HubSettings, OfflineIsWhatHuggingFacesToolsTakeForTrue) {
  for (const char* name : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    for (const char* yes : {"1", "ON", "on", "Yes", "yes", "TRUE", "true", "True"}) {
      set(name, yes);
      EXPECT_TRUE(read_settings({}).offline) << yes;
    }
    for (const char* no : {"", "0", "2", "no", "OFF", "false", " 1", "y"}) {
      set(name, no);
      EXPECT_FALSE(read_settings({}).offline) << no;
    }
    ::unsetenv(name);
  }
}

TEST_F(HubSettings, PlacesAreAbsolute) {
  const fs::path here = fs::current_path();
  set("HF_HOME", "some/where");
  set("KERNELPACK_CACHE", "else/where/");
  EXPECT_EQ(read_settings({}).hub_cache, here / "some/where/hub");
  EXPECT_EQ(read_settings({}).url_cache, here / "else/where");
  GetOptions options;
  options.cache_dir = "given/";
  EXPECT_EQ(read_settings(options).hub_cache, here / "given");
}

TEST_F(HubSettings, SecondsAreWholeAndPositive) {
  set("HF_HUB_ETAG_TIMEOUT", "3");
  set("HF_HUB_DOWNLOAD_TIMEOUT", "7");
  EXPECT_EQ(read_settings({}).limits.branch, std::chrono::seconds(3));
  EXPECT_EQ(read_settings({}).limits.stall, std::chrono::seconds(7));
  GetOptions options;
  options.limits.branch = std::chrono::milliseconds(5);
  EXPECT_EQ(read_settings(options).limits.branch, std::chrono::milliseconds(5));
  for (const char* text : {"0", "-1", "1.5", "x", "1 ", "99999999999999999999", "86401"}) {
    set("HF_HUB_ETAG_TIMEOUT", text);
    EXPECT_THROW((void)read_settings({}), Error) << text;
  }
}

TEST_F(HubSettings, BaseUrlsGetOnlyATokenOfTheCall) {
  set("HF_TOKEN", "hf_variable");
  const Source repository = Repository{"a", "b", "v1", {}};
  const Source url = BaseUrl{"https://example.com/x"};
  EXPECT_EQ(token_for(repository, {}), "hf_variable");
  EXPECT_EQ(token_for(url, {}), "");
  GetOptions options;
  options.token = "hf_given";
  EXPECT_EQ(token_for(repository, options), "hf_given");
  EXPECT_EQ(token_for(url, options), "hf_given");
}

}  // namespace
}  // namespace kernelpack::hub
