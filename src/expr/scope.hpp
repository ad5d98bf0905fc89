#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expr/value.hpp"

namespace kernelpack::expr {

/// Names that an expression sees. Scopes form a chain: a name that this one lacks is looked up in `parent`,
/// so a stronger layer (derives) stands on a weaker one (namespaces, functions). The parent must outlive this
/// scope. Filled by one thread; then readable by many. `true`, `false`, `none` and their title-case forms are
/// part of the language and cannot be set.
class Scope {
 public:
  Scope() = default;
  explicit Scope(const Scope* parent) noexcept : parent_(parent) {}
  Scope(const Scope* parent, Dict names) noexcept : names_(std::move(names)), parent_(parent) {}

  /// Defines a name in this layer, or replaces it. Pass `value.as_scope_value()` for the result of an
  /// expression.
  void set(std::string_view name, Value value) { names_.set(name, std::move(value)); }
  /// The value of the innermost layer that has the name, or null. Valid until that layer changes.
  const Value* find(NameView name) const noexcept {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
      if (const Value* value = scope->names_.find(name)) return value;
    }
    return nullptr;
  }
  bool contains(NameView name) const noexcept { return find(name) != nullptr; }

  const Scope* parent() const noexcept { return parent_; }
  /// The names of this layer alone, in order of definition.
  const Dict& names() const noexcept { return names_; }
  /// Every visible name, innermost layers first, without those that a stronger layer hides.
  std::vector<std::string> visible_names() const;

 private:
  Dict names_;
  const Scope* parent_ = nullptr;
};

/// The functions of format.md 4.9 as a layer without parent, shared and immutable. `shader_f16` is whether
/// the device has that feature: it decides `f16Ok`.
const Scope& functions(bool shader_f16);

/// The names of those functions, in the order of format.md 4.9.
const std::vector<std::string_view>& function_names();

/// Names that no derive may use (format.md 5.3), without the type variables of a manifest.
bool is_reserved_name(std::string_view name) noexcept;

}  // namespace kernelpack::expr
