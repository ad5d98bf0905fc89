#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace kernelpack::hub {

/// What this process has learnt about a branch or base URL: asking once is enough.
struct KnownState {
  std::string state;  ///< commit, or SHA-256 of metadata.json
  std::string note;   ///< see PackageOrigin::note
};

/// The memory of the process. Thread-safe; callers that ask about the same key at the same time wait for the
/// first, but no longer than until `wait`, which is called again and again meanwhile, throws.
class KnownStates {
 public:
  static KnownStates& of_process();

  /// Calls `use` with what is known under `key`, or with nothing; keeps what it returns. If it throws, what
  /// was known stays.
  void with(const std::string& key, const std::function<void()>& wait,
            const std::function<std::optional<KnownState>(const std::optional<KnownState>&)>& use);

 private:
  struct Entry {
    std::mutex mutex;
    std::optional<KnownState> known;
  };
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_;
};

}  // namespace kernelpack::hub
