// softmax(data + bias) by oneDNN 2, for peers.py: its addition, then its softmax in place.
#include <omp.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

namespace {

/// Primitives of one case, which lie ready as an application would keep them. The tensors are borrowed.
/// oneDNN adds fast only where the bias has one row of a matrix: all bias rows are such a row if each is used
/// once in turn, else each is added to the rows that use it.
class Case {
 public:
  Case(std::int64_t rows, std::int64_t columns, std::int64_t bias_rows, std::int64_t repeat, float* data,
       float* bias, float* output)
      : stream_(engine_),
        slabs_(repeat == 1 ? 1 : rows / repeat),
        bias_rows_(repeat == 1 ? 1 : bias_rows),
        width_(repeat == 1 ? bias_rows * columns : columns),
        height_(rows * columns / width_ / slabs_),
        data_(data),
        bias_(bias),
        output_(output),
        slab_data_(matrix(height_, width_), engine_, data),
        slab_bias_(matrix(1, width_), engine_, bias),
        slab_output_(matrix(height_, width_), engine_, output),
        all_(matrix(rows, columns), engine_, output),
        add_({{dnnl::algorithm::binary_add, slab_data_.get_desc(), slab_bias_.get_desc(),
               slab_output_.get_desc()},
              engine_}),
        softmax_({{dnnl::prop_kind::forward_inference, all_.get_desc(), 3}, engine_}) {}

  void run() {
    for (std::int64_t slab = 0; slab < slabs_; ++slab) {
      slab_data_.set_data_handle(data_ + slab * height_ * width_);
      slab_bias_.set_data_handle(bias_ + slab % bias_rows_ * width_);
      slab_output_.set_data_handle(output_ + slab * height_ * width_);
      add_.execute(
          stream_,
          {{DNNL_ARG_SRC_0, slab_data_}, {DNNL_ARG_SRC_1, slab_bias_}, {DNNL_ARG_DST, slab_output_}});
    }
    softmax_.execute(stream_, {{DNNL_ARG_SRC, all_}, {DNNL_ARG_DST, all_}});
    stream_.wait();
  }

 private:
  static dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns) {
    return {{1, 1, rows, columns}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::abcd};
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_;
  std::int64_t slabs_, bias_rows_, width_, height_;
  float *data_, *bias_, *output_;
  dnnl::memory slab_data_, slab_bias_, slab_output_, all_;
  dnnl::binary add_;
  dnnl::softmax_forward softmax_;
};

std::unique_ptr<Case> current;

}  // namespace

#define KERNELPACK_PEERS_EXPORT extern "C" __attribute__((visibility("default")))

/// Prepares the case that kernelpack_peers_onednn_run computes; 0 if oneDNN has nothing for it. Debian's
/// library runs on OpenMP, and primitives keep the number of threads that they are made with.
KERNELPACK_PEERS_EXPORT int kernelpack_peers_onednn_prepare(std::int64_t rows, std::int64_t columns,
                                                            std::int64_t bias_rows, std::int64_t repeat,
                                                            float* data, float* bias, float* output,
                                                            int threads) {
  try {
    omp_set_num_threads(threads);
    current = std::make_unique<Case>(rows, columns, bias_rows, repeat, data, bias, output);
    return 1;
  } catch (const std::exception&) {
    return 0;
  }
}

KERNELPACK_PEERS_EXPORT void kernelpack_peers_onednn_run(int times) {
  for (int i = 0; i < times; ++i) current->run();
}
