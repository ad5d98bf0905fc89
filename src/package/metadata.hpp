#pragma once

#include <optional>
#include <string_view>

#include "package/model.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {

/// Reads metadata.json (format.md 1.2). Faults are reported: kind package for its structure, integrity for
/// the digest and file-name policy, unsupported for a manifest language that kernelpack does not know. The
/// result is empty if the manifest cannot be read without what is missing.
std::optional<Metadata> read_metadata(const Node& root);

/// Checks metadata.json against the manifest that was read: the name, and the templates of each variant.
void check_metadata(const Node& root, const Model& model);

/// The digest of that file, or null if metadata.json does not list it.
const std::string* listed_digest(const Metadata& metadata, std::string_view file) noexcept;

/// The value at a JSON pointer of the document; the nearest value above it if there is none.
Node node_at(const Node& root, std::string_view pointer);

}  // namespace kernelpack::package
