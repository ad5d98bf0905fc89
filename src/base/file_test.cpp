#include "base/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/input_file.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kernelpack-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path at(const char* name) const { return folder_ / name; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string content(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  static void put(const fs::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static mode_t mode(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
  }

  fs::path folder_;
};

template <class Action>
Error io_failure(Action action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io) << error.line();
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorKind::internal, "no error");
}

/// Runs `action` in a child process; its exit status is what `action` returns.
template <class Action>
int in_child(Action action) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(action());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// As `in_child`, without the rights of root.
template <class Action>
int in_unprivileged_child(Action action) {
  constexpr uid_t kNobody = 65534;
  return in_child([&] { return ::geteuid() == 0 && ::setuid(kNobody) != 0 ? 1 : action(); });
}

std::string read_failure(const fs::path& path, std::size_t limit = 100) {
  return io_failure([&] { read_file(path, limit); }).line();
}

TEST_F(File, ReadsWholeFiles) {
  const std::string binary("a\0b\r\n\xFF", 6);
  put(at("f"), binary);
  EXPECT_EQ(read_file(at("f"), 6), binary);
  put(at("empty"), "");
  EXPECT_EQ(read_file(at("empty"), 0), "");
  EXPECT_FALSE(read_file("/proc/self/status", 1 << 20).empty()) << "a file that reports size 0";
}

TEST_F(File, ReadingNamesTheCause) {
  put(at("f"), "1234567");
  EXPECT_EQ(read_failure(at("f"), 6),
            "io: The size of the file (7 bytes) exceeds the limit (6 bytes) (" + at("f").string() + ")");
  EXPECT_EQ(read_failure(at("none")), "io: The file does not exist (" + at("none").string() + ")");
  EXPECT_EQ(read_failure(folder_),
            "io: The file cannot be read because it is a directory (" + folder_.string() + ")");
  EXPECT_EQ(read_failure("/proc/self/mem"),
            "io: The file cannot be read (Input/output error) (/proc/self/mem)");
  EXPECT_EQ(read_failure("/proc/self/status", 10),
            "io: The file is larger than the limit (10 bytes) (/proc/self/status)");
  EXPECT_EQ(read_failure("/dev/zero"),
            "io: The file cannot be read because it is not a regular file (/dev/zero)");
  EXPECT_EQ(read_failure(""), "io: The name of the file to read is empty");
  EXPECT_NE(read_failure(std::string("/dev\0x", 6)).find("NUL"), std::string::npos);
  EXPECT_NE(read_failure(at("f") / "x").find("Not a directory"), std::string::npos);
}

TEST_F(File, ReadingAPipeWithoutWriterDoesNotBlock) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_NE(read_failure(at("pipe")).find("not a regular file"), std::string::npos);
}

TEST_F(File, ReadingWithoutPermission) {
  put(at("f"), "x");
  fs::permissions(folder_, fs::perms::all);
  fs::permissions(at("f"), fs::perms::none);
  EXPECT_EQ(in_unprivileged_child([&] {
              const std::string line = read_failure(at("f"));
              return line.find("cannot be opened (Permission denied)") == std::string::npos ? 2 : 0;
            }),
            0);
}

TEST_F(File, AnyInputReadsPipesAndDevicesWithinTheLimit) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const std::string text(300000, 'p');
  std::thread writer([&] { put(at("pipe"), text); });
  InputFile pipe(at("pipe"), InputKind::any);
  EXPECT_EQ(pipe.size(), std::nullopt);
  EXPECT_EQ(pipe.read_rest(300000), text);
  writer.join();
  InputFile zeros("/dev/zero", InputKind::any);
  EXPECT_NE(io_failure([&] { zeros.read_rest(1000); }).line().find("larger than the limit"),
            std::string::npos);
}

TEST_F(File, WritesNewFilesWithTheModeOfTheUmask) {
  const mode_t before = ::umask(027);
  write_file(at("new"), "abc");
  ::umask(before);
  EXPECT_EQ(content(at("new")), "abc");
  EXPECT_EQ(mode(at("new")), 0640u);
  EXPECT_EQ(entries(), 1u);
  write_file(at("empty"), "");
  EXPECT_EQ(fs::file_size(at("empty")), 0u);
}

TEST_F(File, ReplacingKeepsTheMode) {
  put(at("f"), "old and longer");
  ASSERT_EQ(::chmod(at("f").c_str(), 0604), 0);
  write_file(at("f"), "new");
  EXPECT_EQ(content(at("f")), "new");
  EXPECT_EQ(mode(at("f")), 0604u);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, RelativeNamesWithoutFolderWork) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  write_file("plain", "x");
  fs::current_path(before);
  EXPECT_EQ(content(at("plain")), "x");
}

TEST_F(File, TheTargetIsUntouchedUntilTheEndAndAfterAFailure) {
  put(at("f"), "old");
  const auto produce = [&](const WritePiece& write) {
    write(std::as_bytes(std::span("half", 4)));
    EXPECT_EQ(content(at("f")), "old");
    EXPECT_EQ(entries(), 2u);
    throw std::runtime_error("producer");
  };
  EXPECT_THROW(write_file(at("f"), produce), std::runtime_error);
  EXPECT_THROW(write_file(at("g"), [](const WritePiece&) { throw std::runtime_error("producer"); }),
               std::runtime_error);
  EXPECT_EQ(content(at("f")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, SymbolicLinksAreFollowed) {
  put(at("real"), "old");
  fs::create_symlink("real", at("link"));
  fs::create_symlink(at("link"), at("link2"));
  write_file(at("link2"), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_TRUE(fs::is_symlink(at("link2")));
  EXPECT_EQ(content(at("real")), "new");

  fs::create_symlink("later", at("dangling"));
  write_file(at("dangling"), "made");
  EXPECT_TRUE(fs::is_symlink(at("dangling")));
  EXPECT_EQ(content(at("later")), "made");

  fs::create_symlink("loop", at("loop"));
  EXPECT_NE(io_failure([&] { write_file(at("loop"), "x"); }).line().find("symbolic links"),
            std::string::npos);
}

TEST_F(File, WritingNamesTheCause) {
  const auto line = [](const fs::path& path) { return io_failure([&] { write_file(path, "x"); }).line(); };
  EXPECT_EQ(line(at("no") / "f"),
            "io: The file cannot be created (No such file or directory) (" + (at("no") / "f").string() + ")");
  EXPECT_EQ(line(folder_), "io: The file cannot be written (Is a directory) (" + folder_.string() + ")");
  EXPECT_EQ(line(at("x") / ""),
            "io: The file cannot be written (Is a directory) (" + (at("x") / "").string() + ")");
  EXPECT_EQ(line(""), "io: The name of the file to write is empty");
  EXPECT_NE(line(std::string("/tmp/a\0b", 8)).find("NUL"), std::string::npos);
  EXPECT_NE(line(at(std::string(300, 'n').c_str())).find("File name too long"), std::string::npos);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(File, AReadOnlyTargetIsNotReplaced) {
  put(at("f"), "old");
  fs::permissions(folder_, fs::perms::all);
  fs::permissions(at("f"), fs::perms::owner_read | fs::perms::others_read);
  EXPECT_EQ(in_unprivileged_child([&] {
              const Error error = io_failure([&] { write_file(at("f"), "x"); });
              return error.message() == "The file cannot be written (Permission denied)" ? 0 : 2;
            }),
            0);
  EXPECT_EQ(content(at("f")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, AFolderThatCannotBeWrittenIsAnError) {
  ASSERT_EQ(::chmod(folder_.c_str(), 0755), 0);
  EXPECT_EQ(in_unprivileged_child([&] {
              if (::chmod(folder_.c_str(), 0555) != 0 && errno != EPERM) return 3;
              const Error error = io_failure([&] { write_file(at("f"), "x"); });
              return error.message() == "The file cannot be created (Permission denied)" ? 0 : 2;
            }),
            0);
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(File, DevicesAreWrittenDirectlyAndAFullOneIsAnError) {
  EXPECT_EQ(io_failure([] { write_file("/dev/full", "x"); }).line(),
            "io: The file cannot be written (No space left on device) (/dev/full)");
  write_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  fs::create_symlink("/dev/full", at("full"));
  EXPECT_NE(io_failure([&] { write_file(at("full"), "x"); }).line().find("No space left"), std::string::npos);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, PipesAreWrittenDirectly) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = content(at("pipe")); });
  write_file(at("pipe"), std::string(200000, 'q'));
  reader.join();
  EXPECT_EQ(received, std::string(200000, 'q'));
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
}

TEST_F(File, StandardOutputIsItsDescriptorEvenIfItIsAFile) {
  put(at("out"), "before ");
  const int status = in_child([&] {
    const int out = ::open(at("out").c_str(), O_WRONLY | O_APPEND);
    if (out < 0 || ::dup2(out, 1) != 1) return 1;
    write_file("/dev/stdout", "one ");
    write_file("/dev/fd/1", "two ");
    write_file("/proc/self/fd/1", "three");
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(at("out")), "before one two three");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, AFileSizeLimitLeavesNothingBehind) {
  put(at("old"), "old");
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    for (const char* name : {"old", "new"}) {
      try {
        write_file(at(name), std::string(5000, 'x'));
        return 2;
      } catch (const Error& error) {
        if (error.message() != "The file cannot be written (File too large)") return 3;
      }
    }
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(at("old")), "old");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(File, ConcurrentWritersLeaveOneWholeFile) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) write_file(at("f"), std::string(10000, static_cast<char>('a' + i)));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = content(at("f"));
  EXPECT_EQ(text, std::string(10000, text.at(0)));
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace kernelpack
