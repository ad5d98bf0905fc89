#include "base/digest.hpp"

#include <openssl/evp.h>

#include <cstdint>

#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::optional<std::uint32_t> sextet(char c) {
  const std::size_t index = kAlphabet.find(c);
  if (index == std::string_view::npos) return std::nullopt;
  return static_cast<std::uint32_t>(index);
}

}  // namespace

Sha256 sha256(std::span<const std::byte> bytes) {
  Sha256 digest;
  unsigned length = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                              &length, EVP_sha256(), nullptr);
  if (done != 1 || length != digest.size()) {
    throw Error(ErrorKind::internal, "The cryptographic library cannot compute a SHA-256 digest");
  }
  return digest;
}

Sha256 sha256(std::string_view bytes) {
  return sha256(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

Sha1 sha1(std::string_view bytes) {
  Sha1 digest;
  unsigned length = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()),
                              &length, EVP_sha1(), nullptr);
  if (done != 1 || length != digest.size()) {
    throw Error(ErrorKind::internal, "The cryptographic library cannot compute a SHA-1 digest");
  }
  return digest;
}

std::string base64_encode(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = (group << 8) | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : kAlphabet[(group >> (18 - 6 * k)) & 0x3F];
    }
  }
  return text;
}

std::optional<std::vector<std::byte>> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool final_group = i + 4 == text.size();
    std::size_t padding = 0;
    if (final_group && text[i + 3] == '=') padding = text[i + 2] == '=' ? 2 : 1;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const auto value = k >= 4 - padding ? std::optional<std::uint32_t>(0) : sextet(text[i + k]);
      if (!value) return std::nullopt;
      group = (group << 6) | *value;
    }
    const std::uint32_t unused = padding == 2 ? 0xFFFF : padding == 1 ? 0xFF : 0;
    if ((group & unused) != 0) return std::nullopt;
    for (std::size_t k = 0; k < 3 - padding; ++k)
      bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * k)));
  }
  return bytes;
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{0x0F})];
  }
  return text;
}

}  // namespace kernelpack
