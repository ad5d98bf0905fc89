#include "c_api/failure.hpp"

#include <array>
#include <exception>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernelpack/error.hpp"

namespace kernelpack::c_api {
namespace {

constexpr std::array<const char*, 16> kStatusNames = {
    "ok",    "package", "integrity", "trust", "expression",  "template", "contract", "no_variant",
    "limit", "device",  "shader",    "io",    "unsupported", "internal", "argument", "memory"};

constexpr kernelpack_status status_of(ErrorKind kind) noexcept {
  return static_cast<kernelpack_status>(kind) + 1;
}
static_assert(status_of(ErrorKind::package) == KERNELPACK_ERROR_PACKAGE);
static_assert(status_of(ErrorKind::contract) == KERNELPACK_ERROR_CONTRACT);
static_assert(status_of(ErrorKind::io) == KERNELPACK_ERROR_IO);
static_assert(status_of(ErrorKind::internal) == KERNELPACK_ERROR_INTERNAL);

struct LastError {
  kernelpack_status status = KERNELPACK_OK;
  std::string message;
  std::string where;
  std::string excerpt;
  std::vector<std::string> context;
  std::string report;

  /// Frees, and so never fails.
  void clear() noexcept { *this = LastError(); }
};

LastError& last_error() noexcept {
  thread_local LastError error;
  return error;
}

void keep(LastError& last, kernelpack_status status, const Error& error) {
  LastError kept{status, error.message(), error.where(), error.excerpt(), error.context(), error.report()};
  last = std::move(kept);
}

// For what is no Error.
void keep(LastError& last, kernelpack_status status, const std::string& message, const char* where) {
  LastError kept{status, message, where, {}, {}, {}};
  kept.report = fmt::format("{}: {} ({})", kStatusNames[static_cast<std::size_t>(status)], message, where);
  last = std::move(kept);
}

void keep_exception(LastError& last, const char* function) {
  try {
    throw;
  } catch (const Error& error) {
    keep(last, status_of(error.kind()), error);
  } catch (const Misuse& misuse) {
    keep(last, KERNELPACK_ERROR_ARGUMENT, misuse.message, function);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    keep(last, KERNELPACK_ERROR_INTERNAL, error.what(), function);
  } catch (...) {
    keep(last, KERNELPACK_ERROR_INTERNAL, "An exception of unknown type is thrown", function);
  }
}

// Texts for an error that must not allocate.
constexpr const char* kMemoryMessage = "Memory is exhausted";
constexpr const char* kMemoryReport = "memory: Memory is exhausted";

bool is_memory() noexcept {
  return last_error().status == KERNELPACK_ERROR_MEMORY;
}

}  // namespace

void require_pointer(const void* pointer, const char* argument) {
  if (pointer == nullptr) throw Misuse{fmt::format("The argument {} is NULL", argument)};
}

kernelpack_status record_exception(const char* function) noexcept {
  LastError& last = last_error();
  try {
    keep_exception(last, function);
  } catch (...) {
    // Memory is exhausted, or became so on the way.
    last.clear();
    last.status = KERNELPACK_ERROR_MEMORY;
  }
  return last.status;
}

}  // namespace kernelpack::c_api

using namespace kernelpack::c_api;

const char* kernelpack_get_status_name(kernelpack_status status) noexcept {
  if (status < 0 || static_cast<std::size_t>(status) >= kStatusNames.size()) return "unknown";
  return kStatusNames[static_cast<std::size_t>(status)];
}

const char* kernelpack_get_version() noexcept {
  return KERNELPACK_VERSION;
}

kernelpack_status kernelpack_check_abi(int32_t abi_version) noexcept {
  return guard(__func__, [&] {
    if (abi_version != KERNELPACK_ABI_VERSION)
      throw kernelpack::Error(
          kernelpack::ErrorKind::unsupported,
          fmt::format("The program is compiled for another version of the C interface ({}) than that of the "
                      "library ({})",
                      abi_version, KERNELPACK_ABI_VERSION));
  });
}

kernelpack_status kernelpack_get_error_status() noexcept {
  return last_error().status;
}
const char* kernelpack_get_error_kind() noexcept {
  return kernelpack_get_status_name(last_error().status);
}
const char* kernelpack_get_error_message() noexcept {
  return is_memory() ? kMemoryMessage : last_error().message.c_str();
}
const char* kernelpack_get_error_where() noexcept {
  return last_error().where.c_str();
}
const char* kernelpack_get_error_excerpt() noexcept {
  return last_error().excerpt.c_str();
}
size_t kernelpack_get_error_context_count() noexcept {
  return last_error().context.size();
}
const char* kernelpack_get_error_context(size_t index) noexcept {
  const auto& context = last_error().context;
  return index < context.size() ? context[index].c_str() : "";
}
const char* kernelpack_get_error_report() noexcept {
  return is_memory() ? kMemoryReport : last_error().report.c_str();
}
void kernelpack_clear_error() noexcept {
  last_error().clear();
}
