#include "package/file_name.hpp"

#include <algorithm>

namespace kernelpack::package {

std::optional<std::string> file_name_fault(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name == "." || name == "..") return "it names a folder";
  if (name.find('/') != std::string_view::npos || name.find('\\') != std::string_view::npos)
    return "it holds a separator";
  if (name.size() > 255) return "it is longer than 255 bytes";
  const bool control = std::any_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
  if (control) return "it holds a control character";
  return std::nullopt;
}

}  // namespace kernelpack::package
