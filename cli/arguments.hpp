#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/call.hpp"

namespace kernelpack::cli {

/// "NAME=VALUE" of the option `option`.
struct Assignment {
  std::string name;
  std::string value;
};

/// Throws UsageError unless there is a name (letters, digits, '_', not a digit first), '=' and a value.
Assignment parse_assignment(std::string_view option, std::string_view text);
/// All of them; throws UsageError if a name occurs twice.
std::vector<Assignment> parse_assignments(std::string_view option, const std::vector<std::string>& texts);
/// Whether the text begins with a name and '='.
bool is_assignment(std::string_view text) noexcept;

/// JSON if the text parses as JSON, else the text itself. Throws UsageError for a JSON object, which no
/// attribute can hold, and for lists nested deeper than 32.
AttributeValue parse_attribute(std::string_view option, const Assignment& assignment);
NamedValues parse_attributes(std::string_view option, const std::vector<std::string>& texts);

/// A place for a tensor: "scores.npy" or "model.safetensors:name".
struct TensorFile {
  std::filesystem::path path;
  bool safetensors = false;
  std::string entry;  ///< name inside a .safetensors file; may be empty
};
/// A ".safetensors" file is one whose name ends so; everything else is taken as .npy. Throws UsageError if
/// empty.
TensorFile parse_tensor_file(std::string_view option, std::string_view text);

/// "0,3" -> {0, 3}; "" -> {}. Throws UsageError unless all are integers.
std::vector<std::int64_t> parse_index(std::string_view option, std::string_view text);

}  // namespace kernelpack::cli
