#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "expr/name_index.hpp"

namespace kernelpack::expr {

/// FNV-1a; names and dictionary keys are compared by this hash first.
constexpr std::uint32_t name_hash(std::string_view text) noexcept {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// A borrowed name with its hash.
struct NameView {
  std::string_view text;
  std::uint32_t hash = 0;
  NameView() = default;
  constexpr NameView(std::string_view name) noexcept : text(name), hash(name_hash(name)) {}
  constexpr NameView(const char* name) noexcept : NameView(std::string_view(name)) {}
  NameView(const std::string& name) noexcept : NameView(std::string_view(name)) {}
  constexpr NameView(std::string_view name, std::uint32_t known_hash) noexcept
      : text(name), hash(known_hash) {}
};

enum class Kind : std::uint8_t {
  undefined,
  none,
  boolean,
  number,
  // What follows lives on the heap and is shared by reference count.
  string,
  list,
  tuple,
  dict,
  namespace_,  ///< the mutable object that `namespace(...)` makes in templates
  function,
  object,  ///< a NativeObject
};

/// "undefined", "none", "bool", "number", "string", "list", "tuple", "dict", "namespace", "function",
/// "object".
std::string_view to_string(Kind kind) noexcept;

class Dict;
class Function;
class NativeObject;
class Namespace;
struct Call;

/// The most that containers may nest; a deeper one is an error of kind limit. It bounds the recursion of
/// printing, comparing and destroying.
inline constexpr std::uint32_t kValueDepth = 500;

/// A value of the expression language (format.md 4.4). Cheap to copy: scalars are inline, the rest is shared
/// and immutable (but for `namespace_`). Safe to share between threads. Equality of the language is in
/// operators.hpp.
class Value {
 public:
  /// undefined
  Value() noexcept : number_(0) {}
  static Value undefined() noexcept { return {}; }
  static Value none() noexcept { return Value(Kind::none, false, 0); }
  static Value boolean(bool value) noexcept { return Value(Kind::boolean, value, 0); }
  /// A number from a scope or a function: tagged int if and only if it is integral.
  static Value number(double value) noexcept {
    return Value(Kind::number, std::nearbyint(value) == value && std::isfinite(value), value);
  }
  /// Numbers with the tag given.
  static Value integer(double value) noexcept { return Value(Kind::number, true, value); }
  static Value floating(double value) noexcept { return Value(Kind::number, false, value); }
  /// UTF-8. (Halves of surrogate pairs, which escapes and indices can make, are kept as three bytes each.)
  static Value string(std::string text);
  static Value list(std::vector<Value> items);
  /// A list of numbers, such as a shape.
  static Value list(std::span<const std::int64_t> items);
  static Value tuple(std::vector<Value> items);
  static Value dict(Dict entries);
  /// `depth` is that of a value which the function holds.
  static Value function(std::shared_ptr<const Function> function, std::uint32_t depth = 0);
  /// A function of that name (used in messages) made of a callable `Value(Call&)`.
  static Value function(std::string name, std::function<Value(Call&)> body);
  static Value object(std::shared_ptr<const NativeObject> object);
  static Value name_space(Dict entries);
  /// The scope value of a JSON value: null is none, numbers are int if integral.
  static Value of(const json::Value& value);

  Value(const Value& other) noexcept : kind_(other.kind_), flag_(other.flag_), number_(0) { share(other); }
  Value(Value&& other) noexcept : number_(0) { take(other); }
  Value& operator=(const Value& other) noexcept {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    Value moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Value() {
    if (on_heap()) release();
  }
  void swap(Value& other) noexcept;

  Kind kind() const noexcept { return kind_; }
  bool is_undefined() const noexcept { return kind_ == Kind::undefined; }
  bool is_none() const noexcept { return kind_ == Kind::none; }
  bool is_boolean() const noexcept { return kind_ == Kind::boolean; }
  bool is_number() const noexcept { return kind_ == Kind::number; }
  /// A number with the tag int.
  bool is_integer() const noexcept { return kind_ == Kind::number && flag_; }
  bool is_string() const noexcept { return kind_ == Kind::string; }
  bool is_list() const noexcept { return kind_ == Kind::list; }
  bool is_tuple() const noexcept { return kind_ == Kind::tuple; }
  bool is_list_or_tuple() const noexcept { return kind_ == Kind::list || kind_ == Kind::tuple; }
  bool is_dict() const noexcept { return kind_ == Kind::dict; }

  /// Each requires the matching kind (asserted). References live as long as this value's content does.
  bool boolean() const noexcept;
  double number() const noexcept;
  const std::string& string() const noexcept;
  /// UTF-16 units of a string.
  std::size_t string_length() const noexcept;
  /// A list or a tuple.
  std::span<const Value> items() const noexcept;
  const Dict& dict() const noexcept;
  const Function& function() const noexcept;
  const NativeObject& object() const noexcept;
  /// Mutable content, shared by all copies; used by one rendering only.
  Namespace& name_space() const noexcept;

  /// Truth by the falsy list of 4.4: false, 0, NaN, "", empty lists and dicts, none, undefined.
  bool truthy() const noexcept;
  /// The same scalar or string, or the very same list, dict, function or object. NaN is identical to nothing;
  /// none and undefined are identical. (JavaScript's === on the oracle's raw values.)
  bool identical(const Value& other) const noexcept;
  /// Nesting of containers: 0 for a scalar, 1 for a list of scalars.
  std::uint32_t depth() const noexcept;
  /// What a reader in another expression sees: every number int if and only if it is integral, tuples are
  /// lists (4.4). Returns this value itself where nothing changes.
  Value as_scope_value() const;
  /// Whether `as_scope_value` changes nothing.
  bool plain() const noexcept;

  /// Implementation detail of value.cpp.
  struct Heap;

 private:
  Value(Kind kind, bool flag, double number) noexcept : kind_(kind), flag_(flag), number_(number) {}
  Value(Kind kind, const Heap* heap) noexcept : kind_(kind), heap_(heap) {}
  bool on_heap() const noexcept { return kind_ >= Kind::string; }
  void share(const Value& other) noexcept;
  /// Moves what `other` holds here, where nothing on the heap is held.
  void take(Value& other) noexcept {
    kind_ = other.kind_;
    flag_ = other.flag_;
    if (other.on_heap()) {
      heap_ = other.heap_;
      other.kind_ = Kind::undefined;
    } else {
      number_ = other.number_;
    }
  }
  void release() noexcept;

  Kind kind_ = Kind::undefined;
  bool flag_ = false;  ///< the truth of a boolean, the int tag of a number
  union {
    double number_;
    const Heap* heap_;
  };
};

/// Common head of what lives on the heap.
struct Value::Heap {
  mutable std::atomic<std::uint32_t> references{1};
  std::uint16_t depth = 0;
  bool plain = true;  ///< as_scope_value() changes nothing
};

inline void Value::share(const Value& other) noexcept {
  if (other.on_heap()) {
    heap_ = other.heap_;
    heap_->references.fetch_add(1, std::memory_order_relaxed);
  } else {
    number_ = other.number_;
  }
}

inline void Value::swap(Value& other) noexcept {
  Value held;
  held.take(other);
  other.take(*this);
  take(held);
}

/// An ordered map from strings to values: the content of a dict, to be filled before it becomes one. Setting
/// a key again keeps its place.
class Dict {
 public:
  struct Entry {
    Value key;  ///< a string
    std::uint32_t hash = 0;
    Value value;
  };

  Dict() = default;
  Dict(std::initializer_list<std::pair<std::string_view, Value>> entries);

  void set(std::string_view key, Value value);
  void set(Value key, Value value);
  /// Removes a key, keeping the order of the others.
  void erase(std::string_view key);
  const Value* find(NameView name) const noexcept;
  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  const std::vector<Entry>& entries() const noexcept { return entries_; }
  void reserve(std::size_t count) { entries_.reserve(count); }
  void clear() noexcept;

 private:
  std::size_t position(NameView name) const noexcept;
  void append(Entry entry);

  std::vector<Entry> entries_;
  NameIndex index_;  ///< empty while a scan is faster
};

/// The content of a `namespace(...)` object.
class Namespace {
 public:
  Dict entries;
};

/// An object of the host with members (and methods: members that are functions). Immutable and thread-safe.
class NativeObject {
 public:
  virtual ~NativeObject() = default;
  /// The member of that name, or nothing: the language then reads undefined.
  virtual std::optional<Value> member(NameView name) const = 0;
};

class Evaluator;
class Meter;
class Frame;

/// The arguments of one call.
struct Call {
  std::span<const Value> arguments;
  /// Keyword arguments; null where the call has none.
  const Dict* keywords = nullptr;
  /// Budgets of the caller; null when a function is called by C++ code. `evaluator` and `frame` are for
  /// macros.
  Meter* meter = nullptr;
  Evaluator* evaluator = nullptr;
  Frame* frame = nullptr;

  /// The argument at that index, or undefined.
  const Value& operator[](std::size_t index) const noexcept;
};

/// A callable value. `call` throws Error without place; the evaluator adds the place of the call.
class Function {
 public:
  virtual ~Function() = default;
  virtual std::string_view name() const noexcept = 0;
  virtual Value call(Call& call) const = 0;
  /// Whether keyword arguments are understood. Functions of the host refuse them (4.5), macros take them.
  virtual bool takes_keywords() const noexcept { return false; }
  /// Whether the result is retagged as a scope value is (4.4); functions of the host are.
  virtual bool from_host() const noexcept { return true; }
};

/// The text of a value as `{{ }}` prints it (4.6). Throws expression for a tuple, a function or a native
/// object.
std::string print(const Value& value);
/// A short form for messages: strings quoted, long values cut, never throws for any kind.
std::string describe(const Value& value);
/// The same with its kind, as messages name operands: "undefined", "an int (3)", "a list ([1, 2])".
std::string name_value(const Value& value);

}  // namespace kernelpack::expr
