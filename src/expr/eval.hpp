#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "expr/ast.hpp"
#include "expr/faults.hpp"
#include "expr/meter.hpp"
#include "expr/value.hpp"

namespace kernelpack::expr {

/// Variables that a template sets: one frame per loop, macro call and call block. Looked up from the inside
/// out.
class Frame {
 public:
  Frame* parent = nullptr;
  /// A function that may outlive the frame's block refers to it.
  bool captured = false;

  const Value* find(std::uint32_t name) const noexcept;
  void set(std::uint32_t name, Value value);
  void clear() noexcept;

 private:
  std::size_t position(std::uint32_t name) const noexcept;

  std::vector<std::pair<std::uint32_t, Value>> variables_;
  /// Positions by name, once there are too many variables to scan.
  std::unordered_map<std::uint32_t, std::size_t> index_;
};

/// Receives sub-values while an expression is evaluated, to explain a result.
class EvaluationSink {
 public:
  virtual ~EvaluationSink() = default;
  /// The part of the text and what it evaluated to; inner parts come first.
  virtual void evaluated(SourceSpan part, const Value& value) = 0;
};

/// How deep evaluation and rendering may nest altogether, macros that call each other included.
inline constexpr std::size_t kEvaluationDepth = 1500;

/// Walks the nodes of one parsed text. One evaluator serves one evaluation or one rendering, on one thread.
class Evaluator {
 public:
  /// `values[name]` is the value of a free name, null where the scope lacks it. Everything must outlive this.
  Evaluator(const Ast& ast, const Faults& faults, Meter& meter, const Value* const* values,
            EvaluationSink* sink = nullptr)
      : ast_(ast), faults_(faults), meter_(meter), values_(values), sink_(sink) {}
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// A name that is looked up in the innermost frame only, then among the free names.
  void set_local_name(std::uint32_t name) noexcept { local_name_ = name; }

  Value evaluate(NodeId root, Frame* frame = nullptr);
  /// The arguments of a call or a filter, evaluated in order (format.md 4.3: `*` and `**` unpacked).
  struct Arguments {
    std::vector<Value> positional;
    Dict keywords;
    bool literals = true;  ///< every argument is a positional string literal
  };
  Arguments arguments(std::uint32_t first, std::uint32_t count, Frame* frame);
  /// Calls a function value; the error of a host function gets the place `span`.
  Value call(const Value& callee, const Arguments& arguments, Frame* frame, SourceSpan span);
  /// Applies what `node` (a filter) says to an operand.
  Value apply_filter(const Node& node, const Value& operand, Frame* frame);
  /// Appends the printed value of an expression. Halves of surrogate pairs are left as they are, so that
  /// `out` can be cut back to an earlier size; `join_halves` joins them at the end.
  void print(NodeId root, Frame* frame, std::string& out);
  void print(const Value& value, std::string& out);
  /// Takes part in the life of a namespace object, which may come to hold itself: its content is given up
  /// when the evaluator ends.
  void adopt_namespace(const Value& value) { namespaces_.push_back(value); }
  /// The value of a variable.
  const Value& lookup(std::uint32_t name, const Frame* frame) const noexcept;

  const Ast& ast() const noexcept { return ast_; }
  const Faults& faults() const noexcept { return faults_; }
  Meter& meter() noexcept { return meter_; }

  /// Counts one level of recursion; throws limit, without place, beyond kEvaluationDepth.
  class Nesting {
   public:
    explicit Nesting(Evaluator& evaluator) : depth_(evaluator.depth_) {
      if (++depth_ > kEvaluationDepth) exceed(depth_);
    }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    [[noreturn]] static void exceed(std::size_t& depth);
    std::size_t& depth_;
  };

 private:
  const Value& walk(NodeId root, Frame* frame, Value& storage);
  const Value& leaf(const Node& node, Frame* frame, Value& storage);
  const Value& step(const Node& node, const Value& left, Frame* frame, Value& storage);
  const Value& member(NameView name, const Value& object, Value& storage);
  const Value& index(const Node& node, const Value& object, Frame* frame, Value& storage);
  Value slice(const Node& node, const Value& object, Frame* frame);
  Value test(const Node& node, const Value& operand);
  Value list_of(const Node& node, Frame* frame);
  Value dict_of(const Node& node, Frame* frame);

  const Ast& ast_;
  const Faults& faults_;
  Meter& meter_;
  const Value* const* values_;
  EvaluationSink* sink_;
  std::size_t depth_ = 0;
  std::uint32_t local_name_ = kNoNode;
  std::vector<Value> namespaces_;
};

}  // namespace kernelpack::expr
