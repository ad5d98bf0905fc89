#include <chrono>
#include <cstdint>

#include "c_api/failure.hpp"
#include "c_api/handles.hpp"
#include "c_api/options.hpp"
#include "kernelpack/json.hpp"

namespace kernelpack::c_api {
namespace {

/// Tells the caller how far a download is, and ends it if the caller says so.
std::function<void(const FetchProgress&)> progress_of(const kernelpack_kernel_options& given,
                                                      std::stop_source cancel) {
  if (given.on_progress == nullptr) return {};
  return [given, cancel = std::move(cancel)](const FetchProgress& progress) mutable {
    const kernelpack_progress told{sizeof told, progress.file.c_str(), progress.bytes, progress.files_done,
                                   progress.files_wanted};
    bool stop = true;
    try {
      stop = given.on_progress(given.user_data, &told) != 0;
    } catch (...) {
      // A callback of a C++ program that breaks its promise ends the download.
    }
    if (stop) cancel.request_stop();
  };
}

GetOptions options_of(const kernelpack_kernel_options& given) {
  std::stop_source cancel;
  GetOptions options;
  options.verify = given.skip_verification == 0;
  options.allow_missing_templates = given.allow_missing_templates != 0;
  if (given.version != 0) options.version = given.version;
  options.revision = text_or_empty(given.revision);
  options.expected_op_id = text_or_empty(given.expected_op_id);
  options.trust_remote_code = given.trust_remote_code != 0;
  options.token = text_or_empty(given.token);
  options.offline = given.offline != 0;
  options.cache_dir = text_or_empty(given.cache_folder);
  options.url_cache_dir = text_or_empty(given.url_cache_folder);
  options.endpoint = text_or_empty(given.endpoint);
  if (given.attempts < 0)
    throw Misuse{fmt::format("The attempts of options ({}) are negative", given.attempts)};
  if (given.attempts != 0) options.limits.attempts = given.attempts;
  if (given.connect_milliseconds != 0)
    options.limits.connect = std::chrono::milliseconds(given.connect_milliseconds);
  if (given.stall_milliseconds != 0)
    options.limits.stall = std::chrono::milliseconds(given.stall_milliseconds);
  options.cancel = cancel.get_token();
  options.progress = progress_of(given, std::move(cancel));
  return options;
}

}  // namespace
}  // namespace kernelpack::c_api

using namespace kernelpack::c_api;

kernelpack_status kernelpack_load_kernel(const char* source, const kernelpack_kernel_options* options,
                                         kernelpack_kernel** kernel) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(kernel, "kernel");
    require_pointer(source, "source");
    const kernelpack::GetOptions how = options_of(read_options(options, "options"));
    result =
        make_handle<kernelpack_kernel>(kernelpack::Kernel::get(source, how), how.allow_missing_templates);
  });
}

const char* kernelpack_get_kernel_op(const kernelpack_kernel* kernel) noexcept {
  return value_or<const char*>(__func__, nullptr,
                               [&] { return require(kernel, "kernel").kernel.package().op_id().c_str(); });
}

kernelpack_status kernelpack_inspect_kernel(const kernelpack_kernel* kernel, char** json) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(json, "json");
    result = copy_text(kernelpack::to_json(require(kernel, "kernel").kernel));
  });
}

void kernelpack_free_kernel(kernelpack_kernel* kernel) noexcept {
  delete kernel;
}
