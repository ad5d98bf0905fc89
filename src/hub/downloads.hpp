#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "hub/http.hpp"

namespace kernelpack::hub {

/// A file of a package and where it is asked for.
struct Wanted {
  std::string file;
  HttpRequest request;
};

/// The downloads of one call: progress, cancellation, and several requests at once.
class Downloads {
 public:
  Downloads(const Settings& settings, std::string source, const GetOptions& options);

  HttpResult attempt(const Wanted& wanted);
  HttpAnswer get(const Wanted& wanted);
  /// Fetches all, several at the same time, and gives each answer to `accept`, which several threads may call
  /// at once. The first failure ends the rest and is thrown.
  void get_all(const std::vector<Wanted>& wanted,
               const std::function<void(const Wanted&, HttpAnswer&)>& accept);

  /// Files that were fetched, checked and stored.
  std::size_t done() const noexcept { return done_; }
  /// To be called once a file was checked and stored.
  void finish(const std::string& file);

 private:
  HttpClient make_client(const std::atomic<bool>* failed);
  void expect(std::size_t files);
  void report(const std::string& file, std::size_t bytes);

  const Settings& settings_;
  const std::string source_;
  const GetOptions& options_;
  std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::size_t expected_ = 0;
  std::string current_;
  HttpClient client_;
};

}  // namespace kernelpack::hub
