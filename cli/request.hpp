#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>

#include "arguments.hpp"
#include "kernelpack/kernel.hpp"
#include "kernelpack/request.hpp"
#include "package_source.hpp"
#include "tensor_file.hpp"

namespace kernelpack::cli {

/// The options by which every command says a request, as given.
struct RequestFlags {
  PackageFlags package;
  std::vector<std::string> inputs;
  std::vector<std::string> destinations;
  std::vector<std::string> wanted;
  std::vector<std::string> aliases;
  std::vector<std::string> attributes;
  std::vector<std::string> arguments;
  std::vector<std::string> tunables;
  std::string variant;
};

/// Adds PACKAGE and the options of RequestFlags, which must outlive the command.
void add_request_options(CLI::App& command, RequestFlags& flags);

/// "float32:8x12x48" or "float32[8,12,48]"; "float32:" and "float32[]" are scalars. Nothing if the text does
/// not begin with a dtype and ':' or '['. Throws UsageError if what follows is no shape.
std::optional<TensorSpec> parse_spec(std::string_view option, std::string_view text);

/// A request understood, not yet held against a package.
struct StatedRequest {
  std::vector<std::pair<std::string, std::variant<TensorFile, TensorSpec>>> inputs;
  BindOptions options;
  std::vector<TensorBuffer> buffers;  ///< of the tensors that --alias names
};
/// Throws UsageError.
StatedRequest understand(const RequestFlags& flags);

/// The request of a file in the form that --request takes. Throws Error.
Request read_request(const std::string& file, const Package& package);

/// The specs of the inputs; files are read with `reader`. Throws Error naming the file.
std::vector<NamedSpec> input_specs(const StatedRequest& request, TensorReader& reader);

/// Where a request and a device come from for the commands that plan.
struct PlanFlags {
  RequestFlags request;
  std::string request_file;
  std::string facts_file;
  std::string device;   ///< "gpu" or "gpu:NAME"; empty: none
  std::string library;  ///< of the device
  bool allow_missing_templates = false;
};
/// Adds the options of PlanFlags.
void add_plan_options(CLI::App& command, PlanFlags& flags);

/// A request bound to its package, and the device to plan it for.
struct BoundRequest {
  Kernel kernel;
  Call call;
  DeviceFacts facts;
  PlanOptions options;
};
/// Loads the package, reads the files that the flags name and binds. Throws UsageError or Error.
BoundRequest bind_request(const PlanFlags& flags);

}  // namespace kernelpack::cli
