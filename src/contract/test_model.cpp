#include "contract/test_model.hpp"

#include "base/json.hpp"
#include "package/manifest.hpp"
#include "package/reader.hpp"

namespace kernelpack::contract {

std::shared_ptr<const package::Model> model_of(const std::string& manifest, bool older) {
  const json::Document document = json::parse(manifest, "manifest.json");
  package::Faults faults;
  package::Source source{document, faults};
  auto model = std::make_shared<package::Model>();
  model->generation = older ? package::Generation::one : package::Generation::two;
  if (older) {
    package::read_manifest_1(package::Node(source, document.root), *model);
  } else {
    package::read_manifest_2(package::Node(source, document.root), *model);
  }
  if (auto errors = faults.take(); !errors.empty()) throw errors.front();
  return model;
}

}  // namespace kernelpack::contract
