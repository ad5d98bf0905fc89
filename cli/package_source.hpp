#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "kernelpack/hub.hpp"
#include "kernelpack/kernel.hpp"

namespace kernelpack::cli {

/// What commands that may use the network take.
struct NetworkFlags {
  bool trust_remote_code = false;
  bool offline = false;
  std::string token;
};
/// --offline and --token.
void add_request_options(CLI::App& command, NetworkFlags& flags);
/// These and --trust-remote-code, for commands that load packages.
void add_network_options(CLI::App& command, NetworkFlags& flags);

/// How a command names its package.
struct PackageFlags {
  std::string source;
  bool unverified = false;
  NetworkFlags network;
};
/// Adds PACKAGE, --no-verify and the network options. The flags must outlive the command.
void add_package_options(CLI::App& command, PackageFlags& flags);

/// The options of the library for these flags.
GetOptions get_options(const NetworkFlags& flags, bool unverified);

/// A line on the terminal (stderr) while downloads run; nothing elsewhere. Thread-safe.
class DownloadBar {
 public:
  /// `packages`: how many will be fetched.
  explicit DownloadBar(std::size_t packages = 1);
  DownloadBar(const DownloadBar&) = delete;
  DownloadBar& operator=(const DownloadBar&) = delete;
  ~DownloadBar();

  /// For GetOptions::progress.
  std::function<void(const FetchProgress&)> callback();
  /// One package more is done.
  void step();
  void clear();

 private:
  void show(const FetchProgress& progress);

  std::mutex mutex_;
  std::size_t packages_;
  std::size_t done_ = 0;
  bool visible_;
  bool shown_ = false;
};

/// The kernel that PACKAGE names, wherever it is. If a cached copy had to stand in for the network, says so
/// on stderr. Errors end the program with the code for bad input.
Kernel get_kernel(const PackageFlags& flags, bool allow_missing_templates = false);

/// The same for commands that make plans and run them themselves. Throws integrity for a package that cannot
/// be verified, unless the flags waive that.
Kernel get_runnable_kernel(const PackageFlags& flags);

/// The folder of the package if `source` is remote, fetched where needed; nothing for folders and shipped
/// packages.
std::optional<std::filesystem::path> fetched_folder(const std::string& source, const NetworkFlags& flags,
                                                    bool unverified);

/// "kernelpack: note: ..." on stderr; nothing for an empty note.
void print_note(const std::string& note);

}  // namespace kernelpack::cli
