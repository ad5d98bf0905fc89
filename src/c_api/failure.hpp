#pragma once

#include <string>

#include "kernelpack/kernelpack.h"

// The boundary of the C interface: the only place that turns exceptions into status codes.
namespace kernelpack::c_api {

/// A fault of the caller that C++ programs cannot commit: NULL, an unknown constant, a wrong struct_size. A
/// sentence without its period.
struct Misuse {
  std::string message;
};

/// Keeps the exception that is being handled as this thread's last error. `function` lives for ever.
kernelpack_status record_exception(const char* function) noexcept;

/// The status of `body()`, which may throw anything.
template <class Body>
kernelpack_status guard(const char* function, Body&& body) noexcept {
  try {
    body();
    return KERNELPACK_OK;
  } catch (...) {
    return record_exception(function);
  }
}

/// The result of `body()`, or `otherwise` after an exception.
template <class Value, class Body>
Value value_or(const char* function, Value otherwise, Body&& body) noexcept {
  Value value = otherwise;
  return guard(function, [&] { value = body(); }) == KERNELPACK_OK ? value : otherwise;
}

/// Throws Misuse for NULL.
void require_pointer(const void* pointer, const char* argument);

/// What the pointer points to. Throws Misuse for NULL.
template <class T>
T& require(T* pointer, const char* argument) {
  require_pointer(pointer, argument);
  return *pointer;
}

/// Where a result is stored, which is NULL until there is one.
template <class T>
T*& require_result(T** pointer, const char* argument) {
  T*& result = require(pointer, argument);
  result = nullptr;
  return result;
}

}  // namespace kernelpack::c_api
