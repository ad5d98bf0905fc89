#include "expr/value.hpp"

namespace kernelpack::expr {
namespace {

/// Up to this many entries a scan of the hashes is faster than a table.
constexpr std::size_t kScanned = 12;
constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

}  // namespace

Dict::Dict(std::initializer_list<std::pair<std::string_view, Value>> entries) {
  reserve(entries.size());
  for (const auto& [key, value] : entries) set(key, value);
}

std::size_t Dict::position(NameView name) const noexcept {
  if (slots_.empty()) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].hash == name.hash && entries_[i].key.string() == name.text) return i;
    }
    return kAbsent;
  }
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = name.hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == name.hash && entry.key.string() == name.text) return slots_[slot] - 1;
  }
  return kAbsent;
}

const Value* Dict::find(NameView name) const noexcept {
  const std::size_t found = position(name);
  return found == kAbsent ? nullptr : &entries_[found].value;
}

void Dict::set(std::string_view key, Value value) {
  const NameView name(key);
  if (const std::size_t found = position(name); found != kAbsent) {
    entries_[found].value = std::move(value);
    return;
  }
  append({Value::string(std::string(key)), name.hash, std::move(value)});
}

void Dict::set(Value key, Value value) {
  const NameView name(key.string());
  if (const std::size_t found = position(name); found != kAbsent) {
    entries_[found].value = std::move(value);
    return;
  }
  append({std::move(key), name.hash, std::move(value)});
}

void Dict::append(Entry entry) {
  entries_.push_back(std::move(entry));
  if (entries_.size() <= kScanned) return;
  if (slots_.size() < entries_.size() * 2) {
    index_entries();
    return;
  }
  add_slot(entries_.size() - 1);
}

void Dict::add_slot(std::size_t position) noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = entries_[position].hash & mask;
  while (slots_[slot] != 0) slot = (slot + 1) & mask;
  slots_[slot] = static_cast<std::uint32_t>(position + 1);
}

void Dict::index_entries() {
  slots_.clear();
  if (entries_.size() <= kScanned) return;
  std::size_t count = 32;
  while (count < entries_.size() * 4) count *= 2;
  slots_.assign(count, 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) add_slot(i);
}

void Dict::erase(std::string_view key) {
  const std::size_t found = position(key);
  if (found == kAbsent) return;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(found));
  index_entries();
}

void Dict::clear() noexcept {
  entries_.clear();
  slots_.clear();
}

const Value& Call::operator[](std::size_t index) const noexcept {
  static const Value absent;
  return index < arguments.size() ? arguments[index] : absent;
}

}  // namespace kernelpack::expr
