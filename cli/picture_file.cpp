#include "picture_file.hpp"

#include <png.h>

#include <vector>

#include <fmt/format.h>

#include "kernelpack/error.hpp"
#include "kernelpack/file.hpp"

namespace kernelpack::cli {
namespace {

std::vector<std::byte> encode(const Canvas& canvas, const std::filesystem::path& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(canvas.width());
  image.height = static_cast<png_uint_32>(canvas.height());
  image.format = PNG_FORMAT_RGB;
  static_assert(sizeof(Rgb) == 3);
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> bytes(size);
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, canvas.pixels().data(), 0, nullptr) == 0) {
    throw Error(ErrorKind::internal, fmt::format("The picture cannot be encoded ({})", image.message),
                path.string());
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

void write_png(const std::filesystem::path& path, const Canvas& canvas) {
  write_file(path, encode(canvas, path));
}

}  // namespace kernelpack::cli
