#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/dtype.hpp"
#include "base/file.hpp"
#include "base/input_file.hpp"
#include "base/shape.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/tensor.hpp"
#include "tensor/bool_bytes.hpp"
#include "tensor/npy_header.hpp"

namespace kernelpack {
namespace {

/// The bytes of a file with a known end: a regular file is read in place, any other is taken into memory
/// first, up to a limit.
class Source {
 public:
  explicit Source(const std::filesystem::path& path) : file_(path, InputKind::any) {
    constexpr std::size_t kStreamLimit = std::size_t{1} << 30;
    if (file_.size()) {
      remaining_ = *file_.size();
    } else {
      content_ = file_.read_rest(kStreamLimit);
      remaining_ = content_.size();
    }
  }

  std::uint64_t remaining() const { return remaining_; }

  /// Fills `bytes` as far as the file goes; the number of bytes read.
  std::size_t read(std::span<std::byte> bytes) {
    bytes = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), remaining_)));
    if (bytes.empty()) return 0;
    std::size_t count = bytes.size();
    if (file_.size()) {
      count = file_.read(bytes);
    } else {
      std::memcpy(bytes.data(), content_.data() + content_.size() - remaining_, count);
    }
    remaining_ -= count;
    return count;
  }

 private:
  InputFile file_;
  std::string content_;
  std::uint64_t remaining_ = 0;
};

NpyHeader read_header(Source& source, const std::string& file) {
  std::vector<std::byte> prefix(kNpyPrefix);
  prefix.resize(source.read(prefix));
  const std::size_t length_bytes = npy_length_bytes(prefix, file);
  prefix.resize(8 + length_bytes);
  if (const std::size_t rest = prefix.size() - kNpyPrefix;
      source.read(std::span(prefix).last(rest)) != rest) {
    throw Error(ErrorKind::contract, "The .npy file ends within the length of its header", file);
  }
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= std::to_integer<std::size_t>(prefix[8 + i]) << (8 * i);
  }
  if (length > source.remaining()) {
    throw Error(ErrorKind::contract,
                fmt::format("The length of the header ({} bytes) exceeds what the .npy file holds ({} bytes)",
                            length, source.remaining()),
                file);
  }
  if (length > kNpyLongestHeader) {
    throw Error(ErrorKind::contract,
                fmt::format("The length of the header ({} bytes) exceeds the limit for .npy files ({} bytes)",
                            length, kNpyLongestHeader),
                file);
  }
  std::string text(length, '\0');
  text.resize(source.read(std::as_writable_bytes(std::span(text))));
  return parse_npy_header(text, file);
}

void swap_bytes(std::span<std::byte> bytes, std::size_t element) {
  for (std::size_t i = 0; i < bytes.size(); i += element) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + element));
  }
}

/// Reads column-major elements in the order of a row-major tensor.
Tensor to_row_major(const Tensor& columns) {
  const Shape& shape = columns.shape();
  const std::size_t size = element_size(columns.dtype());
  Tensor rows = Tensor::uninitialized(columns.spec());
  if (rows.byte_size() == 0) return rows;
  std::vector<std::size_t> strides(shape.size());
  std::size_t stride = size;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    strides[i] = stride;
    stride *= static_cast<std::size_t>(shape[i]);
  }
  std::vector<std::int64_t> index(shape.size());
  std::size_t from = 0;
  for (std::size_t to = 0; to < rows.byte_size(); to += size) {
    std::memcpy(rows.data() + to, columns.data() + from, size);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return rows;
}

}  // namespace

Tensor read_npy(const std::filesystem::path& path) {
  const std::string file = path.string();
  Source source(path);
  NpyHeader header = read_header(source, file);
  std::uint64_t needed = 0;
  try {
    needed = static_cast<std::uint64_t>(byte_count(header.spec));
  } catch (Error& error) {
    error.set_where(file);
    throw;
  }
  // Before any allocation: the shape is only as trustworthy as the file is long.
  if (needed != source.remaining()) {
    throw Error(
        ErrorKind::contract,
        fmt::format(
            "The size of the values ({} bytes) differs from the size that the header gives ({}, {} bytes)",
            source.remaining(), to_string(header.spec), needed),
        file);
  }
  const bool reorder = header.fortran_order && header.spec.shape.size() > 1;
  Tensor tensor = Tensor::uninitialized(std::move(header.spec));
  if (source.read({tensor.data(), tensor.byte_size()}) != tensor.byte_size()) {
    throw Error(ErrorKind::io, "The file became shorter while it was read", file);
  }
  if (header.big_endian) swap_bytes({tensor.data(), tensor.byte_size()}, element_size(tensor.dtype()));
  if (tensor.dtype() == DType::bool_) normalize_bools({tensor.data(), tensor.byte_size()});
  return reorder ? to_row_major(tensor) : std::move(tensor);
}

void write_npy(const std::filesystem::path& path, const TensorView& tensor) {
  const std::string preamble = npy_preamble(tensor.spec());
  write_file(path, [&](const WritePiece& write) {
    write(std::as_bytes(std::span(preamble)));
    write(tensor.bytes());
  });
}

}  // namespace kernelpack
