#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "package/model.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {

/// Reads a pass; what differs between the generations is in the function that the caller gives.
using ReadPass = std::function<void(const Node& node, Pass& pass)>;

/// A list of passes and repeat groups (format.md 2.9). Ids are defaulted and checked to be unique in their
/// list.
std::vector<PassItem> read_pass_items(const Node& node, const ReadPass& read_pass);

/// The file name of a template: a plain name (kind integrity otherwise).
std::string read_shader(const Node& node);
/// `{x, y, z}` or a shorthand; `older` allows gridStride and pinned axes (format.md 8).
Dispatch read_dispatch(const Node& node, bool older);
/// `viewAlias`; checked against the bindings of the pass, which must be read before.
std::vector<ViewAlias> read_view_aliases(const Node& node, const Pass& pass);
/// Keys that both generations share and that stand alone: subgroupCollectivesWidth, submitAfter, profile.
void read_pass_notes(ObjectReader& reader, Pass& pass);

/// The `intermediates` of a variant.
std::vector<Intermediate> read_intermediates(const Node& node, const Model& model, bool older);

/// Calls `visit` for every pass, groups descended into, in order.
void for_each_pass(const std::vector<PassItem>& items, const std::function<void(const Pass&)>& visit);

/// Fills in what follows from the passes: templates, largest numbers of bindings.
void summarize(Variant& variant);

}  // namespace kernelpack::package
