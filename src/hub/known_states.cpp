#include "hub/known_states.hpp"

namespace kernelpack::hub {

KnownStates& KnownStates::of_process() {
  static KnownStates states;
  return states;
}

void KnownStates::with(
    const std::string& key,
    const std::function<std::optional<KnownState>(const std::optional<KnownState>&)>& use) {
  std::shared_ptr<Entry> entry;
  {
    const std::scoped_lock lock(mutex_);
    std::shared_ptr<Entry>& place = entries_[key];
    if (!place) place = std::make_shared<Entry>();
    entry = place;
  }
  const std::scoped_lock lock(entry->mutex);
  entry->known = use(entry->known);
}

void KnownStates::clear() {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

}  // namespace kernelpack::hub
