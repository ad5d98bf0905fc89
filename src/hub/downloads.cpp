#include "hub/downloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace kernelpack::hub {
namespace {

/// Of all answers of one call. Published packages are far below a tenth of it.
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

}  // namespace

Downloads::Downloads(const Settings& settings, std::string source, const GetOptions& options)
    : settings_(settings), source_(std::move(source)), options_(options), client_(make_client(nullptr)) {}

HttpClient Downloads::make_client(const std::atomic<bool>* failed) {
  return HttpClient(
      settings_.limits, [this, failed] { return options_.cancel.stop_requested() || (failed && *failed); },
      [this](std::size_t bytes) { report({}, bytes); });
}

void Downloads::report(const std::string& file, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  bytes_ += bytes;
  if (bytes_ > kMostBytes)
    throw Error(ErrorKind::limit,
                fmt::format("The answers for one package exceed the budget ({} bytes)", kMostBytes), source_);
  if (!file.empty()) current_ = file;
  if (options_.progress) options_.progress({source_, current_, bytes_, done_, expected_});
}

void Downloads::expect(std::size_t files) {
  const std::scoped_lock lock(mutex_);
  expected_ += files;
}

void Downloads::finish(const std::string& file) {
  ++done_;
  report(file, 0);
}

HttpResult Downloads::attempt(const Wanted& wanted) {
  expect(1);
  report(wanted.file, 0);
  return client_.attempt(wanted.request);
}

HttpAnswer Downloads::get(const Wanted& wanted) {
  expect(1);
  report(wanted.file, 0);
  return client_.get(wanted.request);
}

void Downloads::get_all(const std::vector<Wanted>& wanted,
                        const std::function<void(const Wanted&, HttpAnswer&)>& accept) {
  expect(wanted.size());
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr fault;
  const auto work = [&] {
    try {
      HttpClient client = make_client(&failed);
      for (std::size_t i = next++; i < wanted.size() && !failed; i = next++) {
        HttpAnswer answer = client.get(wanted[i].request);
        accept(wanted[i], answer);
        finish(wanted[i].file);
      }
    } catch (...) {
      // What the failure of another file cancelled is no failure of its own.
      if (!failed.exchange(true)) fault = std::current_exception();
    }
  };
  {
    const std::size_t count = std::min(std::max<std::size_t>(settings_.limits.parallel, 1), wanted.size());
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
    } catch (const std::system_error&) {
      // Fewer threads than wanted do the same work.
    }
    work();
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace kernelpack::hub
