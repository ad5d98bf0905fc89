#include "expr/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <unordered_map>

#include "expr/text.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

struct StringHeap : Value::Heap {
  std::string text;
  std::size_t units = 0;
};

struct ListHeap : Value::Heap {
  std::vector<Value> items;
};

struct DictHeap : Value::Heap {
  Dict entries;
};

struct NamespaceHeap : Value::Heap {
  Namespace content;
};

struct FunctionHeap : Value::Heap {
  std::shared_ptr<const Function> function;
};

struct ObjectHeap : Value::Heap {
  std::shared_ptr<const NativeObject> object;
};

template <class T>
const T& as(const Value::Heap* heap) {
  return *static_cast<const T*>(heap);
}

bool is_plain(const Value& value) {
  if (value.is_number()) return value.is_integer() == Value::number(value.number()).is_integer();
  return !value.is_tuple();
}

/// A C++ callable as a function value.
class HostFunction final : public Function {
 public:
  HostFunction(std::string name, std::function<Value(Call&)> body)
      : name_(std::move(name)), body_(std::move(body)) {}
  std::string_view name() const noexcept override { return name_; }
  Value call(Call& call) const override { return body_(call); }

 private:
  std::string name_;
  std::function<Value(Call&)> body_;
};

using Converted = std::unordered_map<const void*, Value>;

Value convert(const Value& value, Converted& converted) {
  if (value.is_number()) return Value::number(value.number());
  if (!value.is_list_or_tuple() && !value.is_dict()) return value;
  const void* identity = value.is_dict() ? static_cast<const void*>(&value.dict()) : value.items().data();
  if (const auto known = converted.find(identity); known != converted.end()) return known->second;
  Value result;
  if (value.is_dict()) {
    Dict entries;
    entries.reserve(value.dict().size());
    for (const Dict::Entry& entry : value.dict().entries())
      entries.set(entry.key, convert(entry.value, converted));
    result = Value::dict(std::move(entries));
  } else {
    std::vector<Value> items;
    items.reserve(value.items().size());
    for (const Value& item : value.items()) items.push_back(convert(item, converted));
    result = Value::list(std::move(items));
  }
  if (identity != nullptr) converted.emplace(identity, result);
  return result;
}

std::uint16_t depth_above(std::uint32_t deepest) {
  if (deepest >= kValueDepth) {
    throw Error(ErrorKind::limit,
                fmt::format("The value nests lists and dicts deeper than allowed ({} levels)", kValueDepth));
  }
  return static_cast<std::uint16_t>(deepest + 1);
}

}  // namespace

std::string_view to_string(Kind kind) noexcept {
  switch (kind) {
    case Kind::undefined:
      return "undefined";
    case Kind::none:
      return "none";
    case Kind::boolean:
      return "bool";
    case Kind::number:
      return "number";
    case Kind::string:
      return "string";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return "tuple";
    case Kind::dict:
      return "dict";
    case Kind::namespace_:
      return "namespace";
    case Kind::function:
      return "function";
    case Kind::object:
      return "object";
  }
  return "value";
}

Value Value::string(std::string text) {
  auto heap = std::make_unique<StringHeap>();
  heap->units = utf16_length(text);
  heap->text = std::move(text);
  return Value(Kind::string, heap.release());
}

namespace {

std::unique_ptr<ListHeap> make_list(std::vector<Value> items) {
  auto heap = std::make_unique<ListHeap>();
  std::uint32_t deepest = 0;
  for (const Value& item : items) {
    deepest = std::max(deepest, item.depth());
    heap->plain = heap->plain && item.plain();
  }
  heap->depth = depth_above(deepest);
  heap->items = std::move(items);
  return heap;
}

}  // namespace

Value Value::list(std::vector<Value> items) {
  return Value(Kind::list, make_list(std::move(items)).release());
}

Value Value::list(std::span<const std::int64_t> items) {
  std::vector<Value> values;
  values.reserve(items.size());
  for (const std::int64_t item : items) values.push_back(integer(static_cast<double>(item)));
  return list(std::move(values));
}

Value Value::tuple(std::vector<Value> items) {
  auto heap = make_list(std::move(items));
  heap->plain = false;
  return Value(Kind::tuple, heap.release());
}

Value Value::dict(Dict entries) {
  auto heap = std::make_unique<DictHeap>();
  std::uint32_t deepest = 0;
  for (const Dict::Entry& entry : entries.entries()) {
    deepest = std::max(deepest, entry.value.depth());
    heap->plain = heap->plain && entry.value.plain();
  }
  heap->depth = depth_above(deepest);
  heap->entries = std::move(entries);
  return Value(Kind::dict, heap.release());
}

Value Value::function(std::shared_ptr<const Function> function, std::uint32_t depth) {
  auto heap = std::make_unique<FunctionHeap>();
  heap->depth = depth == 0 ? std::uint16_t{0} : depth_above(depth);
  heap->function = std::move(function);
  return Value(Kind::function, heap.release());
}

Value Value::function(std::string name, std::function<Value(Call&)> body) {
  return function(std::make_shared<const HostFunction>(std::move(name), std::move(body)));
}

Value Value::object(std::shared_ptr<const NativeObject> object) {
  auto heap = std::make_unique<ObjectHeap>();
  heap->object = std::move(object);
  return Value(Kind::object, heap.release());
}

Value Value::name_space(Dict entries) {
  auto heap = std::make_unique<NamespaceHeap>();
  heap->content.entries = std::move(entries);
  return Value(Kind::namespace_, heap.release());
}

Value Value::of(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::null:
      return none();
    case json::Kind::boolean:
      return boolean(value.boolean());
    case json::Kind::number:
      return number(value.number());
    case json::Kind::string:
      return string(value.string());
    case json::Kind::array: {
      std::vector<Value> items;
      items.reserve(value.items().size());
      for (const json::Value& item : value.items()) items.push_back(of(item));
      return list(std::move(items));
    }
    case json::Kind::object: {
      Dict entries;
      entries.reserve(value.members().size());
      for (const json::Member& member : value.members()) entries.set(member.key, of(member.value));
      return dict(std::move(entries));
    }
  }
  return {};
}

void Value::release() noexcept {
  if (heap_->references.fetch_sub(1, std::memory_order_release) != 1) return;
  // Everything that other threads did to the content happens before its end.
  std::atomic_thread_fence(std::memory_order_acquire);
  switch (kind_) {
    case Kind::string:
      delete static_cast<const StringHeap*>(heap_);
      break;
    case Kind::list:
    case Kind::tuple:
      delete static_cast<const ListHeap*>(heap_);
      break;
    case Kind::dict:
      delete static_cast<const DictHeap*>(heap_);
      break;
    case Kind::namespace_:
      delete static_cast<const NamespaceHeap*>(heap_);
      break;
    case Kind::function:
      delete static_cast<const FunctionHeap*>(heap_);
      break;
    case Kind::object:
      delete static_cast<const ObjectHeap*>(heap_);
      break;
    default:
      break;
  }
}

bool Value::boolean() const noexcept {
  assert(kind_ == Kind::boolean);
  return flag_;
}

double Value::number() const noexcept {
  assert(kind_ == Kind::number);
  return number_;
}

const std::string& Value::string() const noexcept {
  assert(kind_ == Kind::string);
  return as<StringHeap>(heap_).text;
}

std::size_t Value::string_length() const noexcept {
  assert(kind_ == Kind::string);
  return as<StringHeap>(heap_).units;
}

std::span<const Value> Value::items() const noexcept {
  assert(is_list_or_tuple());
  return as<ListHeap>(heap_).items;
}

const Dict& Value::dict() const noexcept {
  assert(kind_ == Kind::dict);
  return as<DictHeap>(heap_).entries;
}

const Function& Value::function() const noexcept {
  assert(kind_ == Kind::function);
  return *as<FunctionHeap>(heap_).function;
}

const NativeObject& Value::object() const noexcept {
  assert(kind_ == Kind::object);
  return *as<ObjectHeap>(heap_).object;
}

Namespace& Value::name_space() const noexcept {
  assert(kind_ == Kind::namespace_);
  return const_cast<NamespaceHeap&>(as<NamespaceHeap>(heap_)).content;
}

bool Value::truthy() const noexcept {
  switch (kind_) {
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
      return flag_;
    case Kind::number:
      return number_ != 0 && !std::isnan(number_);
    case Kind::string:
      return !string().empty();
    case Kind::list:
    case Kind::tuple:
      return !items().empty();
    case Kind::dict:
      return !dict().empty();
    case Kind::namespace_:
    case Kind::function:
    case Kind::object:
      return true;
  }
  return false;
}

bool Value::identical(const Value& other) const noexcept {
  if (kind_ <= Kind::none) return other.kind_ <= Kind::none;
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::boolean:
      return flag_ == other.flag_;
    case Kind::number:
      return number_ == other.number_;
    case Kind::string:
      return heap_ == other.heap_ || string() == other.string();
    case Kind::function:
      return as<FunctionHeap>(heap_).function == as<FunctionHeap>(other.heap_).function;
    case Kind::object:
      return as<ObjectHeap>(heap_).object == as<ObjectHeap>(other.heap_).object;
    default:
      return heap_ == other.heap_;
  }
}

std::uint32_t Value::depth() const noexcept {
  return on_heap() ? heap_->depth : 0;
}

bool Value::plain() const noexcept {
  return on_heap() ? heap_->plain : is_plain(*this);
}

Value Value::as_scope_value() const {
  if (plain()) return *this;
  Converted converted;
  return convert(*this, converted);
}

}  // namespace kernelpack::expr
