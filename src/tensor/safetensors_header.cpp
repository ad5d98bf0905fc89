#include "tensor/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/dtype.hpp"
#include "base/json.hpp"
#include "base/shape.hpp"
#include "base/utf8.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

constexpr std::string_view kMetadata = "__metadata__";

class HeaderReader {
 public:
  HeaderReader(const json::Document& document, std::size_t data_bytes)
      : document_(document), data_bytes_(data_bytes) {}

  std::vector<SafetensorsEntry> read() {
    if (!document_.root.is_object()) fail("The header is not a JSON object", document_.root, "");
    std::vector<SafetensorsEntry> entries;
    for (const json::Member& member : document_.root.members()) {
      const std::string pointer = json::join_pointer("", member.key);
      if (member.key == kMetadata)
        check_metadata(member.value, pointer);
      else
        entries.push_back(tensor(member.key, member.value, pointer));
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
                       return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
                     });
    check_coverage(entries);
    return entries;
  }

 private:
  [[noreturn]] void fail(std::string message, const json::Value& value, const std::string& pointer) const {
    throw error_at(ErrorKind::contract, std::move(message), Origin{document_.name, pointer}, document_.text,
                   value.span);
  }
  /// For faults of several tensors together, which have no one place.
  [[noreturn]] void fail(std::string message) const {
    throw Error(ErrorKind::contract, std::move(message), document_.name);
  }

  void check_metadata(const json::Value& value, const std::string& pointer) const {
    if (!value.is_object()) fail("The metadata is not an object", value, pointer);
    for (const json::Member& member : value.members()) {
      if (!member.value.is_string()) {
        fail(fmt::format("The metadata value ({}) is not a string", json::to_string(member.value.kind())),
             member.value, json::join_pointer(pointer, member.key));
      }
    }
  }

  const json::Value& field(const json::Value& entry, const std::string& pointer, std::string_view key,
                           json::Kind kind) const {
    const json::Value* value = entry.find(key);
    if (value == nullptr) fail(fmt::format("The tensor lacks the key ({})", key), entry, pointer);
    if (value->kind() != kind) {
      fail(fmt::format("The kind of the key {} ({}) differs from the expected one ({})", key,
                       json::to_string(value->kind()), json::to_string(kind)),
           *value, json::join_pointer(pointer, key));
    }
    return *value;
  }

  std::int64_t integer(const json::Value& value, const std::string& pointer, std::string_view what) const {
    if (!value.is_number() || value.number() != std::floor(value.number())) {
      fail(fmt::format("The {} ({}) is not an integer", what, clip(json::write(value))), value, pointer);
    }
    if (value.number() < 0)
      fail(fmt::format("The {} ({}) is negative", what, clip(json::write(value))), value, pointer);
    if (value.number() > static_cast<double>(kMaxExactInteger)) {
      fail(fmt::format("The {} ({}) exceeds 2^53 - 1 ({})", what, clip(json::write(value)), kMaxExactInteger),
           value, pointer);
    }
    return static_cast<std::int64_t>(value.number());
  }

  SafetensorsEntry tensor(const std::string& name, const json::Value& value,
                          const std::string& pointer) const {
    if (!value.is_object()) fail("The description of the tensor is not an object", value, pointer);
    for (const json::Member& member : value.members()) {
      if (member.key != "dtype" && member.key != "shape" && member.key != "data_offsets") {
        fail(fmt::format("The tensor has an unknown key ({})", clip(member.key)), member.value,
             json::join_pointer(pointer, member.key));
      }
    }
    SafetensorsEntry entry;
    entry.name = name;
    entry.spec.dtype = dtype(field(value, pointer, "dtype", json::Kind::string), pointer + "/dtype");

    const json::Value& shape = field(value, pointer, "shape", json::Kind::array);
    for (std::size_t i = 0; i < shape.items().size(); ++i) {
      entry.spec.shape.push_back(
          integer(shape.items()[i], json::join_pointer(pointer + "/shape", i), "dimension"));
    }
    const auto bytes = tensor_bytes(entry.spec, shape, pointer);

    const json::Value& offsets = field(value, pointer, "data_offsets", json::Kind::array);
    const std::string offsets_pointer = pointer + "/data_offsets";
    if (offsets.items().size() != 2) {
      fail(fmt::format("The number of data offsets ({}) is not 2", offsets.items().size()), offsets,
           offsets_pointer);
    }
    entry.begin =
        static_cast<std::size_t>(integer(offsets.items()[0], offsets_pointer + "/0", "data offset"));
    entry.end = static_cast<std::size_t>(integer(offsets.items()[1], offsets_pointer + "/1", "data offset"));
    if (entry.end < entry.begin || entry.end > data_bytes_) {
      fail(fmt::format("The data offsets ({}, {}) are not in order within the data ({} bytes)", entry.begin,
                       entry.end, data_bytes_),
           offsets, offsets_pointer);
    }
    if (entry.end - entry.begin != bytes) {
      fail(fmt::format("The size between the data offsets ({} bytes) differs from the size of the tensor "
                       "({}, {} bytes)",
                       entry.end - entry.begin, to_string(entry.spec), bytes),
           offsets, offsets_pointer);
    }
    return entry;
  }

  DType dtype(const json::Value& value, const std::string& pointer) const {
    for (const DTypeInfo& row : dtype_table()) {
      if (row.safetensors == value.string()) return row.dtype;
    }
    fail(fmt::format("The dtype of the tensor ({}) is not supported", clip(value.string())), value, pointer);
  }

  std::size_t tensor_bytes(const TensorSpec& spec, const json::Value& shape,
                           const std::string& pointer) const {
    try {
      return static_cast<std::size_t>(byte_count(spec));
    } catch (const Error& error) {
      fail(error.message(), shape, pointer + "/shape");
    }
  }

  void check_coverage(const std::vector<SafetensorsEntry>& entries) const {
    std::size_t covered = 0;
    for (const SafetensorsEntry& entry : entries) {
      if (entry.begin < covered) {
        fail(fmt::format("The data of tensor {} (bytes {} to {}) overlap those of another tensor (up to {})",
                         json::quote(clip(entry.name)), entry.begin, entry.end, covered));
      }
      if (entry.begin > covered) {
        fail(fmt::format("The data before tensor {} (bytes {} to {}) belong to no tensor",
                         json::quote(clip(entry.name)), covered, entry.begin));
      }
      covered = entry.end;
    }
    if (covered != data_bytes_) {
      fail(fmt::format(
          "The size of the data ({} bytes) differs from the size that the tensors cover ({} bytes)",
          data_bytes_, covered));
    }
  }

  const json::Document& document_;
  std::size_t data_bytes_;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text, std::size_t data_bytes,
                                                       const std::string& file) {
  if (!text.starts_with('{')) {
    throw Error(ErrorKind::contract, "The header of the .safetensors file does not begin with a brace", file);
  }
  Budgets budgets;
  budgets.json_bytes = kSafetensorsLongestHeader;
  budgets.json_values = 8'000'000;
  const json::Document document = json::parse(std::string(text), file, budgets, ErrorKind::contract);
  return HeaderReader(document, data_bytes).read();
}

SafetensorsLayout lay_out_safetensors(std::span<const NamedTensorView> tensors, const std::string& file) {
  constexpr std::size_t kBlock = 64;
  SafetensorsLayout layout;
  std::set<std::string_view> names;
  for (const NamedTensorView& tensor : tensors) {
    if (tensor.name == kMetadata || find_invalid_utf8(tensor.name)) {
      throw Error(ErrorKind::contract,
                  fmt::format("The name of a tensor ({}) cannot be used in a .safetensors file",
                              json::quote(clip(tensor.name))),
                  file);
    }
    if (!names.insert(tensor.name).second) {
      throw Error(ErrorKind::contract,
                  fmt::format("The name of a tensor ({}) occurs twice", json::quote(clip(tensor.name))),
                  file);
    }
    layout.order.push_back(&tensor);
  }
  std::stable_sort(layout.order.begin(), layout.order.end(),
                   [](const NamedTensorView* a, const NamedTensorView* b) {
                     return element_size(a->tensor.dtype()) > element_size(b->tensor.dtype());
                   });
  std::string text = "{";
  std::size_t offset = 0;
  for (const NamedTensorView* tensor : layout.order) {
    const std::size_t end = offset + tensor->tensor.byte_size();
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                        layout.order.front() == tensor ? "" : ",", json::quote(tensor->name),
                        info(tensor->tensor.dtype()).safetensors, fmt::join(tensor->tensor.shape(), ","),
                        offset, end);
    offset = end;
  }
  text += '}';
  text.resize((kSafetensorsPrefix + text.size() + kBlock - 1) / kBlock * kBlock - kSafetensorsPrefix, ' ');
  if (text.size() > kSafetensorsLongestHeader) {
    throw Error(
        ErrorKind::contract,
        fmt::format(
            "The header of the .safetensors file ({} bytes) exceeds the limit of the format ({} bytes)",
            text.size(), kSafetensorsLongestHeader),
        file);
  }
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) {
    layout.preamble += static_cast<char>((text.size() >> (8 * i)) & 0xFF);
  }
  layout.preamble += text;
  return layout;
}

}  // namespace kernelpack
