#include "package/passes.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/shape.hpp"
#include "package/contract_section.hpp"
#include "package/file_name.hpp"
#include "package/suggest.hpp"

namespace kernelpack::package {
namespace {

constexpr std::int64_t kMostRepeats = 65535;
// Nesting multiplies the passes; deeper groups than this are no use and would only deepen the recursion.
constexpr std::size_t kDeepestGroup = 16;

struct PassReader {
  const ReadPass& read_pass;
  std::vector<std::string> index_names;  ///< of the enclosing groups

  std::vector<PassItem> items(const Node& node) {
    std::vector<PassItem> result;
    const auto nodes = items_of(node);
    if (is_empty_list(node)) node.fault("The list of passes is empty");
    std::set<std::string, std::less<>> ids;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (node.source().faults.full()) break;
      if (nodes[i].value().find("repeat") != nullptr) {
        if (auto read = group(nodes[i], i)) result.push_back({std::move(*read)});
      } else {
        Pass pass;
        pass.id = fmt::format("pass_{}", i);
        pass.pointer = nodes[i].pointer();
        if (const json::Value* id = nodes[i].value().find("id"))
          pass.id = read_nonempty_string(nodes[i].child("id", *id)).value_or(pass.id);
        read_pass(nodes[i], pass);
        claim(nodes[i], ids, pass.id);
        result.push_back({std::move(pass)});
      }
    }
    return result;
  }

 private:
  static void claim(const Node& node, std::set<std::string, std::less<>>& ids, const std::string& id) {
    if (!ids.insert(id).second) node.fault(fmt::format("The id of a pass ({}) occurs twice", id));
  }

  std::optional<RepeatGroup> group(const Node& node, std::size_t position) {
    RepeatGroup result;
    result.pointer = node.pointer();
    result.id = fmt::format("repeat_{}", position);
    ObjectReader reader(node, "a repeat group");
    if (const auto id = reader.get("id")) {
      const auto text = read_string(*id);
      if (text && !is_id(*text)) {
        id->fault(fmt::format(
            "The id of a repeat group ({}) is not an id: letters, digits and _ only, no _ first", *text));
      } else if (text) {
        result.id = *text;
      }
    }
    if (const auto repeat = reader.need("repeat")) {
      ObjectReader inner(*repeat, "the object repeat");
      if (const auto index = inner.need("index")) {
        result.index_name = read_name(*index).value_or("");
        if (result.index_name == "index" || result.index_name == "count")
          index->fault(fmt::format("The index of a repeat group ({}) is a name that every group defines",
                                   result.index_name));
        if (std::find(index_names.begin(), index_names.end(), result.index_name) != index_names.end())
          index->fault(fmt::format("The index of a repeat group ({}) is that of an enclosing group",
                                   result.index_name));
      }
      if (const auto count = inner.need("count")) {
        const bool bad = count->value().is_number() && !read_integer(*count, 0, kMostRepeats);
        if (!bad) result.count = read_expression_or_number(*count).value_or(Formula());
      }
      inner.finish();
    }
    const auto passes = reader.need("passes");
    reader.finish();
    if (index_names.size() >= kDeepestGroup) {
      node.fault(fmt::format("The repeat groups nest deeper than {}", kDeepestGroup), ErrorKind::limit);
      return std::nullopt;
    }
    if (passes) {
      index_names.push_back(result.index_name);
      result.items = items(*passes);
      index_names.pop_back();
    }
    return result;
  }
};

std::optional<Formula> read_axis(const Node& node) {
  if (node.value().is_number() && !read_integer(node, 0, kMaxExactInteger)) return std::nullopt;
  return read_expression_or_number(node);
}

}  // namespace

std::vector<PassItem> read_pass_items(const Node& node, const ReadPass& read_pass) {
  return PassReader{read_pass, {}}.items(node);
}

std::string read_shader(const Node& node) {
  const auto name = read_string(node);
  if (!name) return {};
  const auto fault = file_name_fault(*name);
  if (!fault) return *name;
  node.fault(fmt::format("The file name ({}) is not allowed: {}", *name, *fault), ErrorKind::integrity);
  return {};
}

Dispatch read_dispatch(const Node& node, bool older) {
  Dispatch dispatch;
  ObjectReader reader(node, "a dispatch");
  if (!reader.is_object()) return dispatch;
  constexpr std::array<std::string_view, 3> kAxes = {"x", "y", "z"};
  std::size_t given_axes = 0;
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    if (const auto found = reader.get(kAxes[axis])) {
      dispatch.axes[axis] = read_axis(*found);
      ++given_axes;
    }
  }
  std::size_t given_forms = 0;
  const auto take = [&](std::string_view key, Dispatch::Form form) {
    const auto found = reader.get(key);
    if (!found) return;
    ++given_forms;
    dispatch.form = form;
    dispatch.count = read_axis(*found);
  };
  take("threads", Dispatch::Form::threads);
  take("workgroups", Dispatch::Form::workgroups);
  if (older) {
    take("gridStride", Dispatch::Form::grid_stride);
  } else {
    reader.dropped("gridStride", "state x, y and z, or threads");
  }
  if (const auto size = reader.get("workgroupSize")) dispatch.workgroup_size = read_axis(*size);
  reader.finish();

  const bool sized = reader.has("workgroupSize");
  if (given_forms > 1) {
    node.fault("A dispatch mixes more than one of threads, workgroups and gridStride");
  } else if (given_forms == 1) {
    if (dispatch.form == Dispatch::Form::threads && !sized)
      node.fault("The required key (workgroupSize) is missing in a dispatch with threads");
    if (dispatch.form == Dispatch::Form::workgroups && sized)
      node.fault("The key (workgroupSize) is not allowed in a dispatch with workgroups");
    const bool may_pin = older && dispatch.form != Dispatch::Form::grid_stride;
    if (given_axes > 0 && !may_pin) {
      node.fault("A dispatch mixes a shorthand with the axes x, y and z");
    } else if (given_axes > 1) {
      node.fault(fmt::format("A dispatch pins {} axes, but a shorthand allows one", given_axes));
    }
  } else {
    if (sized) node.fault("The key (workgroupSize) needs threads in a dispatch");
    if (!reader.has("x")) node.fault("The required key (x) is missing in a dispatch");
  }
  return dispatch;
}

std::vector<ViewAlias> read_view_aliases(const Node& node, const Pass& pass) {
  std::vector<ViewAlias> aliases;
  const auto items = items_of(node);
  if (is_empty_list(node)) node.fault("The list viewAlias is empty");
  for (const Node& item : items) {
    ObjectReader reader(item, "a pair of viewAlias");
    ViewAlias alias;
    const auto side = [&](std::string_view key, BufferKind wanted) -> std::string {
      const auto found = reader.need(key);
      if (!found) return {};
      const auto name = read_string(*found);
      if (!name) return {};
      std::vector<std::string> names;
      for (const Binding& binding : pass.bindings) {
        if (binding.name == *name) {
          if (binding.buffer != wanted || binding.resource != PlannedBinding::Resource::tensor)
            found->fault(fmt::format("The {} of a view alias ({}) is not a {} binding of a tensor", key,
                                     *name, wanted == BufferKind::storage ? "storage" : "read-only-storage"));
          return *name;
        }
        names.push_back(binding.name);
      }
      found->fault(fmt::format("The {} of a view alias ({}) is not a binding of the pass{}", key, *name,
                               suggestion(*name, names)));
      return {};
    };
    alias.input = side("input", BufferKind::read_only_storage);
    alias.output = side("output", BufferKind::storage);
    reader.finish();
    if (!alias.input.empty() && !alias.output.empty()) aliases.push_back(std::move(alias));
  }
  return aliases;
}

void read_pass_notes(ObjectReader& reader, Pass& pass) {
  pass.submit_after = reader.boolean("submitAfter", false);
  // Informative values: they are neither evaluated nor required to be expressions.
  if (const auto profile = reader.get("profile")) members_of(*profile);
  if (const auto node = reader.get("subgroupCollectivesWidth")) {
    const json::Value& value = node->value();
    if (value.is_string() && value.string() == "portable") return;
    bool known = false;
    for (int width = 4; width <= 128; width *= 2)
      known = known || (value.is_number() && value.number() == width);
    if (known) {
      pass.subgroup_collectives_width = static_cast<int>(value.number());
    } else {
      node->fault(
          fmt::format("The value of subgroupCollectivesWidth is {}, but portable or a power of two from 4 to "
                      "128 is expected",
                      describe(value)));
    }
  }
}

std::vector<Intermediate> read_intermediates(const Node& node, const Model& model, bool older) {
  std::vector<Intermediate> result;
  std::set<std::string, std::less<>> ids;
  for (const Node& item : items_of(node, kMostSearched)) {
    ObjectReader reader(item, "an intermediate");
    Intermediate entry;
    entry.pointer = item.pointer();
    bool usable = reader.is_object();
    if (const auto id = reader.need("id")) {
      entry.id = read_nonempty_string(*id).value_or("");
      usable = !entry.id.empty();
      if (model.input(entry.id) != nullptr || model.output(entry.id) != nullptr)
        id->fault(fmt::format("The id of an intermediate ({}) is the name of a tensor", entry.id));
      if (usable && !ids.insert(entry.id).second)
        id->fault(fmt::format("The id of an intermediate ({}) occurs twice", entry.id));
    } else {
      usable = false;
    }
    if (const auto dtype = reader.need("dtype")) {
      if (const auto read = read_storage_dtype(*dtype)) entry.dtype = *read;
      if (entry.dtype == DType::int64)
        dtype->fault("The dtype of an intermediate is int64, which scratch cannot have");
    }
    if (const auto shape = reader.need("shape")) {
      if (shape->value().is_array()) {
        Formula::List dims;
        for (const Node& dim : items_of(*shape))
          if (auto read = read_axis(dim)) dims.push_back(std::move(*read));
        if (shape->value().items().empty()) shape->fault("The shape of an intermediate is an empty list");
        entry.shape = Formula(std::move(dims));
      } else if (auto read = read_axis(*shape)) {
        entry.shape = std::move(*read);
      }
    }
    if (const auto zero = reader.get("zeroInit")) {
      entry.zero_init = read_boolean(*zero).value_or(true);
      if (!entry.zero_init) zero->fault("The value of zeroInit is false, but it may only be true");
    }
    if (older) {
      reader.string("description");
      reader.string("semantic");
    }
    reader.finish();
    if (usable) result.push_back(std::move(entry));
  }
  return result;
}

void for_each_pass(const std::vector<PassItem>& items, const std::function<void(const Pass&)>& visit) {
  for (const PassItem& item : items) {
    if (const auto* pass = std::get_if<Pass>(&item.content)) {
      visit(*pass);
    } else {
      for_each_pass(std::get<RepeatGroup>(item.content).items, visit);
    }
  }
}

void summarize(Variant& variant) {
  std::set<std::string> templates;
  for_each_pass(variant.passes, [&](const Pass& pass) {
    if (!pass.shader.empty()) templates.insert(pass.shader);
    std::size_t uniforms = 0;
    for (const Binding& binding : pass.bindings) uniforms += binding.buffer == BufferKind::uniform ? 1 : 0;
    variant.max_uniform_bindings = std::max(variant.max_uniform_bindings, uniforms);
    variant.max_storage_bindings = std::max(variant.max_storage_bindings, pass.bindings.size() - uniforms);
  });
  variant.templates.assign(templates.begin(), templates.end());
}

}  // namespace kernelpack::package
