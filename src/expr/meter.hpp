#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/budget.hpp"

namespace kernelpack::expr {

/// Counts what one evaluation or one rendering spends (format.md 14 (u)). Making text or lists costs steps
/// too, so the steps bound time and memory. Throws limit, without place, naming the budget.
class Meter {
 public:
  explicit Meter(const Budgets& budgets) noexcept : budgets_(budgets), left_(budgets.evaluation_steps) {}

  void step(std::uint64_t count = 1) {
    if (count > left_) exceed_steps();
    left_ -= count;
  }
  /// A string of that many bytes is about to be made.
  void text(std::size_t bytes) {
    if (bytes > budgets_.rendered_bytes) exceed_text(bytes);
    step(bytes / kBytesPerStep);
  }
  /// A text that grows piece by piece has reached that many bytes.
  void reach(std::size_t bytes) const {
    if (bytes > budgets_.rendered_bytes) exceed_text(bytes);
  }
  /// A list (or dict) of that many items is about to be made.
  void list(std::size_t items) {
    if (items > budgets_.list_length) exceed_list(items);
    step(items);
  }
  /// That many bytes are about to be read, as by a search.
  void scan(std::size_t bytes) { step(bytes / kBytesPerStep); }

  const Budgets& budgets() const noexcept { return budgets_; }

 private:
  static constexpr std::size_t kBytesPerStep = 64;

  [[noreturn]] void exceed_steps() const;
  [[noreturn]] void exceed_text(std::size_t bytes) const;
  [[noreturn]] void exceed_list(std::size_t items) const;

  Budgets budgets_;
  std::uint64_t left_;
};

/// Throws expression without place: the evaluator adds it.
[[noreturn]] void fail(std::string message);

}  // namespace kernelpack::expr
