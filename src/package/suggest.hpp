#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kernelpack::package {

/// The candidate that `word` is most likely a misspelling of: at most a third of its letters (at least one,
/// at most three) inserted, removed, replaced or swapped with a neighbour, letter case ignored. Nothing if
/// none is that near.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// "a, b, c", or "none" for an empty list.
std::string join_names(std::span<const std::string> names);

/// "; did you mean (x)" for the nearest candidate, else "; known: a, b, c". Never empty.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace kernelpack::package
