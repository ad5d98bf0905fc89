#include "plan/render.hpp"

namespace kernelpack::plan {

std::optional<std::string> render_pass(const package::Model&, const ExpandedPass&, const PassScope&,
                                       const std::string&, const DeviceFacts&, bool, const Budgets&) {
  return std::nullopt;
}

}  // namespace kernelpack::plan
