#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelpack::expr {

/// Reproducible mutations of texts: bytes changed, removed, inserted, doubled, or a run cut out.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : state_(seed) {}

  /// A number below `count`.
  std::size_t below(std::size_t count) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state_ >> 33) % count);
  }

  std::string mutate(std::string text) {
    constexpr std::string_view kBytes = "()[]{}{}.,:|+-*/%~<>=!'\"\\#0129 aex_\n\t&$\xC3\xA9\xED\xA0\x80\xFF";
    for (std::size_t edits = below(4) == 0 ? 3 : 1; edits > 0; --edits) {
      const std::size_t at = below(text.size() + 1);
      const char byte = kBytes[below(kBytes.size())];
      switch (below(5)) {
        case 0:
          text.insert(at, 1, byte);
          break;
        case 1:
          if (at < text.size()) text[at] = byte;
          break;
        case 2:
          text.erase(at, 1 + below(4));
          break;
        case 3: {
          const std::size_t from = below(text.size() + 1);
          const std::size_t length = 1 + below(12);
          text.insert(at, text.substr(from, length));
          break;
        }
        default:
          text.insert(at, text.substr(at, 1 + below(24)));
          break;
      }
    }
    return text;
  }

 private:
  std::uint64_t state_;
};

}  // namespace kernelpack::expr
