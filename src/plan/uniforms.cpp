#include "plan/uniforms.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/number_text.hpp"

namespace kernelpack::plan {
namespace {

/// Where the value of one field is said, for messages.
struct Place {
  const package::Binding& binding;
  const package::Field& field;
  std::string_view pass;
};

[[noreturn]] void refuse(const Place& place, std::string_view given, std::string_view fault) {
  throw Error(ErrorKind::expression,
              fmt::format("The value of uniform field {}.{} of pass {} ({}) {}", place.binding.name,
                          place.field.name, place.pass, given, fault),
              to_string(Origin{"manifest.json", place.binding.pointer}));
}

std::uint32_t encode(double value, const Place& place) {
  using Limits32 = std::numeric_limits<std::int32_t>;
  const auto check = [&](double low, double high) {
    if (std::trunc(value) != value || value < low || value > high)
      refuse(place, javascript_number_text(value),
             fmt::format("is not an integer from {:.0f} to {:.0f} as its type {} demands", low, high,
                         package::to_string(place.field.type)));
  };
  if (std::isnan(value)) refuse(place, "NaN", "is not a number");
  switch (place.field.type) {
    case package::FieldType::u32:
      check(0, std::numeric_limits<std::uint32_t>::max());
      return static_cast<std::uint32_t>(value);
    case package::FieldType::i32:
      check(Limits32::min(), Limits32::max());
      return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    case package::FieldType::f32:
      break;
  }
  // Out of range is infinity by IEEE 754, which the conversion of the language leaves undefined.
  constexpr double kRoundsToInfinity = 3.4028235677973366e38;
  const float rounded = std::abs(value) >= kRoundsToInfinity
                            ? (value > 0 ? 1.0f : -1.0f) * std::numeric_limits<float>::infinity()
                            : static_cast<float>(value);
  return std::bit_cast<std::uint32_t>(rounded);
}

double field_value(const Place& place, const expr::Scope& scope, const expr::Value& arguments,
                   const Budgets& budgets) {
  const package::Field& field = place.field;
  expr::Value value;
  if (field.value) {
    value = package::evaluate(*field.value, scope, budgets);
  } else if (const expr::Value* argument =
                 arguments.is_dict() ? arguments.dict().find(field.name) : nullptr) {
    value = *argument;
    if (value.is_string())
      value = expr::Expression::parse(value.string(), Origin{{}, fmt::format("args/{}", field.name)}, budgets)
                  .evaluate(scope, budgets);
  } else if (field.default_value) {
    value = package::evaluate(*field.default_value, scope, budgets);
  } else if (field.required) {
    refuse(place, "nothing", "is missing: there is neither an expression, nor an argument, nor a default");
  } else {
    return 0;
  }
  if (!value.is_number()) refuse(place, expr::describe(value), "is not a number");
  return value.number();
}

}  // namespace

std::vector<std::uint32_t> uniform_words(const package::Binding& binding, const expr::Scope& scope,
                                         const expr::Value& arguments, std::string_view pass,
                                         std::vector<UniformField>& fields, const Budgets& budgets) {
  std::vector<std::uint32_t> words(uniform_word_count(binding.fields.size()), 0);
  for (std::size_t index = 0; index < binding.fields.size(); ++index) {
    const Place place{binding, binding.fields[index], pass};
    const double value = field_value(place, scope, arguments, budgets);
    words[index] = encode(value, place);
    fields.push_back(UniformField{binding.name, place.field.name,
                                  std::string(package::to_string(place.field.type)), value});
  }
  return words;
}

}  // namespace kernelpack::plan
