#include "package/templates.hpp"

#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/utf8.hpp"
#include "jinja/template.hpp"
#include "package/file_name.hpp"
#include "package/files.hpp"
#include "package/metadata.hpp"
#include "package/passes.hpp"

namespace kernelpack::package {
namespace {

// The text of a file of the package, verified and held against the rules for text.
std::string read_text(const std::string& name, const LoadOptions& options, const Model& model,
                      const Budgets& budgets) {
  std::string text = read_file(model.folder / name, budgets.rendered_bytes);
  check_digest(name, text, options, model);
  if (const auto bad = find_invalid_utf8(text))
    throw error_at(ErrorKind::package,
                   fmt::format("The byte at offset {} of the template is not valid UTF-8", *bad),
                   Origin{name, {}}, text, {*bad, *bad + 1});
  return text;
}

// The text of a file that a template includes.
std::string included_text(const std::string& path, const LoadOptions& options, const Model& model,
                          const Budgets& budgets) {
  if (const auto fault = file_name_fault(path))
    throw Error(ErrorKind::integrity,
                fmt::format("The file name ({}) of an include is not allowed: {}", path, *fault), path);
  std::error_code ignored;
  if (!std::filesystem::exists(model.folder / path, ignored))
    throw Error(ErrorKind::package, fmt::format("The included file ({}) is absent from the package", path),
                path);
  return read_text(path, options, model, budgets);
}

// Where a pass names its template; manifest 1.0 may do so below `source`.
Node shader_at(const Node& manifest, const std::string& pass) {
  const bool in_source = node_at(manifest, pass).value().find("source") != nullptr;
  return node_at(manifest, pass + (in_source ? "/source/shader" : "/shader"));
}

}  // namespace

void load_templates(const Node& manifest, const LoadOptions& options, Model& model) {
  std::map<std::string, std::string> users;  // file name -> pointer of the first pass that names it
  for (const Variant& variant : model.variants)
    for_each_pass(variant.passes, [&](const Pass& pass) {
      if (!pass.shader.empty()) users.emplace(pass.shader, pass.pointer);
    });

  Source& source = manifest.source();
  for (const auto& [name, pointer] : users) {
    if (source.faults.full()) return;
    const Node node = shader_at(manifest, pointer);
    TemplateFile file;
    file.name = name;
    std::error_code ignored;
    const bool listed = !options.verify || !model.metadata || listed_digest(*model.metadata, name) != nullptr;
    if (!listed)
      node.fault(fmt::format("The template ({}) is not listed in digest.files of metadata.json", name),
                 ErrorKind::integrity);
    if (!std::filesystem::exists(model.folder / name, ignored)) {
      file.absent = true;
      if (!options.allow_missing_templates)
        node.fault(fmt::format("The template ({}) is absent from the package", name));
    } else if (listed) {
      try {
        file.text = read_text(name, options, model, source.budgets);
        const auto include = [&](const std::string& path) {
          return included_text(path, options, model, source.budgets);
        };
        file.parsed = jinja::Template::parse(file.text, Origin{name, {}}, include, source.budgets);
      } catch (const Error& error) {
        source.faults.add(error, kTemplateRank);
      }
    }
    model.templates.push_back(std::move(file));
  }
}

}  // namespace kernelpack::package
