#include "package/suggest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelpack::package {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Words of a manifest are short; longer ones are not compared, which bounds the work for hostile keys.
constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kMostCandidates = 1000;
constexpr std::size_t kMostShown = 40;

// Edit distance with swaps of neighbours (optimal string alignment), ignoring letter case.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + change});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  std::size_t limit = std::clamp<std::size_t>(word.size() / 3, 1, 3) + 1;
  std::optional<std::string> best;
  for (const std::string& candidate : candidates.first(std::min(candidates.size(), kMostCandidates))) {
    if (candidate.empty() || candidate.size() > kLongestWord) continue;
    const std::size_t edits = distance(word, candidate);
    if (edits < limit && edits < candidate.size()) {
      limit = edits;
      best = candidate;
    }
  }
  return best;
}

std::string join_names(std::span<const std::string> names) {
  if (names.empty()) return "none";
  const std::size_t shown = std::min(names.size(), kMostShown);
  std::string text = fmt::format("{}", fmt::join(names.first(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  if (const auto near = nearest(word, candidates)) return fmt::format("; did you mean ({})", *near);
  return fmt::format("; known: {}", join_names(candidates));
}

}  // namespace kernelpack::package
