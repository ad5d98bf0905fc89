#pragma once

#include "package/model.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {

/// A `requires` object (format.md 2.7).
Requirements read_requirements(const Node& node);
/// Lists of the older flat keys of manifest 1.0.
std::vector<std::string> read_features(const Node& node);
std::vector<LimitRequirement> read_limits(const Node& node);
/// A positive integer that fits an int.
std::optional<int> read_positive_int(const Node& node);

/// Both levels together: union of features, maximum per limit, maximum of the subgroup size. Reports a fault
/// at `variant_node` if both demand matrix configurations.
Requirements merge(const Requirements& top, const Requirements& variant, const Node& variant_node);

}  // namespace kernelpack::package
