#pragma once

#include <memory>
#include <string>

#include "kernelpack/kernel.hpp"
#include "package/model.hpp"

namespace kernelpack::contract {

/// The model of a manifest given as text, read like a bare package. Throws if it has a fault.
std::shared_ptr<const package::Model> model_of(const std::string& manifest, bool older = false);

/// The error that `run` throws; a failure of the test if it throws none.
template <class Run>
Error error_of(const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::internal, "nothing is thrown");
}

}  // namespace kernelpack::contract
