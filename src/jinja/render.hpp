#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "expr/eval.hpp"
#include "jinja/statement.hpp"

namespace kernelpack::jinja {

/// How a block ended: at its end, or at a `break` or `continue` that a loop further out has to obey.
enum class Flow { normal, break_, continue_ };

/// One rendering of a program, on one thread.
class Renderer {
 public:
  /// `values[name]` as for expr::Evaluator. Everything must outlive the renderer.
  Renderer(const Program& program, std::string_view text, const expr::Faults& faults, expr::Meter& meter,
           const expr::Value* const* values);

  std::string render();

  /// The text of a macro body, or of the body of a call block, for the arguments of one call.
  std::string call_body(const Statement& statement, std::string_view name, const expr::Call& call,
                        expr::Frame* parent);

 private:
  using Frame = expr::Frame;
  using Value = expr::Value;

  /// A frame from the pool that goes back when the block ends, unless a function still refers to it.
  class Scoped {
   public:
    Scoped(Renderer& renderer, Frame* parent);
    ~Scoped();
    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;
    Frame* operator->() const noexcept { return frame_; }
    Frame* get() const noexcept { return frame_; }

   private:
    Renderer& renderer_;
    Frame* frame_;
  };

  Flow block(const Block& block, Frame* frame, std::string& out);
  Flow statement(const Statement& statement, Frame* frame, std::string& out);
  Flow if_(const Statement& first, Frame* frame, std::string& out);
  Flow for_(const Statement& statement, Frame* frame, std::string& out);
  Flow set(const Statement& statement, Frame* frame);
  void macro(const Statement& statement, Frame* frame);
  Flow filter(const Statement& statement, Frame* frame, std::string& out);
  void call(const Statement& statement, Frame* frame, std::string& out);
  void assign(NodeId target, Value value, Frame* frame);
  void bind_loop(const Statement& statement, const Value& item, Frame* frame);
  void check_unpacking(const Statement& statement, const Value& item);
  std::vector<Value> kept_items(const Statement& statement, Frame* frame);
  Value loop_value(const std::vector<Value>& items, std::size_t index) const;
  void bind_arguments(const Statement& statement, std::string_view name, const expr::Call& call,
                      Frame* frame);
  [[noreturn]] void fail(SourceSpan span, std::string message) const {
    faults_.fail(span, std::move(message));
  }

  const Program& program_;
  std::string_view text_;
  const expr::Faults& faults_;
  expr::Meter& meter_;
  expr::Evaluator evaluator_;
  std::deque<Frame> frames_;
  std::vector<Frame*> free_;
};

}  // namespace kernelpack::jinja
