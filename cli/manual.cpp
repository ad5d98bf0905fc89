#include "manual.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "layout.hpp"

namespace kernelpack::cli {
namespace {

/// "PACKAGE", or "PACKAGE ..." where several may follow each other.
std::string operand(const CLI::Option& option) {
  return option.get_name(true, false) + (option.get_expected_max() > 1 ? " ..." : "");
}

/// "-h,--help" -> "-h, --help"
std::string spaced(std::string_view names) {
  std::string text;
  for (const char c : names) {
    text += c;
    if (c == ',') text += ' ';
  }
  return text;
}

std::string option_entry(const CLI::Option& option) {
  const bool positional = option.get_positional();
  std::string head = positional ? operand(option) : spaced(option.get_name(false, true));
  if (!positional && !option.get_type_name().empty()) head += ' ' + option.get_type_name();
  return fmt::format("  {}\n{}", head, wrapped(option.get_description(), 6));
}

}  // namespace

std::string Manual::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const CLI::App* parent = app->get_parent();
  const std::string name = parent == nullptr ? app->get_name() : parent->get_name() + ' ' + app->get_name();
  const std::string description = app->get_description();
  const std::size_t summary_end = std::min(description.find('\n'), description.size());

  std::string text = fmt::format("{} - {}\n\nUSAGE\n  {}", name, description.substr(0, summary_end), name);
  const auto positionals =
      app->get_options([](const CLI::Option* option) { return option->get_positional(); });
  for (const CLI::Option* option : positionals) text += ' ' + operand(*option);
  const auto commands = app->get_subcommands(std::function<bool(const CLI::App*)>{});
  text += commands.empty() ? " [OPTIONS]\n" : " COMMAND [OPTIONS]\n";

  if (summary_end < description.size()) {
    text += "\nDESCRIPTION\n" + wrapped(description.substr(summary_end + 1), 2);
  }
  if (!commands.empty()) {
    text += "\nCOMMANDS\n";
    for (const CLI::App* command : commands) {
      const std::string about = command->get_description();
      text += fmt::format("  {:<10}{}\n", command->get_name(), about.substr(0, about.find('\n')));
    }
  }
  text += "\nOPTIONS\n";
  for (const CLI::Option* option : positionals) text += option_entry(*option);
  for (const CLI::Option* option :
       app->get_options([](const CLI::Option* each) { return each->nonpositional(); })) {
    text += option_entry(*option);
  }
  if (parent != nullptr) {
    for (const CLI::Option* option : parent->get_options([&](const CLI::Option* each) {
           return each->nonpositional() && each != parent->get_help_ptr() &&
                  each != parent->get_version_ptr();
         })) {
      text += option_entry(*option);
    }
  }
  if (!app->get_footer().empty()) text += '\n' + app->get_footer();
  return text;
}

}  // namespace kernelpack::cli
