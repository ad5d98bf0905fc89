#include "expr/meter.hpp"

#include <fmt/format.h>

#include "expr/faults.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {

void Meter::exceed_steps() const {
  throw Error(ErrorKind::limit,
              fmt::format("The evaluation takes more steps than the budget evaluation_steps ({}) allows",
                          budgets_.evaluation_steps));
}

void Meter::exceed_text(std::size_t bytes) const {
  throw Error(ErrorKind::limit,
              fmt::format("A text ({} bytes) is longer than the budget rendered_bytes ({}) allows", bytes,
                          budgets_.rendered_bytes));
}

void Meter::exceed_list(std::size_t items) const {
  throw Error(ErrorKind::limit,
              fmt::format("A list ({} items) is longer than the budget list_length ({}) allows", items,
                          budgets_.list_length));
}

void fail(std::string message) {
  throw Error(ErrorKind::expression, std::move(message));
}

void Faults::rethrow(const Error& error, SourceSpan span) const {
  if (!error.where().empty()) throw error;
  Error placed = at(error.kind() == ErrorKind::expression ? kind() : error.kind(), error.message(), span);
  for (const std::string& line : error.context()) placed.add_context(line);
  throw placed;
}

}  // namespace kernelpack::expr
