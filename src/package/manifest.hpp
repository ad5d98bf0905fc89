#pragma once

#include <functional>
#include <vector>

#include "package/families.hpp"
#include "package/model.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {

/// Reads a manifest of generation 2.x, or 1.0, into `model`, whose `spec` is set. All faults are reported;
/// the model is complete only if there was none.
void read_manifest_2(const Node& root, Model& model);
void read_manifest_1(const Node& root, Model& model);

/// Checks keys at every depth of a 2.x manifest: no member of JavaScript's object prototype, `$comment` a
/// string.
void check_all_keys(const Node& node);

/// The keys domain, name, sinceVersion and description; sets the op id.
void read_identity(ObjectReader& reader, Model& model);

/// The `id` of a variant, `variant_<index>` by default.
std::string read_variant_id(ObjectReader& reader, std::size_t index);
/// Appends to `model` what `read` makes of each text; `read` also gets the variant's index. Variants that
/// share an id are reported, and `supersededBy` is resolved to indices: each must exist, differ from the
/// variant and rank higher. Stops where no more faults are kept.
void append_variants(const std::vector<VariantText>& texts, Source& source, Model& model,
                     const std::function<Variant(const Node&, std::size_t index)>& read);
/// Sets `trial_order`: default variants first (1.0), then priority descending, ties in manifest order.
void order_variants(Model& model);

}  // namespace kernelpack::package
