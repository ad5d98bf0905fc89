#include "package/templates.hpp"

#include <algorithm>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/utf8.hpp"
#include "package/files.hpp"
#include "package/metadata.hpp"
#include "package/passes.hpp"

namespace kernelpack::package {

void load_templates(const Node& manifest, const LoadOptions& options, Model& model) {
  std::map<std::string, std::string> users;  // file name -> pointer of the first pass that names it
  for (const Variant& variant : model.variants)
    for_each_pass(variant.passes, [&](const Pass& pass) {
      if (!pass.shader.empty()) users.emplace(pass.shader, pass.pointer);
    });

  Source& source = manifest.source();
  for (const auto& [name, pointer] : users) {
    if (source.faults.full()) return;
    const Node node = node_at(manifest, pointer + "/shader");
    TemplateFile file{name, {}, false};
    if (options.verify && model.metadata && listed_digest(*model.metadata, name) == nullptr)
      node.fault(fmt::format("The template ({}) is not listed in digest.files of metadata.json", name),
                 ErrorKind::integrity);
    std::error_code ignored;
    if (!std::filesystem::exists(model.folder / name, ignored)) {
      file.absent = true;
      if (!options.allow_missing_templates)
        node.fault(fmt::format("The template ({}) is absent from the package", name));
    } else {
      try {
        file.text = read_file(model.folder / name, source.budgets.rendered_bytes);
        check_digest(file.name, file.text, options, model);
        if (const auto bad = find_invalid_utf8(file.text))
          throw Error(ErrorKind::package,
                      fmt::format("The template ({}) is not valid UTF-8 at byte {}", name, *bad), name);
      } catch (const Error& error) {
        node.fault(error);
      }
    }
    model.templates.push_back(std::move(file));
  }
}

}  // namespace kernelpack::package
