#pragma once

#include <string>
#include <vector>

#include "comparison.hpp"
#include "execution.hpp"
#include "json.hpp"
#include "tensor_file.hpp"

namespace kernelpack::cli {

struct Check {
  std::string output;
  std::string file;
  Comparison comparison;
};

/// What `kernelpack run` has to tell.
struct RunReport {
  std::string device;
  const Execution& execution;
  const std::vector<TensorTarget>& targets;
  const std::vector<Check>& checks;
};

std::string to_text(const RunReport& report);
Json to_json(const RunReport& report);

}  // namespace kernelpack::cli
