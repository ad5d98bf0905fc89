#pragma once

#define KERNELPACK_INLINE __attribute__((always_inline)) inline
#define KERNELPACK_INLINE_LAMBDA __attribute__((always_inline))
#if defined(__clang__)
#define KERNELPACK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define KERNELPACK_UNROLL _Pragma("GCC unroll 32")
#endif

// Only constants, macros and templates that are instantiated with types of one target may live here: an
// ordinary inline function would be compiled with the instructions of several targets and the linker would
// keep any of them.
namespace kernelpack::cpu {
namespace {

inline constexpr float kLog2E = 0x1.715476p+0f;
inline constexpr float kLn2 = 0x1.62e43p-1f;
inline constexpr float kLn2Rest = -0x1.05c61p-29f;  ///< ln(2) - kLn2
inline constexpr float kRound = 0x1.8p+23f;         ///< adding it rounds to an integer that the low bits hold
inline constexpr float kLargest = 0x1.fffffep+127f;

struct Maximum {
  template <class V, class T>
  KERNELPACK_INLINE static T apply(T a, T b) {
    return V::max(a, b);
  }
};

struct Sum {
  template <class V, class T>
  KERNELPACK_INLINE static T apply(T a, T b) {
    return V::add(a, b);
  }
};

}  // namespace
}  // namespace kernelpack::cpu
