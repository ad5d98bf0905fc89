#include "c_api/failure.hpp"
#include "c_api/options.hpp"
#include "c_api/request.hpp"
#include "kernelpack/json.hpp"
#include "plan/request_values.hpp"

using namespace kernelpack::c_api;
using kernelpack::AttributeValue;
using kernelpack::ErrorKind;

namespace {

std::string_view require_text(const char* text, const char* argument) {
  return &require(text, argument);
}

const kernelpack::Device* device_of(const kernelpack_device* device) noexcept {
  return device == nullptr ? nullptr : &device->device;
}

kernelpack::json::Document parse_value(const char* json, const char* argument) {
  return kernelpack::json::parse(&require(json, argument), argument, {}, ErrorKind::contract);
}

kernelpack_status set_value(const char* function, kernelpack_request* request, kernelpack_value_kind kind,
                            const char* name, const auto& value) noexcept {
  return guard(function, [&] {
    kernelpack_request& changed = require(request, "request");
    changed.set_value(kind, require_text(name, "name"), value());
  });
}

}  // namespace

kernelpack_status kernelpack_create_request(const kernelpack_kernel* kernel,
                                            kernelpack_request** request) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(request, "request");
    result = make_handle<kernelpack_request>(require(kernel, "kernel"));
  });
}

void kernelpack_free_request(kernelpack_request* request) noexcept {
  delete request;
}

kernelpack_status kernelpack_set_input(kernelpack_request* request, const char* name,
                                       const kernelpack_tensor* tensor) noexcept {
  return guard(__func__, [&] {
    kernelpack_request& changed = require(request, "request");
    const std::string_view input = require_text(name, "name");
    if (tensor == nullptr)
      changed.unset_input(input);
    else
      changed.set_input(input, tensor->body->spec(), tensor->body);
  });
}

kernelpack_status kernelpack_set_input_spec(kernelpack_request* request, const char* name,
                                            kernelpack_dtype dtype, const int64_t* shape,
                                            size_t rank) noexcept {
  return guard(__func__, [&] {
    kernelpack_request& changed = require(request, "request");
    changed.set_input(require_text(name, "name"), spec_of(dtype, shape, rank), nullptr);
  });
}

kernelpack_status kernelpack_set_destination(kernelpack_request* request, const char* name,
                                             kernelpack_tensor* tensor) noexcept {
  return guard(__func__, [&] {
    kernelpack_request& changed = require(request, "request");
    const std::string_view output = require_text(name, "name");
    if (tensor == nullptr) return changed.unset_destination(output);
    if (!tensor->body->writable())
      throw kernelpack::Error(
          ErrorKind::contract,
          fmt::format("The memory of destination {} is the caller's and may only be read", output),
          fmt::format("output {}", output));
    changed.set_destination(output, tensor->body->spec(), tensor->body);
  });
}

kernelpack_status kernelpack_set_destination_spec(kernelpack_request* request, const char* name,
                                                  kernelpack_dtype dtype, const int64_t* shape,
                                                  size_t rank) noexcept {
  return guard(__func__, [&] {
    kernelpack_request& changed = require(request, "request");
    changed.set_destination(require_text(name, "name"), spec_of(dtype, shape, rank), nullptr);
  });
}

kernelpack_status kernelpack_want_output(kernelpack_request* request, const char* name) noexcept {
  return guard(__func__, [&] {
    kernelpack_request& changed = require(request, "request");
    changed.want({std::string(require_text(name, "name")), std::nullopt});
  });
}

kernelpack_status kernelpack_want_output_spec(kernelpack_request* request, const char* name,
                                              kernelpack_dtype dtype, const int64_t* shape,
                                              size_t rank) noexcept {
  return guard(__func__, [&] {
    kernelpack_request& changed = require(request, "request");
    changed.want({std::string(require_text(name, "name")), spec_of(dtype, shape, rank)});
  });
}

kernelpack_status kernelpack_set_variant(kernelpack_request* request, const char* id) noexcept {
  return guard(__func__, [&] { require(request, "request").set_variant(text_or_empty(id)); });
}

kernelpack_status kernelpack_set_bool(kernelpack_request* request, kernelpack_value_kind kind,
                                      const char* name, int32_t value) noexcept {
  return set_value(__func__, request, kind, name, [&] { return AttributeValue(value != 0); });
}

kernelpack_status kernelpack_set_number(kernelpack_request* request, kernelpack_value_kind kind,
                                        const char* name, double value) noexcept {
  return set_value(__func__, request, kind, name, [&] { return AttributeValue(value); });
}

kernelpack_status kernelpack_set_string(kernelpack_request* request, kernelpack_value_kind kind,
                                        const char* name, const char* value) noexcept {
  return set_value(__func__, request, kind, name,
                   [&] { return AttributeValue(require_text(value, "value")); });
}

kernelpack_status kernelpack_set_numbers(kernelpack_request* request, kernelpack_value_kind kind,
                                         const char* name, const double* values, size_t count) noexcept {
  return set_value(__func__, request, kind, name, [&] {
    if (count != 0) require_pointer(values, "values");
    return AttributeValue(AttributeValue::List(values, values + count));
  });
}

kernelpack_status kernelpack_set_json(kernelpack_request* request, kernelpack_value_kind kind,
                                      const char* name, const char* json) noexcept {
  return set_value(__func__, request, kind, name, [&] {
    const kernelpack::json::Document document = parse_value(json, "json");
    return kernelpack::plan::read_request_value(document, document.root, "");
  });
}

kernelpack_status kernelpack_set_values(kernelpack_request* request, kernelpack_value_kind kind,
                                        const char* json) noexcept {
  return guard(__func__, [&] {
    kernelpack_request& changed = require(request, "request");
    const kernelpack::json::Document document = parse_value(json, "json");
    changed.set_values(kind, kernelpack::plan::read_request_values(document, document.root, ""));
  });
}

kernelpack_status kernelpack_unset_value(kernelpack_request* request, kernelpack_value_kind kind,
                                         const char* name) noexcept {
  return guard(__func__, [&] { require(request, "request").unset_value(kind, require_text(name, "name")); });
}

kernelpack_status kernelpack_bind_request(kernelpack_request* request, char** json) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(json, "json");
    result = copy_text(kernelpack::to_json(require(request, "request").bind()));
  });
}

kernelpack_status kernelpack_run_request(kernelpack_request* request,
                                         const kernelpack_device* device) noexcept {
  return guard(__func__, [&] { require(request, "request").run(device_of(device)); });
}

size_t kernelpack_get_output_count(const kernelpack_request* request) noexcept {
  return value_or<size_t>(__func__, 0, [&] { return require(request, "request").results().size(); });
}

const char* kernelpack_get_output_name(const kernelpack_request* request, size_t index) noexcept {
  return value_or<const char*>(__func__, nullptr, [&] {
    const auto& results = require(request, "request").results();
    if (index >= results.size())
      throw Misuse{
          fmt::format("The index ({}) is not less than the number of results ({})", index, results.size())};
    return results[index].name.c_str();
  });
}

kernelpack_status kernelpack_get_output(const kernelpack_request* request, const char* name,
                                        kernelpack_tensor** tensor) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(tensor, "tensor");
    const kernelpack_request& ran = require(request, "request");
    result = make_handle<kernelpack_tensor>(ran.result(require_text(name, "name")));
  });
}

kernelpack_status kernelpack_plan_request(kernelpack_request* request, const kernelpack_device* device,
                                          const char* facts, kernelpack_format format, char** text) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(text, "text");
    result = copy_text(require(request, "request").plan(device_of(device), facts, format));
  });
}

kernelpack_status kernelpack_explain_request(kernelpack_request* request, const kernelpack_device* device,
                                             const char* facts, kernelpack_format format,
                                             char** text) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(text, "text");
    result = copy_text(require(request, "request").explain(device_of(device), facts, format));
  });
}
