#pragma once

#include <functional>
#include <string>
#include <vector>

#include "expr/value.hpp"
#include "package/model.hpp"

namespace kernelpack::plan {

/// A pass of a variant after its repeat groups are written out (format.md 2.9).
struct ExpandedPass {
  const package::Pass* pass = nullptr;
  std::string id;      ///< "g[0].h[1].p"
  expr::Value repeat;  ///< what the name `repeat` holds: an empty object outside groups
};

/// The most passes that a variant may expand to.
inline constexpr std::size_t kMostPasses = 131072;

/// Evaluates a repeat count; its argument is the `repeat` object of the enclosing groups.
using CountOf = std::function<double(const package::RepeatGroup& group, const expr::Value& repeat)>;

/// All passes of the variant in order. Throws limit for a count that is not an integer from 0 to 65535 and
/// for more than kMostPasses passes, package if no pass remains or two have one id, and what `count_of`
/// throws.
std::vector<ExpandedPass> expand_passes(const package::Variant& variant, const CountOf& count_of);

}  // namespace kernelpack::plan
