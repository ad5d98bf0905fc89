#include "plan/render.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "expr/text.hpp"
#include "jinja/enable_f16.hpp"

namespace kernelpack::plan {
namespace {

/// Extensions of WGSL that a device must have as features, and the features.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kExtensions{{
    {"f16", "shader-f16"},
    {"subgroups", "subgroups"},
    {"chromium_experimental_subgroup_matrix", "chromium-experimental-subgroup-matrix"},
}};

/// The names of an enable directive that begins at the line: "enable f16, subgroups;".
std::vector<std::string_view> enabled_names(std::string_view line) {
  constexpr std::string_view kEnable = "enable";
  line = expr::trim(line);
  if (!line.starts_with(kEnable) || line.size() == kEnable.size() || expr::is_word(line[kEnable.size()]))
    return {};
  line.remove_prefix(kEnable.size());
  const std::size_t end = line.find(';');
  if (end == std::string_view::npos) return {};
  line = line.substr(0, end);
  std::vector<std::string_view> names;
  while (!line.empty()) {
    const std::size_t comma = std::min(line.find(','), line.size());
    names.push_back(expr::trim(line.substr(0, comma)));
    line.remove_prefix(std::min(comma + 1, line.size()));
  }
  return names;
}

/// Templates of manifest 1.0 enable extensions themselves; those that the device lacks would not compile.
void check_enabled(std::string_view wgsl, const ExpandedPass& pass, const DeviceFacts& facts) {
  while (!wgsl.empty()) {
    const std::size_t end = std::min(wgsl.find('\n'), wgsl.size());
    for (const std::string_view name : enabled_names(wgsl.substr(0, end)))
      for (const auto& [extension, feature] : kExtensions)
        if (name == extension && !facts.has_feature(feature))
          throw Error(ErrorKind::shader,
                      fmt::format("The shader of pass {} enables {}, but the device lacks the feature {}",
                                  pass.id, name, feature),
                      pass.pass->shader);
    wgsl.remove_prefix(std::min(end + 1, wgsl.size()));
  }
}

}  // namespace

std::optional<std::string> render_pass(const package::Model& model, const ExpandedPass& pass,
                                       const PassScope& scope, const std::string& declarations,
                                       const DeviceFacts& facts, bool allow_missing, const Budgets& budgets) {
  const std::string& file = pass.pass->shader;
  const package::TemplateFile* source = model.template_file(file);
  if (source == nullptr || !source->parsed) {
    if (allow_missing) return std::nullopt;
    throw Error(ErrorKind::template_,
                fmt::format("The template of pass {} is absent from the package", pass.id), file);
  }
  expr::Scope names(&scope.complete());
  names.set("env", expr::Value::dict(expr::Dict{
                       {"device", *names.find("device")},
                       {"wgsl", expr::Value::dict(expr::Dict{
                                    {"resourceDeclarations", expr::Value::string(declarations)}})}}));
  std::string text;
  try {
    text = source->parsed->render(names, budgets);
  } catch (Error& error) {
    error.add_context(fmt::format("While rendering pass {}", pass.id));
    throw;
  }
  if (model.generation == package::Generation::two) return jinja::with_f16_enabled(std::move(text));
  check_enabled(text, pass, facts);
  return text;
}

}  // namespace kernelpack::plan
