#include "plan/repeat.hpp"

#include <cmath>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::plan {
namespace {

constexpr double kMostRepeats = 65535;

class Expansion {
 public:
  Expansion(const package::Variant& variant, const CountOf& count_of)
      : variant_(variant), count_of_(count_of) {}

  std::vector<ExpandedPass> run() {
    append(variant_.passes, {}, {});
    if (passes_.empty())
      throw Error(
          ErrorKind::package,
          fmt::format("No pass of variant {} remains after its repeat groups are expanded", variant_.id),
          where(variant_.pointer));
    std::unordered_set<std::string_view> seen;
    for (const ExpandedPass& pass : passes_)
      if (!seen.insert(pass.id).second)
        throw Error(ErrorKind::package,
                    fmt::format("The id of two passes of variant {} ({}) is the same", variant_.id, pass.id),
                    where(pass.pass->pointer));
    return std::move(passes_);
  }

 private:
  static std::string where(const std::string& pointer) { return to_string(Origin{"manifest.json", pointer}); }

  void append(const std::vector<package::PassItem>& items, const std::string& prefix,
              const expr::Dict& repeat) {
    const expr::Value object = expr::Value::dict(repeat);
    for (const package::PassItem& item : items) {
      if (const auto* pass = std::get_if<package::Pass>(&item.content)) {
        if (passes_.size() == kMostPasses)
          throw Error(ErrorKind::limit,
                      fmt::format("The number of passes of variant {} exceeds the most allowed ({})",
                                  variant_.id, kMostPasses),
                      where(pass->pointer));
        passes_.push_back(ExpandedPass{pass, prefix + pass->id, object});
      } else {
        const auto& group = std::get<package::RepeatGroup>(item.content);
        const double count = checked_count(group, object);
        for (double index = 0; index < count; ++index) {
          expr::Dict inner = repeat;
          inner.set("index", expr::Value::number(index));
          inner.set("count", expr::Value::number(count));
          inner.set(group.index_name, expr::Value::number(index));
          inner.set(group.index_name + "_count", expr::Value::number(count));
          append(group.items, fmt::format("{}{}[{:.0f}].", prefix, group.id, index), inner);
        }
      }
    }
  }

  double checked_count(const package::RepeatGroup& group, const expr::Value& repeat) {
    if (++counts_ > kMostPasses)
      throw Error(ErrorKind::limit,
                  fmt::format("The number of repeat groups of variant {} exceeds the most allowed ({})",
                              variant_.id, kMostPasses),
                  where(group.pointer));
    const double count = count_of_(group, repeat);
    if (!(count >= 0 && count <= kMostRepeats) || std::trunc(count) != count)
      throw Error(ErrorKind::limit,
                  fmt::format("The count of repeat group {} ({}) is not an integer from 0 to {:.0f}",
                              group.id, javascript_number_text(count), kMostRepeats),
                  where(group.pointer));
    return count;
  }

  const package::Variant& variant_;
  const CountOf& count_of_;
  std::vector<ExpandedPass> passes_;
  std::size_t counts_ = 0;
};

}  // namespace

std::vector<ExpandedPass> expand_passes(const package::Variant& variant, const CountOf& count_of) {
  return Expansion(variant, count_of).run();
}

}  // namespace kernelpack::plan
