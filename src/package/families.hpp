#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {

/// One variant of a manifest, written out: the object itself, or the result of expanding a family
/// (format.md 2.8).
struct VariantText {
  const json::Value* written;  ///< in the document; null for an expanded one
  json::Value expanded;
  std::string pointer;  ///< of the member of `variants`, or of the family's template
  std::string note;     ///< "While expanding case 2 of /variants/0"; empty outside families

  const json::Value& value() const noexcept { return written != nullptr ? *written : expanded; }
};

/// The variants of a 2.x manifest in order, families expanded. Faults of families are reported; what cannot
/// be expanded is left out.
std::vector<VariantText> expand_variants(const Node& variants);

}  // namespace kernelpack::package
