#pragma once

#include <utility>

namespace kernelpack::webgpu {

/// Owns one reference to a WebGPU object.
template <class T>
class Handle {
 public:
  using Release = void (*)(T);

  Handle() = default;
  Handle(T object, Release release) noexcept : object_(object), release_(release) {}
  Handle(Handle&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), release_(other.release_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = std::exchange(other.object_, nullptr);
      release_ = other.release_;
    }
    return *this;
  }
  ~Handle() { reset(); }

  T get() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void reset() noexcept {
    if (object_ != nullptr) release_(std::exchange(object_, nullptr));
  }

 private:
  T object_ = nullptr;
  Release release_ = nullptr;
};

}  // namespace kernelpack::webgpu
