#include "usage.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace kernelpack::cli {
namespace {

/// The command that was given, or the program.
const CLI::App& innermost(const CLI::App& program) {
  const auto given = program.get_subcommands();
  return given.empty() ? program : *given.front();
}

std::string command_fault(const CLI::App& program) {
  const std::vector<std::string> rest = program.remaining();
  if (rest.empty()) return "No command is given";
  if (rest.front().starts_with('-')) return fmt::format("The option {} is unknown", rest.front());
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands(std::function<bool(const CLI::App*)>{})) {
    names.push_back(command->get_name());
  }
  return fmt::format("The command ({}) is unknown; known: {}", rest.front(), fmt::join(names, ", "));
}

std::string surplus_fault(const CLI::App& program) {
  const std::vector<std::string> rest = program.remaining(true);
  if (rest.empty()) return "An argument is not expected";
  return rest.front().starts_with('-') ? fmt::format("The option {} is unknown", rest.front())
                                       : fmt::format("The argument ({}) is not expected", rest.front());
}

/// The texts of CLI11 begin with the option: "--repeat: Value 0 not in range 1 to 9".
struct OptionFault {
  std::string option;
  std::string text;
};

OptionFault split(std::string_view message) {
  const std::size_t colon = message.find(": ");
  if (colon == std::string_view::npos) return {{}, std::string(message)};
  return {std::string(message.substr(0, colon)), std::string(message.substr(colon + 2))};
}

std::string value_fault(std::string_view message) {
  constexpr std::string_view kValue = "Value ";
  constexpr std::string_view kRange = " not in range ";
  const auto [option, text] = split(message);
  constexpr std::string_view kSet = " not in {";
  const std::size_t set = text.rfind(kSet);
  if (set != std::string::npos && text.ends_with('}')) {
    const std::string names = text.substr(set + kSet.size(), text.size() - 1 - set - kSet.size());
    return fmt::format("The value of {} ({}) is none of {}", option, text.substr(0, set), names);
  }
  const std::size_t range = text.rfind(kRange);
  if (!text.starts_with(kValue) || range == std::string::npos) {
    return option.empty() ? text : fmt::format("The value of {} {}", option, text);
  }
  return fmt::format("The value of {} ({}) is not in the range {}", option,
                     text.substr(kValue.size(), range - kValue.size()), text.substr(range + kRange.size()));
}

std::string count_fault(std::string_view message) {
  const auto [option, text] = split(message);
  if (text.find("At Most 1") != std::string::npos) {
    return fmt::format("The option {} is given more than once", option);
  }
  if (text.find("required") != std::string::npos) return fmt::format("The option {} has no value", option);
  return std::string(message);
}

/// Not by name: the name of an error of surplus arguments is that of the command.
template <class Kind>
bool is_a(const CLI::ParseError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

std::string fault_of(const CLI::App& program, const CLI::ParseError& error) {
  const std::string what = error.what();
  const CLI::App& command = innermost(program);
  if (&command == &program) return command_fault(program);
  if (is_a<CLI::ExtrasError>(error)) return surplus_fault(program);
  if (is_a<CLI::ValidationError>(error)) return value_fault(what);
  if (is_a<CLI::ArgumentMismatch>(error)) return count_fault(what);
  if (is_a<CLI::RequiredError>(error)) {
    const std::string_view name = std::string_view(what).substr(0, what.find(' '));
    return fmt::format("{} is missing", name);
  }
  return what;
}

}  // namespace

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = innermost(program);
  return fmt::format("{}; see {}{} --help", fault_of(program, error), program.get_name(),
                     &command == &program ? "" : ' ' + command.get_name());
}

}  // namespace kernelpack::cli
