#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace kernelpack::expr {

/// Finds the positions of names in a sequence by hash. Names that are made to collide end up in a sorted map,
/// so a hostile text cannot make it slow. `name_at(position)` gives text and hash of a name of the sequence;
/// the texts must stay where they are.
class NameIndex {
 public:
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

  bool empty() const noexcept { return slots_.empty(); }

  template <class Name, class NameAt>
  std::size_t find(const Name& name, const NameAt& name_at) const {
    if (slots_.empty()) return kAbsent;
    std::size_t slot = name.hash & (slots_.size() - 1);
    for (std::size_t probes = 0; probes < kProbes && slots_[slot] != 0; ++probes) {
      const auto found = name_at(slots_[slot] - 1);
      if (found.hash == name.hash && found.text == name.text) return slots_[slot] - 1;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    if (sorted_.empty()) return kAbsent;
    const auto found = sorted_.find(name.text);
    return found == sorted_.end() ? kAbsent : found->second;
  }

  /// Adds the last of `count` names, which is not there yet; all others are.
  template <class NameAt>
  void add_last(std::size_t count, const NameAt& name_at) {
    if (slots_.size() >= count * 2) {
      place(count - 1, name_at);
      return;
    }
    clear();
    slots_.assign(std::max(kFewest, slot_count(count * 4)), 0);
    for (std::size_t position = 0; position < count; ++position) place(position, name_at);
  }

  void clear() noexcept {
    slots_.clear();
    sorted_.clear();
  }

 private:
  static constexpr std::size_t kProbes = 32;
  static constexpr std::size_t kFewest = 16;

  static std::size_t slot_count(std::size_t least) noexcept {
    std::size_t count = kFewest;
    while (count < least) count *= 2;
    return count;
  }

  template <class NameAt>
  void place(std::size_t position, const NameAt& name_at) {
    const auto name = name_at(position);
    std::size_t slot = name.hash & (slots_.size() - 1);
    for (std::size_t probes = 0; probes < kProbes; ++probes) {
      if (slots_[slot] == 0) {
        slots_[slot] = static_cast<std::uint32_t>(position + 1);
        return;
      }
      slot = (slot + 1) & (slots_.size() - 1);
    }
    sorted_.emplace(name.text, position);
  }

  std::vector<std::uint32_t> slots_;  ///< position plus 1; 0 is free
  std::map<std::string_view, std::size_t> sorted_;
};

}  // namespace kernelpack::expr
