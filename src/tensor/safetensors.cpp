#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <system_error>

#include "base/file.hpp"
#include "base/input_file.hpp"
#include "base/utf8.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/tensor.hpp"
#include "tensor/bool_bytes.hpp"
#include "tensor/safetensors_header.hpp"

namespace kernelpack {
namespace {

/// The whole content of a file: mapped if it is a regular one, else read into memory up to a limit.
class Content {
 public:
  explicit Content(const std::filesystem::path& path) {
    InputFile file(path, InputKind::any);
    if (file.size()) {
      map(file);
    } else {
      constexpr std::size_t kStreamLimit = std::size_t{1} << 30;
      const std::string text = file.read_rest(kStreamLimit);
      owned_ = Tensor::uninitialized({DType::uint8, {static_cast<std::int64_t>(text.size())}});
      if (!text.empty()) std::memcpy(owned_.data(), text.data(), text.size());
      bytes_ = owned_.view().bytes();
    }
  }
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content() {
    if (mapped_ != nullptr) ::munmap(mapped_, bytes_.size());
  }

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void map(const InputFile& file) {
    const auto size = static_cast<std::size_t>(*file.size());
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (memory == MAP_FAILED) {
      throw Error(ErrorKind::io,
                  fmt::format("The file cannot be mapped ({})", std::generic_category().message(errno)),
                  file.path().string());
    }
    mapped_ = memory;
    bytes_ = {static_cast<const std::byte*>(memory), size};
  }

  void* mapped_ = nullptr;
  Tensor owned_;
  std::span<const std::byte> bytes_;
};

std::size_t header_length(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < kSafetensorsPrefix) {
    throw Error(ErrorKind::contract,
                fmt::format("The .safetensors file ends within its first {} bytes (at {})",
                            kSafetensorsPrefix, bytes.size()),
                file);
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) {
    length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  if (length > kSafetensorsLongestHeader) {
    throw Error(ErrorKind::contract,
                fmt::format("The length of the header ({} bytes) exceeds the limit of the format ({} bytes)",
                            length, kSafetensorsLongestHeader),
                file);
  }
  if (length > bytes.size() - kSafetensorsPrefix) {
    throw Error(
        ErrorKind::contract,
        fmt::format("The length of the header ({} bytes) exceeds what the .safetensors file holds ({} bytes)",
                    length, bytes.size() - kSafetensorsPrefix),
        file);
  }
  return static_cast<std::size_t>(length);
}

bool is_aligned(std::span<const std::byte> bytes, DType dtype) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % element_size(dtype) == 0;
}

}  // namespace

struct SafetensorsFile::Mapping {
  explicit Mapping(const std::filesystem::path& path) : name(path.string()), content(path) {
    const std::span<const std::byte> bytes = content.bytes();
    const std::size_t length = header_length(bytes, name);
    const auto data = bytes.subspan(kSafetensorsPrefix + length);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kSafetensorsPrefix, length);
    for (SafetensorsEntry& entry : parse_safetensors_header(text, data.size(), name)) {
      add(std::move(entry), data);
    }
  }

  /// A view of the mapped bytes, or of a copy where they are no valid elements as they lie there.
  void add(SafetensorsEntry entry, std::span<const std::byte> data) {
    const auto bytes = data.subspan(entry.begin, entry.end - entry.begin);
    const bool usable =
        is_aligned(bytes, entry.spec.dtype) && (entry.spec.dtype != DType::bool_ || are_bools(bytes));
    TensorView view;
    if (usable) {
      view = TensorView(entry.spec.dtype, std::move(entry.spec.shape), bytes);
    } else {
      Tensor copy = Tensor::uninitialized(std::move(entry.spec));
      if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
      if (copy.dtype() == DType::bool_) normalize_bools({copy.data(), copy.byte_size()});
      view = copy.view();
      copies.push_back(std::move(copy));
    }
    index.emplace(entry.name, entries.size());
    entries.push_back({std::move(entry.name), std::move(view)});
  }

  std::string name;
  Content content;
  std::vector<Tensor> copies;
  std::vector<Entry> entries;
  std::map<std::string, std::size_t, std::less<>> index;
};

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : mapping_(std::make_unique<Mapping>(path)) {}
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;
SafetensorsFile::~SafetensorsFile() = default;

const std::vector<SafetensorsFile::Entry>& SafetensorsFile::entries() const noexcept {
  static const std::vector<Entry> kNone;
  return mapping_ ? mapping_->entries : kNone;
}

const TensorView& SafetensorsFile::at(std::string_view name) const {
  if (mapping_) {
    if (const auto found = mapping_->index.find(name); found != mapping_->index.end()) {
      return mapping_->entries[found->second].tensor;
    }
  }
  if (entries().empty()) {
    throw Error(ErrorKind::contract,
                fmt::format("The file holds no tensor at all, nor one named {}", clip(name)),
                mapping_ ? mapping_->name : std::string());
  }
  constexpr std::size_t kMostNames = 20;
  std::vector<std::string> names;
  for (const Entry& entry : entries()) {
    if (names.size() == kMostNames) {
      names.push_back(fmt::format("{} more", entries().size() - kMostNames));
      break;
    }
    names.push_back(clip(entry.name));
  }
  throw Error(ErrorKind::contract,
              fmt::format("The file holds no tensor of that name ({}); its tensors are ({})", clip(name),
                          fmt::join(names, ", ")),
              mapping_ ? mapping_->name : std::string());
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensorView> tensors) {
  const SafetensorsLayout layout = lay_out_safetensors(tensors, path.string());
  write_file(path, [&](const WritePiece& write) {
    write(std::as_bytes(std::span(layout.preamble)));
    for (const NamedTensorView* tensor : layout.order) write(tensor->tensor.bytes());
  });
}

}  // namespace kernelpack
