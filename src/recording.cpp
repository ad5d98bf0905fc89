#include "kernelpack/webgpu_interop.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {

Recording::Recording() : work_(std::make_unique<webgpu::RecordedWork>()) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

void Recording::add(Batch& batch, WGPUCommandEncoderImpl* encoder) {
  work_->add(*batch.submission_, encoder);
}

std::size_t Recording::size() const noexcept {
  return work_->size();
}

void Recording::release() noexcept {
  work_->clear();
}

}  // namespace kernelpack
