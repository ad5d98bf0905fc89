#include "expr/value.hpp"

namespace kernelpack::expr {
namespace {

/// Up to this many entries a scan of the hashes is faster than a table.
constexpr std::size_t kScanned = 12;
constexpr std::size_t kAbsent = NameIndex::kAbsent;

}  // namespace

Dict::Dict(std::initializer_list<std::pair<std::string_view, Value>> entries) {
  reserve(entries.size());
  for (const auto& [key, value] : entries) set(key, value);
}

std::size_t Dict::position(NameView name) const noexcept {
  if (!index_.empty()) {
    return index_.find(
        name, [this](std::size_t i) { return NameView(entries_[i].key.string(), entries_[i].hash); });
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].hash == name.hash && entries_[i].key.string() == name.text) return i;
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
  index_.add_last(entries_.size(),
                  [this](std::size_t i) { return NameView(entries_[i].key.string(), entries_[i].hash); });
}

void Dict::erase(std::string_view key) {
  const std::size_t found = position(key);
  if (found == kAbsent) return;
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(found));
  index_.clear();
  std::vector<Entry> entries = std::move(entries_);
  entries_.clear();
  for (Entry& entry : entries) append(std::move(entry));
}

void Dict::clear() noexcept {
  entries_.clear();
  index_.clear();
}

const Value& Call::operator[](std::size_t index) const noexcept {
  static const Value absent;
  return index < arguments.size() ? arguments[index] : absent;
}

}  // namespace kernelpack::expr
