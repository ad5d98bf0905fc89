#include "base/binaries.hpp"

#include <dlfcn.h>

#include <system_error>

namespace kernelpack {

std::filesystem::path running_program() {
  std::error_code failed;
  auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::filesystem::path() : path;
}

std::filesystem::path own_binary() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&own_binary), &own) == 0 || own.dli_fname == nullptr) return {};
  std::error_code failed;
  auto path = std::filesystem::canonical(own.dli_fname, failed);
  return failed ? std::filesystem::path() : path;
}

}  // namespace kernelpack
