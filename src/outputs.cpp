#include <fmt/format.h>

#include "kernelpack/error.hpp"
#include "kernelpack/kernel.hpp"
#include "package/suggest.hpp"
#include "run_request.hpp"

namespace kernelpack {

Tensor& Outputs::operator[](std::string_view name) {
  std::vector<std::string> names;
  for (Entry& entry : entries_) {
    if (entry.name == name) return entry.tensor;
    names.push_back(entry.name);
  }
  throw_no_output(name, names);
}

void throw_no_output(std::string_view name, const std::vector<std::string>& names) {
  throw Error(ErrorKind::contract,
              fmt::format("The results hold no output {}{}", name, package::suggestion(name, names)),
              fmt::format("output {}", name));
}

const Tensor& Outputs::operator[](std::string_view name) const {
  return const_cast<Outputs&>(*this)[name];
}

}  // namespace kernelpack
