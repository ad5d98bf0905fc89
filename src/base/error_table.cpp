#include "base/error_table.hpp"

#include <array>

namespace kernelpack {
namespace {

constexpr std::array<ErrorKindInfo, 13> kTable = {{
    {ErrorKind::package, "package", "metadata.json or manifest.json is malformed or contradicts itself",
     "The author of the package: the message gives the file, the JSON pointer, line and column"},
    {ErrorKind::integrity, "integrity",
     "a file differs from its digest, is not listed, or has a name that is not allowed",
     "Get the package again; an author seals it anew with tools/seal.py"},
    {ErrorKind::trust, "trust", "the publisher is not one that is trusted by default",
     "Read the package, then allow it explicitly"},
    {ErrorKind::expression, "expression",
     "an expression of the manifest does not parse or cannot be evaluated for the request",
     "The author of the package: a caret shows the place in the expression"},
    {ErrorKind::template_, "template", "a template does not parse or cannot be rendered",
     "The author of the package: the message gives file, line and column"},
    {ErrorKind::contract, "contract",
     "the inputs, dtypes, attributes, shapes or memory of a request do not fit the contract, or a tensor "
     "file is "
     "malformed",
     "The caller: `kernelpack inspect` prints the contract"},
    {ErrorKind::no_variant, "no_variant", "no variant of the package accepts the request on the device",
     "The message holds every variant's reason; `kernelpack explain` shows each clause with its value"},
    {ErrorKind::limit, "limit", "a dispatch, a buffer or a budget for untrusted input is exceeded",
     "A smaller request, a device with larger limits, or a larger budget"},
    {ErrorKind::device, "device", "a device or its library is missing, lost, or refuses a request",
     "`kernelpack devices` lists what was found"},
    {ErrorKind::shader, "shader", "the compiler of the device refuses a rendered shader",
     "The author of the package: `kernelpack render` prints the shader with line numbers"},
    {ErrorKind::io, "io", "a file or the network cannot be read or written",
     "The message gives the path and the cause that the system states"},
    {ErrorKind::unsupported, "unsupported", "kernelpack does not implement what is asked for",
     "Another version of the package, another device, or a newer kernelpack"},
    {ErrorKind::internal, "internal", "a fault of kernelpack itself",
     "Report it with the command that caused it"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].kind != static_cast<ErrorKind>(i)) return false;
  }
  return kTable.back().kind == ErrorKind::internal;
}
static_assert(in_order(), "the table is indexed by the kind");

}  // namespace

std::span<const ErrorKindInfo> error_table() noexcept {
  return kTable;
}

std::string_view to_string(ErrorKind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < kTable.size() ? kTable[index].name : "internal";
}

}  // namespace kernelpack
