#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack::cli {

/// Reads the tensors that a command names and keeps them alive. A .safetensors file is mapped once.
class TensorReader {
 public:
  /// The view is valid while the reader lives. Throws Error (io, contract) naming the file.
  TensorView read(const TensorFile& file);

 private:
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> mapped_;
};

struct TensorTarget {
  std::string name;  ///< of the output
  TensorFile file;
};

/// Throws UsageError if two outputs would overwrite each other.
void require_distinct(std::span<const TensorTarget> targets);

/// Writes `tensors[i]` to `targets[i]`, those of one .safetensors file together. Throws Error.
void write_tensors(std::span<const TensorTarget> targets, std::span<const TensorView> tensors);

}  // namespace kernelpack::cli
