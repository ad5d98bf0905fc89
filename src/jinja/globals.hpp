#pragma once

#include "expr/scope.hpp"

namespace kernelpack::jinja {

/// What every template has besides its scope (format.md 9.4): range, namespace, raise_exception.
const expr::Scope& globals() noexcept;

}  // namespace kernelpack::jinja
