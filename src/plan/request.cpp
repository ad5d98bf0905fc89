#include "kernelpack/request.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/shape.hpp"
#include "contract/bind.hpp"
#include "package/model.hpp"
#include "plan/pass_bindings.hpp"
#include "plan/request_values.hpp"

namespace kernelpack {
namespace {

constexpr std::string_view kRequestKeys = "tensors, attrs, args, outputs, tunables, variant";
constexpr std::string_view kTensorKeys = "shape, dtype, storage, buffer, byteOffset";

class RequestReader {
 public:
  RequestReader(const json::Document& document, const package::Model& model)
      : document_(document), model_(model) {}

  Request read() {
    for (const json::Member& member : object(document_.root, "")) {
      const std::string at = json::join_pointer("", member.key);
      if (member.key == "tensors")
        read_tensors(member.value, at);
      else if (member.key == "attrs")
        request_.options.attributes = values(member.value, at);
      else if (member.key == "args")
        request_.options.arguments = values(member.value, at);
      else if (member.key == "tunables")
        request_.options.tunables = values(member.value, at);
      else if (member.key == "outputs")
        read_outputs(member.value, at);
      else if (member.key == "variant")
        request_.options.variant = string(member.value, at);
      else if (member.key != "$comment")
        unknown(member, at, kRequestKeys);
    }
    return std::move(request_);
  }

 private:
  [[noreturn]] void fail(std::string message, SourceSpan span, const std::string& pointer) const {
    throw error_at(ErrorKind::contract, std::move(message), Origin{document_.name, pointer}, document_.text,
                   span);
  }
  [[noreturn]] void unknown(const json::Member& member, const std::string& at, std::string_view known) const {
    fail(fmt::format("The key {} of the request is unknown (known keys: {})", json::quote(member.key), known),
         member.key_span, at);
  }
  [[noreturn]] void wrong_kind(const json::Value& value, const std::string& at,
                               std::string_view expected) const {
    plan::throw_wrong_kind(document_, value, at, expected);
  }
  const std::vector<json::Member>& object(const json::Value& value, const std::string& at) const {
    if (!value.is_object()) wrong_kind(value, at, "object");
    return value.members();
  }
  const std::string& string(const json::Value& value, const std::string& at) const {
    if (!value.is_string()) wrong_kind(value, at, "string");
    return value.string();
  }
  std::int64_t integer(const json::Value& value, const std::string& at) const {
    if (!value.is_number()) wrong_kind(value, at, "number");
    const double number = value.number();
    if (!(number >= 0 && number <= static_cast<double>(kMaxExactInteger)) || std::trunc(number) != number)
      fail(fmt::format("The value ({}) is not a non-negative integer", javascript_number_text(number)),
           value.span, at);
    return static_cast<std::int64_t>(number);
  }
  DType dtype(const json::Value& value, const std::string& at) const {
    const std::optional<DType> parsed = parse_dtype(string(value, at));
    if (!parsed) fail(fmt::format("The dtype ({}) is unknown", value.string()), value.span, at);
    return *parsed;
  }
  Shape shape(const json::Value& value, const std::string& at) const {
    if (!value.is_array()) wrong_kind(value, at, "array");
    Shape result;
    for (const json::Value& dim : value.items())
      result.push_back(integer(dim, json::join_pointer(at, result.size())));
    return result;
  }

  void read_tensors(const json::Value& value, const std::string& at) {
    for (const json::Member& member : object(value, at))
      read_tensor(member, json::join_pointer(at, member.key));
  }

  void read_tensor(const json::Member& tensor, const std::string& at) {
    std::optional<Shape> dims;
    std::optional<DType> logical;
    TensorBuffer buffer{tensor.key, {}, 0};
    bool labelled = false;
    for (const json::Member& member : object(tensor.value, at)) {
      const std::string place = json::join_pointer(at, member.key);
      if (member.key == "shape")
        dims = shape(member.value, place);
      else if (member.key == "dtype")
        logical = dtype(member.value, place);
      else if (member.key == "storage")
        request_.storages.push_back({tensor.key, dtype(member.value, place)});
      else if (member.key == "buffer") {
        buffer.buffer = string(member.value, place);
        labelled = true;
      } else if (member.key == "byteOffset")
        buffer.byte_offset = static_cast<std::uint64_t>(integer(member.value, place));
      else
        unknown(member, place, kTensorKeys);
    }
    if (!dims || !logical)
      fail(fmt::format("The tensor {} has no {}", tensor.key, dims ? "dtype" : "shape"), tensor.key_span, at);
    if (!labelled && buffer.byte_offset != 0)
      fail(fmt::format("The tensor {} has a byteOffset but no buffer", tensor.key), tensor.key_span, at);
    if (labelled) request_.buffers.push_back(std::move(buffer));
    const bool destination = model_.input(tensor.key) == nullptr && model_.output(tensor.key) != nullptr;
    auto& list = destination ? request_.options.destinations : request_.inputs;
    list.push_back({tensor.key, TensorSpec{*logical, std::move(*dims)}});
  }

  void read_outputs(const json::Value& value, const std::string& at) {
    if (!value.is_array()) wrong_kind(value, at, "array");
    for (std::size_t index = 0; index < value.items().size(); ++index) {
      const json::Value& item = value.items()[index];
      const std::string place = json::join_pointer(at, index);
      WantedOutput wanted;
      std::optional<Shape> dims;
      std::optional<DType> logical;
      for (const json::Member& member : object(item, place)) {
        const std::string field = json::join_pointer(place, member.key);
        if (member.key == "name")
          wanted.name = string(member.value, field);
        else if (member.key == "shape")
          dims = shape(member.value, field);
        else if (member.key == "dtype")
          logical = dtype(member.value, field);
        else
          unknown(member, field, "name, shape, dtype");
      }
      if (wanted.name.empty()) fail("The wanted output has no name", item.span, place);
      if (dims.has_value() != logical.has_value())
        fail(fmt::format("The wanted output {} has a {} but no {}", wanted.name, dims ? "shape" : "dtype",
                         dims ? "dtype" : "shape"),
             item.span, place);
      if (dims) wanted.spec = TensorSpec{*logical, std::move(*dims)};
      request_.options.wanted.push_back(std::move(wanted));
    }
  }

  NamedValues values(const json::Value& value, const std::string& at) const {
    return plan::read_request_values(document_, value, at);
  }

  const json::Document& document_;
  const package::Model& model_;
  Request request_;
};

}  // namespace

Request Request::from_json(std::string text, std::string name, const Package& package) {
  const json::Document document = json::parse(std::move(text), std::move(name), {}, ErrorKind::contract);
  return RequestReader(document, package.model()).read();
}

Call Request::bind(const Package& package) const {
  Call call = contract::bind(package.model(), inputs, options);
  for (const Storage& stated : storages) {
    const BoundTensor* tensor = plan::find_tensor(call, stated.tensor);
    if (tensor != nullptr && tensor->storage != stated.storage)
      throw Error(ErrorKind::contract,
                  fmt::format("The storage dtype of tensor {} ({}) differs from that of the contract ({})",
                              stated.tensor, to_string(stated.storage), to_string(tensor->storage)),
                  fmt::format("tensor {}", stated.tensor));
  }
  return call;
}

}  // namespace kernelpack
