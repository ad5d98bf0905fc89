#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/source.hpp"

namespace kernelpack::expr {
class Scope;
}

namespace kernelpack::jinja {

/// Gives the text of an included file: `path` is normalised and relative to the package root. Throws what the
/// caller should see.
using IncludeResolver = std::function<std::string(const std::string& path)>;

/// A parsed template (format.md 9): the language of expr/ with statements. Immutable, cheap to copy, safe to
/// share between threads.
class Template {
 public:
  /// Parses `text`; `origin.file` is its path in the package, from which includes are resolved. Throws
  /// template with file, line, column and caret, limit beyond a budget, or what `include` throws. Without a
  /// resolver an include is an error.
  static Template parse(std::string text, Origin origin, const IncludeResolver& include = {},
                        const Budgets& budgets = {});

  const Origin& origin() const noexcept;
  /// The included files, in order of first use.
  const std::vector<std::string>& included_files() const noexcept;
  /// Every name that rendering may look up in the scope, in order of first use; also names that the template
  /// itself sets on some of its ways. Without true, false, none and the globals range, namespace and
  /// raise_exception. What is not among them has no influence on the text.
  const std::vector<std::string>& read_names() const noexcept;

  /// The rendered text, valid UTF-8. Names that the scope lacks are undefined and print nothing. Throws
  /// template, naming place and values, or limit.
  std::string render(const expr::Scope& scope, const Budgets& budgets = {}) const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace kernelpack::jinja
