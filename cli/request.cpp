#include "request.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "failure.hpp"
#include "gpu_choice.hpp"
#include "kernelpack/file.hpp"
#include "kernelpack/tuning.hpp"

namespace kernelpack::cli {
namespace {

constexpr std::size_t kLargestText = 16u << 20;

Shape parse_shape(std::string_view option, std::string_view text, char separator, std::string_view whole) {
  Shape shape;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view item = text.substr(0, end);
    std::int64_t dim = 0;
    const auto [rest, fault] = std::from_chars(item.data(), item.data() + item.size(), dim);
    if (fault != std::errc{} || rest != item.data() + item.size() || dim < 0 || end + 1 == text.size())
      throw UsageError(
          fmt::format("The shape in the value of {} ({}) is not a list of dimensions", option, whole));
    shape.push_back(dim);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shape;
}

TensorSpec require_spec(std::string_view option, const Assignment& assignment) {
  if (auto spec = parse_spec(option, assignment.value)) return *spec;
  throw UsageError(fmt::format("The value of {} {} ({}) is not of the form DTYPE:SHAPE such as float32:8x16",
                               option, assignment.name, assignment.value));
}

/// "x,y" -> {"x", "y"}
std::vector<std::string> parse_alias(const std::string& text) {
  std::vector<std::string> names;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    names.emplace_back(rest.substr(0, comma));
    if (names.back().empty()) break;
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
  }
  if (names.size() < 2 || names.back().empty())
    throw UsageError(fmt::format("The value of --alias ({}) is not a list of tensors such as x,y", text));
  return names;
}

}  // namespace

std::optional<TensorSpec> parse_spec(std::string_view option, std::string_view text) {
  const std::size_t end = text.find_first_of(":[");
  if (end == std::string_view::npos) return std::nullopt;
  const std::optional<DType> dtype = parse_dtype(text.substr(0, end));
  if (!dtype) return std::nullopt;
  std::string_view dims = text.substr(end + 1);
  if (text[end] == ':') return TensorSpec{*dtype, parse_shape(option, dims, 'x', text)};
  if (dims.empty() || dims.back() != ']')
    throw UsageError(fmt::format("The value of {} ({}) has no closing bracket", option, text));
  dims.remove_suffix(1);
  return TensorSpec{*dtype, parse_shape(option, dims, ',', text)};
}

void add_request_options(CLI::App& command, RequestFlags& flags) {
  const auto many = [&](const char* name, std::vector<std::string>& into, const char* type,
                        const char* about) {
    command.add_option(name, into, about)->allow_extra_args(false)->type_name(type);
  };
  add_package_options(command, flags.package);
  many("--input", flags.inputs, "NAME=FILE|SPEC",
       "The tensor of input NAME: FILE.npy, FILE.safetensors:TENSOR, or only its dtype and shape, written "
       "float32:8x12x48 or float32[8,12,48]. Once for each input.");
  many("--destination", flags.destinations, "NAME=SPEC",
       "The dtype and shape of an output that the caller fixes.");
  many("--want", flags.wanted, "NAME[=SPEC]",
       "Ask for an optional output; its dtype and shape where the contract does not give them.");
  many("--alias", flags.aliases, "NAME,NAME", "These tensors are one buffer.");
  many("--attr", flags.attributes, "NAME=VALUE",
       "An attribute. VALUE is JSON if it parses as JSON (3, true, [0,1], \"text\"), else a string.");
  many("--arg", flags.arguments, "NAME=VALUE", "A scalar argument of the contract, written as for --attr.");
  many("--tunable", flags.tunables, "NAME=VALUE", "A tunable, declared or not, written as for --attr.");
  command.add_option("--variant", flags.variant, "The only variant to consider.")->type_name("ID");
}

StatedRequest understand(const RequestFlags& flags) {
  StatedRequest request;
  for (const Assignment& input : parse_assignments("--input", flags.inputs)) {
    if (const auto spec = parse_spec("--input", input.value))
      request.inputs.emplace_back(input.name, *spec);
    else
      request.inputs.emplace_back(input.name, parse_tensor_file("--input", input.value));
  }
  for (const Assignment& destination : parse_assignments("--destination", flags.destinations))
    request.options.destinations.push_back({destination.name, require_spec("--destination", destination)});
  for (const std::string& wanted : flags.wanted) {
    if (!is_assignment(wanted)) {
      request.options.wanted.push_back({wanted, std::nullopt});
    } else {
      const Assignment assignment = parse_assignment("--want", wanted);
      request.options.wanted.push_back({assignment.name, require_spec("--want", assignment)});
    }
  }
  request.options.attributes = parse_attributes("--attr", flags.attributes);
  request.options.arguments = parse_attributes("--arg", flags.arguments);
  request.options.tunables = parse_attributes("--tunable", flags.tunables);
  request.options.variant = flags.variant;
  for (const std::string& alias : flags.aliases)
    for (const std::string& name : parse_alias(alias)) request.buffers.push_back({name, alias, 0});
  return request;
}

std::vector<NamedSpec> input_specs(const StatedRequest& request, TensorReader& reader) {
  std::vector<NamedSpec> specs;
  for (const auto& [name, source] : request.inputs) {
    if (const auto* spec = std::get_if<TensorSpec>(&source))
      specs.push_back({name, *spec});
    else
      specs.push_back({name, reader.read(std::get<TensorFile>(source)).spec()});
  }
  return specs;
}

Request read_request(const std::string& file, const Package& package) {
  return Request::from_json(read_input(file, kLargestText), file, package);
}

void add_plan_options(CLI::App& command, PlanFlags& flags) {
  add_request_options(command, flags.request);
  command
      .add_option(
          "--request", flags.request_file,
          "Read the request from a JSON file instead: {\"tensors\": {NAME: {\"shape\": [...], \"dtype\": "
          "..., "
          "\"buffer\": LABEL}}, \"attrs\": {...}, \"args\": {...}, \"outputs\": [...], \"tunables\": {...}, "
          "\"variant\": ...}.")
      ->type_name("FILE");
  command
      .add_option(
          "--facts", flags.facts_file,
          "The device to plan for, a JSON file: {\"features\": [...], \"wgslLanguageFeatures\": [...], "
          "\"limits\": {...}, \"adapterInfo\": {...}}. Default: WebGPU's default limits and no features.")
      ->type_name("FILE");
  add_device_option(command, flags.device, false,
                    "Plan for this GPU, with its profile (kernelpack tune) where there is one: gpu, or "
                    "gpu:NAME for the "
                    "adapter that has NAME in its name.");
  command
      .add_option("--library", flags.library, "The WebGPU library of --device: dawn, wgpu-native, or a file.")
      ->type_name("LIBRARY");
  command.add_flag("--allow-missing-templates", flags.allow_missing_templates,
                   "Accept a package whose templates are absent; its passes have no WGSL then.");
}

BoundRequest bind_request(const PlanFlags& flags) {
  StatedRequest stated = understand(flags.request);
  if (!flags.request_file.empty()) {
    const RequestFlags& given = flags.request;
    for (const auto* list : {&given.inputs, &given.destinations, &given.wanted, &given.aliases,
                             &given.attributes, &given.arguments, &given.tunables})
      if (!list->empty() || !given.variant.empty())
        throw UsageError("The option --request excludes the options that say a request");
  }
  const Kernel kernel = get_kernel(flags.request.package, flags.allow_missing_templates);
  BoundRequest bound{
      kernel,
      {},
      {},
      {.allow_missing_templates = flags.allow_missing_templates, .buffers = {}, .profile = {}}};
  if (!flags.device.empty()) {
    if (!flags.facts_file.empty()) throw UsageError("The options --facts and --device exclude each other");
    const Device device = failing_with(
        ExitCode::environment, [&] { return Device::open(gpu_options(flags.device, flags.library, false)); });
    bound.facts = device.facts();
    Tuning tuning = find_tuning(kernel.package(), device);
    for (const std::string& note : tuning.notes) print_note(note);
    bound.options.profile = std::move(tuning.tunables);
  } else if (!flags.library.empty()) {
    throw UsageError("The option --library needs --device");
  }
  if (!flags.facts_file.empty())
    bound.facts = failing_with(ExitCode::input, [&] {
      return DeviceFacts::from_json(read_input(flags.facts_file, kLargestText), flags.facts_file);
    });
  if (!flags.request_file.empty()) {
    Request request = read_request(flags.request_file, kernel.package());
    bound.call = request.bind(kernel.package());
    bound.options.buffers = std::move(request.buffers);
  } else {
    TensorReader reader;
    bound.call = kernel.bind(input_specs(stated, reader), stated.options);
    bound.options.buffers = std::move(stated.buffers);
  }
  return bound;
}

}  // namespace kernelpack::cli
