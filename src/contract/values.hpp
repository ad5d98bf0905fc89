#pragma once

#include "kernelpack/call.hpp"
#include "package/model.hpp"

namespace kernelpack::contract {

/// The attributes of a call in declared order: those given, then defaults. Throws contract for an unknown or
/// repeated attribute, one that is required and missing, and a value that is not listed.
NamedValues bind_attributes(const package::Model& model, const NamedValues& given);

/// The scalars of a call in declared order. Throws contract for an unknown, repeated, missing or ill-typed
/// one.
NamedValues bind_arguments(const package::Model& model, const NamedValues& given);

/// Checks overrides of tunables: names, scalar values, no repetition. Undeclared names are allowed.
NamedValues bind_tunables(const NamedValues& given);

}  // namespace kernelpack::contract
