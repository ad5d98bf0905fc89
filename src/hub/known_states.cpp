#include "hub/known_states.hpp"

#include <chrono>
#include <thread>

namespace kernelpack::hub {

KnownStates& KnownStates::of_process() {
  static KnownStates states;
  return states;
}

void KnownStates::with(
    const std::string& key, const std::function<void()>& wait,
    const std::function<std::optional<KnownState>(const std::optional<KnownState>&)>& use) {
  std::shared_ptr<Entry> entry;
  {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<Entry>& place = entries_[key];
    if (!place) place = std::make_shared<Entry>();
    entry = place;
  }
  std::unique_lock lock(entry->mutex, std::try_to_lock);
  for (; !lock.owns_lock(); (void)lock.try_lock()) {
    wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  entry->known = use(entry->known);
}

}  // namespace kernelpack::hub
