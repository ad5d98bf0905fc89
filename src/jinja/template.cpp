#include "jinja/template.hpp"

#include "expr/eval.hpp"
#include "expr/scope.hpp"
#include "jinja/globals.hpp"
#include "jinja/render.hpp"
#include "jinja/source_text.hpp"
#include "jinja/statement.hpp"

namespace kernelpack::jinja {

struct Template::Parsed {
  Parsed(std::string text, Origin origin, const IncludeResolver& include, const Budgets& budgets)
      : source(std::move(text), std::move(origin), include, budgets),
        program(parse_program(source.text(), source, budgets)),
        read(names_read(program)),
        included_files(source.included_files()) {
    for (const std::uint32_t name : read) {
      const expr::NameView view = program.ast.names[name];
      if (expr::language_constant(view) == nullptr && globals().find(view) == nullptr)
        read_names.emplace_back(view.text);
    }
  }

  SourceText source;
  Program program;
  std::vector<std::uint32_t> read;
  std::vector<std::string> included_files;
  std::vector<std::string> read_names;
};

Template Template::parse(std::string text, Origin origin, const IncludeResolver& include,
                         const Budgets& budgets) {
  Template made;
  made.parsed_ = std::make_shared<const Parsed>(std::move(text), std::move(origin), include, budgets);
  return made;
}

const Origin& Template::origin() const noexcept {
  return parsed_->source.origin();
}
const std::vector<std::string>& Template::included_files() const noexcept {
  return parsed_->included_files;
}
const std::vector<std::string>& Template::read_names() const noexcept {
  return parsed_->read_names;
}

std::string Template::render(const expr::Scope& scope, const Budgets& budgets) const {
  const Program& program = parsed_->program;
  std::vector<const expr::Value*> values(program.ast.names.size(), nullptr);
  for (const std::uint32_t name : parsed_->read) {
    const expr::NameView view = program.ast.names[name];
    const expr::Value* value = expr::language_constant(view);
    if (value == nullptr) value = scope.find(view);
    if (value == nullptr) value = globals().find(view);
    values[name] = value;
  }
  expr::Meter meter(budgets);
  Renderer renderer(program, parsed_->source.text(), parsed_->source, meter, values.data());
  return renderer.render();
}

}  // namespace kernelpack::jinja
