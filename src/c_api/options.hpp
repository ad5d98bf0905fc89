#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "c_api/failure.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::c_api {

/// Bytes of the struct in the first version that had it. Stays when fields are appended: a program may have
/// been compiled with any version since.
template <class Options>
inline constexpr std::size_t kFirstSize = sizeof(Options);

/// No struct grows beyond this; a larger size is no size.
inline constexpr std::size_t kLargestStruct = 4096;

/// The caller's struct as this version knows it; fields beyond the caller's are zero. All zeros for NULL,
/// where the caller may give none. Throws Misuse for a size that no version had, and unsupported if a field
/// is set that this version does not know.
template <class Options>
Options read_options(const Options* given, const char* name) {
  static_assert(std::is_trivially_copyable_v<Options> && std::has_unique_object_representations_v<Options>,
                "padding would become fields of a later version");
  Options options{};
  options.struct_size = sizeof(Options);
  if (given == nullptr) return options;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < kFirstSize<Options> || size > kLargestStruct)
    throw Misuse{fmt::format("The struct_size of {} ({}) is not the size of the struct (at least {})", name,
                             size, kFirstSize<Options>)};
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (std::any_of(bytes + std::min(size, sizeof(Options)), bytes + size,
                  [](unsigned char byte) { return byte != 0; }))
    throw Error(ErrorKind::unsupported,
                fmt::format("A field of {} is set that this version of kernelpack ({}) does not know", name,
                            kernelpack_get_version()));
  std::memcpy(&options, given, std::min(size, sizeof(Options)));
  options.struct_size = sizeof(Options);
  return options;
}

/// NULL is the empty text.
inline std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

/// A copy for the caller, who frees it with kernelpack_free_text.
char* copy_text(const std::string& text);

}  // namespace kernelpack::c_api
