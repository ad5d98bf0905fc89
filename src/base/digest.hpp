#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpack {

using Sha256 = std::array<std::byte, 32>;

Sha256 sha256(std::span<const std::byte> bytes);
Sha256 sha256(std::string_view bytes);

using Sha1 = std::array<std::byte, 20>;

/// For the object names of git only, never as a proof against forgery.
Sha1 sha1(std::string_view bytes);

/// Standard alphabet, padded.
std::string base64_encode(std::span<const std::byte> bytes);
/// Strict: standard alphabet, padding required, no white space, unused bits zero. Nothing if malformed.
std::optional<std::vector<std::byte>> base64_decode(std::string_view text);

/// Lower-case hexadecimal.
std::string hex(std::span<const std::byte> bytes);

}  // namespace kernelpack
