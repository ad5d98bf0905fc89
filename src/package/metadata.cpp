#include "package/metadata.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "package/file_name.hpp"
#include "package/suggest.hpp"

namespace kernelpack::package {
namespace {

// Looked up one by one for each file that is used.
constexpr std::size_t kMostFiles = 4096;

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool check_file_name(const Node& node, SourceSpan span, std::string_view name) {
  const auto fault = file_name_fault(name);
  if (fault)
    node.fault_at(span, fmt::format("The file name ({}) is not allowed: {}", name, *fault),
                  ErrorKind::integrity);
  return !fault;
}

void read_digest(const Node& node, Metadata& metadata) {
  ObjectReader reader(node, "the digest");
  if (const auto algorithm = reader.need("algorithm")) {
    const auto text = read_string(*algorithm);
    if (text && *text != "sha256")
      algorithm->fault(fmt::format("The digest algorithm ({}) is not sha256, the only one understood", *text),
                       ErrorKind::integrity);
  }
  if (const auto files = reader.need("files")) {
    for (const NamedNode& member : members_of(*files, kMostFiles)) {
      if (!check_file_name(member.node, member.name_span, member.name)) continue;
      if (member.name == "metadata.json")
        member.node.fault_at(member.name_span,
                             "The file metadata.json is listed, but it cannot hold its own digest",
                             ErrorKind::integrity);
      auto text = read_string(member.node);
      if (!text) continue;
      const auto bytes = base64_decode(*text);
      if (!bytes) {
        member.node.fault(fmt::format("The digest of file {} ({}) is not padded base64", member.name, *text),
                          ErrorKind::integrity);
      } else if (bytes->size() != 32) {
        member.node.fault(
            fmt::format("The digest of file {} has {} bytes, but sha256 has 32", member.name, bytes->size()),
            ErrorKind::integrity);
      }
      metadata.digests.emplace_back(member.name, std::move(*text));
    }
  }
  reader.finish();
}

void read_provenance(const Node& node, Metadata& metadata) {
  const json::Value* kernel = node.value().find("kernel");
  if (!node.value().is_object())
    node.fault(
        fmt::format("The value of provenance is {}, but an object is expected", describe(node.value())));
  if (kernel == nullptr) return;
  if (const json::Value* sha = kernel->find("sha"); sha != nullptr && sha->is_string()) {
    metadata.kernel_sha = sha->string();
    if (sha->string().size() != 40 || !is_hex(sha->string()))
      node.child("kernel", *kernel)
          .child("sha", *sha)
          .fault(fmt::format("The provenance sha ({}) is not 40 hexadecimal digits", sha->string()));
  }
  if (const json::Value* dirty = kernel->find("dirty"); dirty != nullptr && dirty->is_boolean())
    metadata.kernel_dirty = dirty->boolean();
}

void read_variant_files(const Node& node, Metadata& metadata) {
  for (const NamedNode& member : members_of(node)) {
    std::vector<std::string> files;
    for (const Node& item : items_of(member.node)) {
      auto name = read_string(item);
      if (!name || !check_file_name(item, item.value().span, *name)) continue;
      files.push_back(std::move(*name));
    }
    metadata.variants.emplace_back(member.name, std::move(files));
  }
}

bool read_webgpu(const Node& node, Metadata& metadata) {
  ObjectReader reader(node, "the object webgpu");
  bool known = false;
  if (const auto spec = reader.need("manifestSpec")) {
    const auto text = read_string(*spec);
    if (text) {
      metadata.manifest_spec = *text;
      known = *text == "1.0" || *text == "2.0" || *text == "2.1";
      if (!known)
        spec->fault(fmt::format("The manifest language ({}) is none of 1.0, 2.0 and 2.1", *text),
                    ErrorKind::unsupported);
    }
  }
  if (const auto variants = reader.get("variants")) read_variant_files(*variants, metadata);
  if (const auto specialized = reader.get("specialized")) read_boolean(*specialized);
  reader.string("opPath");
  // A language of the future may have keys of its own; its version alone is the fault.
  if (known) reader.finish();
  return known;
}

}  // namespace

std::optional<Metadata> read_metadata(const Node& root) {
  Metadata metadata;
  ObjectReader reader(root, "metadata.json");
  if (!reader.is_object()) return std::nullopt;
  if (const auto name = reader.need("name")) metadata.name = read_nonempty_string(*name).value_or("");
  metadata.id = reader.string("id");
  if (const auto version = reader.need("version"))
    metadata.version =
        static_cast<int>(read_integer(*version, 1, std::numeric_limits<int>::max()).value_or(1));
  metadata.license = reader.string("license");
  if (const auto backend = reader.get("backend")) {
    ObjectReader inner(*backend, "the backend");
    if (const auto type = inner.need("type"))
      if (const auto text = read_string(*type); text && *text != "webgpu")
        type->fault(fmt::format("The type of the backend ({}) is not webgpu", *text), ErrorKind::unsupported);
    inner.finish();
  }
  if (const auto digest = reader.need("digest")) read_digest(*digest, metadata);
  if (const auto provenance = reader.get("provenance")) read_provenance(*provenance, metadata);
  bool known = false;
  if (const auto webgpu = reader.need("webgpu")) known = read_webgpu(*webgpu, metadata);
  if (known) reader.finish();
  if (!known) return std::nullopt;
  return metadata;
}

void check_metadata(const Node& root, const Model& model) {
  const Metadata& metadata = *model.metadata;
  if (!metadata.name.empty() && !model.name.empty() && metadata.name != model.op_id)
    node_at(root, "/name")
        .fault(fmt::format("The name in metadata.json ({}) differs from the op id of the manifest ({})",
                           metadata.name, model.op_id));
  const Node webgpu = node_at(root, "/webgpu");
  if (model.generation != Generation::two || webgpu.value().find("variants") == nullptr) return;
  const Node node = node_at(root, "/webgpu/variants");
  for (const auto& [id, files] : metadata.variants) {
    const Node entry = node_at(root, json::join_pointer("/webgpu/variants", id));
    const Variant* variant = model.variant(id);
    if (variant == nullptr) {
      std::vector<std::string> ids;
      for (const Variant& known : model.variants) ids.push_back(known.id);
      entry.fault(
          fmt::format("The variant ({}) of metadata.json is not in the manifest{}", id, suggestion(id, ids)));
      continue;
    }
    std::vector<std::string> sorted = files;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != variant->templates)
      entry.fault(fmt::format(
          "The templates of variant ({}) in metadata.json ({}) differ from those in the manifest ({})", id,
          join_names(sorted), join_names(variant->templates)));
  }
  for (const Variant& variant : model.variants) {
    const bool listed = std::any_of(metadata.variants.begin(), metadata.variants.end(),
                                    [&](const auto& entry) { return entry.first == variant.id; });
    if (!listed)
      node.fault(fmt::format("The variant ({}) of the manifest is missing in metadata.json", variant.id));
  }
}

const std::string* listed_digest(const Metadata& metadata, std::string_view file) noexcept {
  for (const auto& [name, digest] : metadata.digests)
    if (name == file) return &digest;
  return nullptr;
}

Node node_at(const Node& root, std::string_view pointer) {
  Node node = root;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t slash = pointer.find('/');
    std::string token(pointer.substr(0, slash));
    pointer = slash == std::string_view::npos ? std::string_view() : pointer.substr(slash);
    for (const auto& [escape, character] : {std::pair{"~1", '/'}, std::pair{"~0", '~'}})
      for (std::size_t at = token.find(escape); at != std::string::npos; at = token.find(escape, at + 1))
        token.replace(at, 2, 1, character);
    const json::Value* next = nullptr;
    if (node.value().is_array()) {
      std::size_t index = 0;
      for (const char c : token) index = index * 10 + static_cast<std::size_t>(c - '0');
      if (index < node.value().items().size()) next = &node.value().items()[index];
      if (next == nullptr) return node;
      node = node.child(index, *next);
    } else {
      next = node.value().find(token);
      if (next == nullptr) return node;
      node = node.child(token, *next);
    }
  }
  return node;
}

}  // namespace kernelpack::package
