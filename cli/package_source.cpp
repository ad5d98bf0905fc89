#include "package_source.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "failure.hpp"

namespace kernelpack::cli {

void add_network_options(CLI::App& command, NetworkFlags& flags) {
  command.add_flag("--trust-remote-code", flags.trust_remote_code,
                   "Accept publishers other than webgpu-kernels, and base URLs.");
  add_request_options(command, flags);
}

void add_request_options(CLI::App& command, NetworkFlags& flags) {
  command.add_flag("--offline", flags.offline,
                   "Make no request: what is not in the cache is an error. HF_HUB_OFFLINE=1 does the same.");
  command
      .add_option(
          "--token", flags.token,
          "Access token for this call. Other users of the machine can see it in the list of processes; "
          "HF_TOKEN and the token file of Hugging Face's tools serve packages of the Hub without it.")
      ->type_name("TOKEN");
}

void add_package_options(CLI::App& command, PackageFlags& flags) {
  command
      .add_option("PACKAGE", flags.source,
                  "A package folder, the op id of a shipped package, ORG/NAME@vN or ORG/NAME@COMMIT of the "
                  "Hugging Face Hub, or a base URL.")
      ->required();
  command.add_flag("--no-verify", flags.unverified,
                   "Load a package whose digests are absent or do not match.");
  add_network_options(command, flags.network);
}

GetOptions get_options(const NetworkFlags& flags, bool unverified) {
  GetOptions options;
  options.verify = !unverified;
  options.trust_remote_code = flags.trust_remote_code;
  options.offline = flags.offline;
  options.token = flags.token;
  return options;
}

DownloadBar::DownloadBar(std::size_t packages)
    : packages_(packages), visible_(::isatty(STDERR_FILENO) == 1) {}

DownloadBar::~DownloadBar() {
  clear();
}

std::function<void(const FetchProgress&)> DownloadBar::callback() {
  if (!visible_) return {};
  return [this](const FetchProgress& progress) { show(progress); };
}

namespace {

/// As much of one line as the terminal shows without a second one.
std::string fitted(std::string line) {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const std::size_t columns = known ? size.ws_col - 1U : 79U;
  if (line.size() <= columns) return line;
  // Not in the middle of a character of several bytes.
  std::size_t end = columns;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return line.substr(0, end);
}

}  // namespace

void DownloadBar::show(const FetchProgress& progress) {
  const std::scoped_lock lock(mutex_);
  constexpr std::size_t kWidth = 30;
  const bool many = packages_ > 1;
  const std::size_t total = std::max<std::size_t>(many ? packages_ : progress.files_wanted, 1);
  const std::size_t done = std::min(many ? done_ : progress.files_done, total);
  const std::size_t filled = done * kWidth / total;
  const std::string text = fmt::format(
      "[{:#<{}}{:.<{}}] {}/{} {}", "", filled, "", kWidth - filled, done, total,
      single_line(many ? progress.source : fmt::format("{} ({} bytes)", progress.file, progress.bytes)));
  std::fputs(('\r' + fitted(text) + "\033[K").c_str(), stderr);
  shown_ = true;
}

void DownloadBar::step() {
  const std::scoped_lock lock(mutex_);
  ++done_;
}

void DownloadBar::clear() {
  const std::scoped_lock lock(mutex_);
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

Kernel get_kernel(const PackageFlags& flags, bool allow_missing_templates) {
  return failing_with(ExitCode::input, [&] {
    DownloadBar bar;
    GetOptions options = get_options(flags.network, flags.unverified);
    options.allow_missing_templates = allow_missing_templates;
    options.progress = bar.callback();
    Kernel kernel = Kernel::get(flags.source, options);
    bar.clear();
    print_note(kernel.origin().note);
    return kernel;
  });
}

Kernel get_runnable_kernel(const PackageFlags& flags) {
  Kernel kernel = get_kernel(flags);
  if (!flags.unverified && !kernel.package().version())
    throw Error(
        ErrorKind::integrity,
        fmt::format("The package of {} has no metadata.json, so its files cannot be verified; it runs "
                    "only with --no-verify",
                    kernel.package().op_id()),
        kernel.package().folder().string());
  return kernel;
}

std::optional<std::filesystem::path> fetched_folder(const std::string& source, const NetworkFlags& flags,
                                                    bool unverified) {
  return failing_with(ExitCode::input, [&]() -> std::optional<std::filesystem::path> {
    DownloadBar bar;
    GetOptions options = get_options(flags, unverified);
    options.progress = bar.callback();
    if (!is_remote_source(source, options)) return std::nullopt;
    const FetchedPackage fetched = fetch_package(source, options);
    bar.clear();
    print_note(fetched.origin.note);
    return fetched.origin.folder;
  });
}

void print_note(const std::string& note) {
  if (!note.empty()) std::fputs(fmt::format("kernelpack: note: {}\n", single_line(note)).c_str(), stderr);
}

}  // namespace kernelpack::cli
