#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "c_api/handles.hpp"
#include "kernelpack/kernel.hpp"

/// One call that is changed, bound and run any number of times. Its methods throw.
struct kernelpack_request {
 public:
  using Body = std::shared_ptr<const kernelpack::c_api::TensorBody>;
  /// A tensor of the request: its dtype and shape, and its values unless the caller left them out.
  struct Tensor {
    std::string name;
    kernelpack::TensorSpec spec;
    Body body;
  };

  explicit kernelpack_request(const kernelpack_kernel& kernel)
      : kernel_(kernel.kernel), allow_missing_templates_(kernel.allow_missing_templates) {}

  void set_input(std::string_view name, kernelpack::TensorSpec spec, Body body) {
    set(inputs_, name, std::move(spec), std::move(body));
  }
  void unset_input(std::string_view name) { unset(inputs_, name); }
  void set_destination(std::string_view name, kernelpack::TensorSpec spec, Body body) {
    set(destinations_, name, std::move(spec), std::move(body));
  }
  void unset_destination(std::string_view name) { unset(destinations_, name); }
  void want(kernelpack::WantedOutput wanted);
  void set_variant(std::string id);
  void set_value(kernelpack_value_kind kind, std::string_view name, kernelpack::AttributeValue value);
  void set_values(kernelpack_value_kind kind, kernelpack::NamedValues values);
  void unset_value(kernelpack_value_kind kind, std::string_view name);

  /// The call, bound if it is not or no longer.
  const kernelpack::Call& bind();
  void run(const kernelpack::Device* device);
  std::string plan(const kernelpack::Device* device, const char* facts, kernelpack_format format);
  std::string explain(const kernelpack::Device* device, const char* facts, kernelpack_format format);

  struct Result {
    std::string name;
    Body body;
  };
  const std::vector<Result>& results() const noexcept { return results_; }
  const Body& result(std::string_view name) const;

 private:
  void set(std::vector<Tensor>& tensors, std::string_view name, kernelpack::TensorSpec spec, Body body);
  void unset(std::vector<Tensor>& tensors, std::string_view name);
  kernelpack::NamedValues& values(kernelpack_value_kind kind);
  /// Whether the call runs on tensors of the GPU. Throws contract if only some of them lie there or if one
  /// has no values.
  bool require_one_place() const;
  void run_in_memory(const kernelpack::Device& device);
  void run_on_gpu(const kernelpack::Device& device);

  kernelpack::Kernel kernel_;
  bool allow_missing_templates_ = false;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> destinations_;
  kernelpack::BindOptions options_;  ///< without destinations
  std::optional<kernelpack::Call> call_;
  std::optional<kernelpack::Device> cpu_;
  std::vector<Result> results_;
};
