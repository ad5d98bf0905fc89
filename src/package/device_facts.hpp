#pragma once

#include <string>

#include "base/json.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/plan.hpp"

namespace kernelpack::package {

/// The facts of a device that a value of the document describes, as DeviceFacts::from_json reads them.
/// `pointer` is that of the value. Throws `kind`, with the place, for the first fault.
DeviceFacts read_device_facts(const json::Document& document, const json::Value& value,
                              const std::string& pointer, ErrorKind kind);

}  // namespace kernelpack::package
