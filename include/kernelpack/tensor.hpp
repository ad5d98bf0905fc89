#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kernelpack {

/// Element types of host tensors. The names (`to_string`) are those of the package format; float64 exists for
/// reference files only and is never accepted by a package.
enum class DType : std::uint8_t {
  float16,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint32,
  bool_
};

/// "float32", ..., "bool".
std::string_view to_string(DType dtype) noexcept;
/// The dtype of that name, or nothing.
std::optional<DType> parse_dtype(std::string_view name) noexcept;
/// Bytes of one element on the host: float16 2, bool 1, int64 8, ...
std::size_t element_size(DType dtype) noexcept;

/// An IEEE binary16 number as its bits. Conversions round to nearest even, keep subnormals and overflow to
/// infinity.
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value) noexcept;
  static constexpr Float16 from_bits(std::uint16_t bits) noexcept {
    Float16 half;
    half.bits = bits;
    return half;
  }
  explicit operator float() const noexcept;
};

/// Dimensions, outermost first; each >= 0. An empty shape is a scalar (one element).
using Shape = std::vector<std::int64_t>;

/// "[8, 12, 42, 42]"; beyond 64 dimensions the rest is only counted.
std::string to_string(const Shape& shape);
/// The product of the dimensions (1 for a scalar). Throws contract if a dimension is negative or the product
/// exceeds 2^53 - 1.
std::int64_t element_count(const Shape& shape);

/// The dtype that a C++ element type stands for. bool tensors hold `bool`.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, Float16>)
    return DType::float16;
  else if constexpr (std::is_same_v<U, float>)
    return DType::float32;
  else if constexpr (std::is_same_v<U, double>)
    return DType::float64;
  else if constexpr (std::is_same_v<U, bool>)
    return DType::bool_;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U> && sizeof(U) == 1)
    return DType::int8;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U> && sizeof(U) == 2)
    return DType::int16;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U> && sizeof(U) == 4)
    return DType::int32;
  else if constexpr (std::is_integral_v<U> && std::is_signed_v<U> && sizeof(U) == 8)
    return DType::int64;
  else if constexpr (std::is_integral_v<U> && std::is_unsigned_v<U> && sizeof(U) == 1)
    return DType::uint8;
  else if constexpr (std::is_integral_v<U> && std::is_unsigned_v<U> && sizeof(U) == 4)
    return DType::uint32;
  else
    static_assert(!sizeof(U), "no tensor dtype for this element type");
}

/// What a tensor is without its values.
struct TensorSpec {
  DType dtype = DType::float32;
  Shape shape;
  bool operator==(const TensorSpec&) const = default;
};

/// "float32[8, 12, 42, 42]".
std::string to_string(const TensorSpec& spec);

/// Borrowed, read-only, contiguous row-major values. The memory must outlive the view; it needs only the
/// natural alignment of one element, and may be null when there are no elements.
class TensorView {
 public:
  /// No elements: float32[0]. A view that was moved from is in the same state.
  TensorView() = default;
  /// Throws contract unless `bytes` holds exactly the elements of `shape` and is aligned to one of them.
  TensorView(DType dtype, Shape shape, std::span<const std::byte> bytes);
  /// A view of typed memory: `TensorView::of<float>(values, {2, 3})`.
  template <class T>
  static TensorView of(std::span<const T> values, Shape shape) {
    return TensorView(dtype_of<T>(), std::move(shape), std::as_bytes(values));
  }
  TensorView(const TensorView&) = default;
  TensorView& operator=(const TensorView&) = default;
  TensorView(TensorView&& other) noexcept { swap(other); }
  TensorView& operator=(TensorView&& other) noexcept {
    TensorView taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~TensorView() = default;

  DType dtype() const noexcept { return spec_.dtype; }
  const Shape& shape() const noexcept { return spec().shape; }
  const TensorSpec& spec() const noexcept { return spec_.shape.empty() && count_ == 0 ? nothing() : spec_; }
  std::int64_t element_count() const noexcept { return count_; }
  std::span<const std::byte> bytes() const noexcept { return {data_, byte_size()}; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t byte_size() const noexcept {
    return static_cast<std::size_t>(count_) * element_size(spec_.dtype);
  }
  /// The values as `T`. Throws contract if `T` is not the element type.
  template <class T>
  std::span<const T> values() const {
    require_dtype(dtype_of<T>());
    return {reinterpret_cast<const T*>(data_), static_cast<std::size_t>(count_)};
  }

 protected:
  void require_dtype(DType wanted) const;

 private:
  /// float32[0], which a view without shape and elements stands for: the default costs no allocation.
  static const TensorSpec& nothing() noexcept;
  void swap(TensorView& other) noexcept {
    std::swap(spec_.dtype, other.spec_.dtype);
    spec_.shape.swap(other.spec_.shape);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
  }

  TensorSpec spec_;
  std::int64_t count_ = 0;
  const std::byte* data_ = nullptr;
};

/// Borrowed, writable, contiguous row-major memory; otherwise as TensorView, to which it converts.
class MutableTensorView : public TensorView {
 public:
  MutableTensorView() = default;
  MutableTensorView(DType dtype, Shape shape, std::span<std::byte> bytes)
      : TensorView(dtype, std::move(shape), bytes) {}
  template <class T>
  static MutableTensorView of(std::span<T> values, Shape shape) {
    return MutableTensorView(dtype_of<T>(), std::move(shape), std::as_writable_bytes(values));
  }
  std::byte* data() const noexcept { return const_cast<std::byte*>(TensorView::data()); }
  std::span<std::byte> bytes() const noexcept { return {data(), byte_size()}; }
  template <class T>
  std::span<T> values() const {
    require_dtype(dtype_of<T>());
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(element_count())};
  }
};

/// A tensor that owns its bytes: contiguous, row-major, aligned to 64 bytes. Copying copies the values; a
/// tensor that was moved from is empty (float32[0]).
class Tensor {
 public:
  Tensor() = default;
  /// Zeros. Throws contract for an impossible shape and std::bad_alloc for one that does not fit in memory.
  explicit Tensor(TensorSpec spec);
  Tensor(DType dtype, Shape shape) : Tensor(TensorSpec{dtype, std::move(shape)}) {}
  /// A copy of the viewed values.
  explicit Tensor(const TensorView& view);
  /// A tensor whose values the kernel is about to write: the memory is not cleared.
  static Tensor uninitialized(TensorSpec spec);
  template <class T>
  static Tensor from(const std::vector<T>& values, Shape shape) {
    return Tensor(TensorView::of<T>(std::span<const T>(values), std::move(shape)));
  }

  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;
  ~Tensor() = default;

  DType dtype() const noexcept { return view_.dtype(); }
  const Shape& shape() const noexcept { return view_.shape(); }
  const TensorSpec& spec() const noexcept { return view_.spec(); }
  std::int64_t element_count() const noexcept { return view_.element_count(); }
  std::size_t byte_size() const noexcept { return view_.byte_size(); }
  const std::byte* data() const noexcept { return view_.data(); }
  std::byte* data() noexcept { return view_.data(); }
  template <class T>
  std::span<const T> values() const {
    return std::as_const(view_).template values<T>();
  }
  template <class T>
  std::span<T> values() {
    return view_.values<T>();
  }
  const TensorView& view() const noexcept { return view_; }
  const MutableTensorView& mutable_view() noexcept { return view_; }
  operator const TensorView&() const noexcept { return view_; }

 private:
  struct Release {
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte[], Release> memory_;
  MutableTensorView view_;
};

/// Reads a NumPy .npy file, format versions 1.0 to 3.0. Big-endian values and Fortran order are converted to
/// native row-major; a bool byte other than 0 becomes 1. A pipe or device is read to its end, at most 1 GiB.
/// Throws io if the file cannot be read and contract if it is not a well-formed .npy file of a known dtype;
/// the error names the file and the fault.
Tensor read_npy(const std::filesystem::path& path);
/// Writes format version 1.0 (2.0 for a header above 65535 bytes), little-endian, row-major. A regular file
/// appears whole or not at all: written beside the target and renamed over it; any other kind of target (a
/// pipe, a device) is written directly. Throws io.
void write_npy(const std::filesystem::path& path, const TensorView& tensor);

/// A .safetensors file mapped into memory: the views borrow from it and are valid while it lives. A tensor
/// whose elements are not aligned in the file, or whose bool bytes are not all 0 or 1 (other than 0 becomes
/// 1), is copied instead. The file must not be shortened while it is mapped. A pipe or device is read to its
/// end, at most 1 GiB. Thread-safe.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    TensorView tensor;
  };
  /// Maps the file and checks its whole header (names, dtypes, shapes, offsets without gaps or overlap).
  /// Throws io if the file cannot be read and contract, naming the file and the fault, if it is malformed.
  explicit SafetensorsFile(const std::filesystem::path& path);
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;
  ~SafetensorsFile();

  /// In the order of their data in the file; none after a move.
  const std::vector<Entry>& entries() const noexcept;
  /// The tensor of that name; throws contract, listing the names, if there is none.
  const TensorView& at(std::string_view name) const;

 private:
  struct Mapping;
  std::unique_ptr<Mapping> mapping_;
};

/// A tensor to write, with its name in the file.
struct NamedTensorView {
  std::string name;
  TensorView tensor;
};
/// Writes a .safetensors file, whole or not at all as `write_npy`; tensors with larger elements come first,
/// so that all are aligned. Names must be unique. Throws io or contract.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensorView> tensors);

}  // namespace kernelpack
