#include "package/case_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <system_error>

#include "base/file.hpp"
#include "base/shape.hpp"
#include "package/attribute_value.hpp"

namespace kernelpack::package {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr std::size_t kMostValues = 1u << 20;
constexpr double kMostExact = 9007199254740991;  // 2^53 - 1

struct KindName {
  std::string_view name;
  Fill::Kind kind;
};
constexpr std::array<KindName, 6> kKinds{{{"constant", Fill::Kind::constant},
                                          {"values", Fill::Kind::values},
                                          {"ramp", Fill::Kind::ramp},
                                          {"uniform", Fill::Kind::uniform},
                                          {"normal", Fill::Kind::normal},
                                          {"causal", Fill::Kind::causal}}};

// A number, or one of the three that JSON has no numbers for.
std::optional<double> read_real(const Node& node) {
  if (!node.value().is_string()) return read_number(node);
  const std::string& text = node.value().string();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  node.fault(fmt::format("The value of {} ({}) is neither a number nor \"inf\", \"-inf\" or \"nan\"",
                         subject(node.pointer()), json::quote(text)));
  return std::nullopt;
}

double need_real(ObjectReader& reader, std::string_view key) {
  const auto node = reader.need(key);
  return node ? read_real(*node).value_or(0) : 0;
}

std::int64_t need_integer(ObjectReader& reader, std::string_view key, std::int64_t low) {
  const auto node = reader.need(key);
  return node ? read_integer(*node, low, static_cast<std::int64_t>(kMostExact)).value_or(low) : low;
}

Fill read_fill(const Node& node) {
  ObjectReader reader(node, "a fill");
  Fill fill;
  std::optional<Fill::Kind> kind;
  if (const auto name = reader.need("kind")) {
    if (const auto text = read_string(*name)) {
      const auto known = std::find_if(kKinds.begin(), kKinds.end(),
                                      [&](const KindName& each) { return each.name == *text; });
      if (known == kKinds.end())
        name->fault(fmt::format("The kind of a fill ({}) is unknown", *text));
      else
        kind = known->kind;
    }
  }
  if (!kind) return fill;
  fill.kind = *kind;
  switch (fill.kind) {
    case Fill::Kind::constant:
    case Fill::Kind::causal:
      fill.value = need_real(reader, "value");
      break;
    case Fill::Kind::values:
      if (const auto list = reader.need("values")) {
        const std::vector<Node> items = items_of(*list, kMostValues);
        for (const Node& item : items) fill.values.push_back(read_real(item).value_or(0));
      }
      break;
    case Fill::Kind::ramp:
      fill.first = need_real(reader, "start");
      fill.second = need_real(reader, "step");
      break;
    case Fill::Kind::uniform:
      fill.first = need_real(reader, "low");
      fill.second = need_real(reader, "high");
      fill.seed = static_cast<std::uint64_t>(need_integer(reader, "seed", 0));
      break;
    case Fill::Kind::normal:
      fill.first = need_real(reader, "mean");
      fill.second = need_real(reader, "deviation");
      fill.seed = static_cast<std::uint64_t>(need_integer(reader, "seed", 0));
      break;
  }
  if (const auto sets = reader.get("set")) {
    for (const Node& item : items_of(*sets)) {
      ObjectReader set(item, "an entry of set");
      fill.set.push_back(
          {need_integer(set, "first", 0), need_integer(set, "step", 1), need_real(set, "value")});
      set.finish();
    }
  }
  reader.finish();
  return fill;
}

std::optional<TensorSpec> read_spec(ObjectReader& reader) {
  TensorSpec spec;
  bool complete = true;
  if (const auto node = reader.need("dtype")) {
    const auto text = read_string(*node);
    const auto dtype = text ? parse_dtype(*text) : std::nullopt;
    if (text && !dtype) node->fault(fmt::format("The dtype ({}) is unknown", *text));
    complete = dtype.has_value();
    if (dtype) spec.dtype = *dtype;
  } else {
    complete = false;
  }
  if (const auto node = reader.need("shape")) {
    std::int64_t elements = 1;
    for (const Node& item : items_of(*node, 64)) {
      const auto dim = read_integer(item, 0, kMostElements);
      if (!dim) return std::nullopt;
      if (*dim > 0 && elements > kMostElements / *dim) {
        node->fault("The shape has more elements than any tensor here", ErrorKind::limit);
        return std::nullopt;
      }
      elements *= *dim;
      spec.shape.push_back(*dim);
    }
  } else {
    complete = false;
  }
  if (!complete) return std::nullopt;
  return spec;
}

void require_schema(const json::Document& document) {
  const json::Value* schema = document.root.find("schema");
  if (schema != nullptr && schema->is_string() && schema->string() == kCaseSchema) return;
  const std::string given = schema == nullptr     ? "none"
                            : schema->is_string() ? schema->string()
                                                  : describe(*schema);
  throw error_at(ErrorKind::unsupported,
                 fmt::format("The schema of {} ({}) is not {}, the only one that kernelpack reads",
                             document.name, given, kCaseSchema),
                 {document.name, schema == nullptr ? "" : "/schema"}, document.text,
                 schema == nullptr ? document.root.span : schema->span);
}

}  // namespace

std::filesystem::path require_case_file(const Package& package, std::string_view name,
                                        std::string_view what) {
  std::filesystem::path file = package.folder() / name;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    throw Error(ErrorKind::io, fmt::format("The package {} has no {}", package.op_id(), what), file.string());
  return file;
}

void read_case_file(const std::filesystem::path& file, std::string_view kind,
                    const std::function<void(ObjectReader& file)>& read) {
  const Budgets budgets;
  const std::string name = file.filename().string();
  const json::Document document = json::parse(read_file(file, budgets.json_bytes), name, budgets);
  require_schema(document);
  Faults faults;
  Source source{document, faults, kManifestRank, budgets};
  ObjectReader reader(Node(source, document.root), "the file");
  reader.ignore("schema");
  if (const auto given = reader.need("kind")) {
    const auto text = read_string(*given);
    if (text && *text != kind) given->fault(fmt::format("The kind of {} ({}) is not {}", name, *text, kind));
  }
  read(reader);
  reader.finish();
  if (!faults.empty()) throw faults.take().front();
}

std::vector<CaseInput> read_case_inputs(const Node& node) {
  std::vector<CaseInput> inputs;
  for (const NamedNode& member : members_of(node)) {
    if (!check_name(member, "an input")) continue;
    ObjectReader reader(member.node, "an input");
    const auto spec = read_spec(reader);
    CaseInput input{std::string(member.name), {}, {}};
    const auto fill = reader.get("fill");
    if (fill) input.fill = read_fill(*fill);
    reader.finish();
    if (!spec) continue;
    input.spec = *spec;
    const std::int64_t elements = element_count(input.spec.shape);
    if (!fill && elements > 0)
      member.node.fault(fmt::format("The input {} has elements ({}) but no fill", member.name, elements));
    if (fill && input.fill.kind == Fill::Kind::values &&
        static_cast<std::int64_t>(input.fill.values.size()) != elements)
      fill->fault(fmt::format("The number of values ({}) differs from the number of elements of {} ({})",
                              input.fill.values.size(), member.name, elements));
    if (fill && input.fill.kind == Fill::Kind::causal && input.spec.shape.size() < 2)
      fill->fault(
          fmt::format("The rank of {} ({}) is too small for a causal fill, which needs two dimensions",
                      member.name, input.spec.shape.size()));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

NamedValues read_case_values(const Node& node) {
  NamedValues values;
  for (const NamedNode& member : members_of(node))
    if (auto value = read_attribute_value(member.node))
      values.push_back({std::string(member.name), std::move(*value)});
  return values;
}

std::optional<std::string> read_case_id(const Node& node) {
  auto text = read_nonempty_string(node);
  if (!text) return std::nullopt;
  const bool fits = std::all_of(text->begin(), text->end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!fits) node.fault(fmt::format("The id ({}) is not lower case with underscores", *text));
  return text;
}

}  // namespace kernelpack::package
