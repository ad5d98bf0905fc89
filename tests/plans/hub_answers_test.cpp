// Plans every request of ../shared/hub/answers.json and compares the plan with the answer.
#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "kernelpack/package.hpp"
#include "kernelpack/request.hpp"
#include "plan/planner.hpp"
#include "shared_inputs_test.hpp"

namespace kernelpack {
namespace {

constexpr std::size_t kLeastPlans = 342;
constexpr std::size_t kFileBytes = 64u << 20;

using json::Value;

std::vector<std::string> strings(const Value& list) {
  std::vector<std::string> result;
  for (const Value& item : list.items()) result.push_back(item.string());
  return result;
}

template <class Number>
std::string numbers(const std::vector<Number>& list) {
  return fmt::format("[{}]", fmt::join(list, ","));
}

/// The facts of a plan that an answer states, as text that is equal for equal plans.
std::string text_of(const Plan& plan) {
  std::string text = fmt::format("variant {}\nrejected", plan.variant);
  for (const Rejection& rejection : plan.rejected) text += " " + rejection.variant;
  for (const PlannedScratch& scratch : plan.scratch)
    text += fmt::format("\nscratch {} {} {} {} {} {}", scratch.id, to_string(scratch.dtype),
                        numbers(scratch.shape), scratch.bytes, scratch.zero_init, scratch.used);
  for (const PlannedPass& pass : plan.passes) {
    std::vector<std::uint32_t> words;
    std::string bindings;
    for (const PlannedBinding& binding : pass.bindings) {
      words.insert(words.end(), binding.words.begin(), binding.words.end());
      bindings += fmt::format("\n  {} {} ", binding.name, to_string(binding.buffer));
      switch (binding.resource) {
        case PlannedBinding::Resource::tensor:
          bindings += "tensor ";
          break;
        case PlannedBinding::Resource::scratch:
          bindings += "scratch ";
          break;
        case PlannedBinding::Resource::uniform:
          bindings += "uniform ";
          break;
      }
      bindings += fmt::format("{} {} {} {}", binding.target, binding.element_type,
                              binding.length ? std::to_string(*binding.length) : "", numbers(binding.words));
    }
    const char* skip = pass.skip == PlannedPass::Skip::empty        ? "empty"
                       : pass.skip == PlannedPass::Skip::view_alias ? "viewAlias"
                                                                    : "";
    text += fmt::format("\npass {} {} {} {}{}", pass.id,
                        numbers(std::vector(pass.workgroups.begin(), pass.workgroups.end())), numbers(words),
                        skip, bindings);
  }
  return text;
}

std::string text_member(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  if (value == nullptr) return "";
  if (value->is_string()) return value->string();
  return json::write(*value);
}

/// The same of an answer.
std::string text_of(const Value& row) {
  std::string text = fmt::format("variant {}\nrejected", text_member(row, "variant"));
  for (const std::string& id : strings(*row.find("rejected"))) text += " " + id;
  for (const Value& scratch : row.find("scratch")->items())
    text +=
        fmt::format("\nscratch {} {} {} {} {} {}", text_member(scratch, "id"), text_member(scratch, "dtype"),
                    text_member(scratch, "shape"), text_member(scratch, "bytes"),
                    text_member(scratch, "zeroInit"), text_member(scratch, "used"));
  for (const Value& pass : row.find("passes")->items()) {
    text += fmt::format("\npass {} {} {} {}", text_member(pass, "id"), text_member(pass, "dispatch"),
                        text_member(pass, "uniformWords"), text_member(pass, "skip"));
    for (const Value& binding : pass.find("bindings")->items()) {
      text += fmt::format("\n  {} {} ", text_member(binding, "name"), text_member(binding, "buffer"));
      for (const char* what : {"tensor", "scratch", "uniform"})
        if (binding.find(what) != nullptr) text += fmt::format("{} {}", what, text_member(binding, what));
      text += fmt::format(" {} {} {}", text_member(binding, "elementType"), text_member(binding, "length"),
                          binding.find("words") == nullptr ? "[]" : text_member(binding, "words"));
    }
  }
  return text;
}

std::string outputs_of(const Call& call) {
  std::string text;
  for (const BoundTensor& output : call.outputs)
    text += fmt::format("{} {} {} {}\n", output.name, numbers(output.shape), to_string(output.dtype),
                        to_string(output.storage));
  return text;
}

std::string outputs_of(const Value& row) {
  std::string text;
  for (const json::Member& output : row.find("outputs")->members())
    text += fmt::format("{} {} {} {}\n", output.key, text_member(output.value, "shape"),
                        text_member(output.value, "logicalDtype"), text_member(output.value, "storageDtype"));
  return text;
}

/// The kind of an error as answers spell it.
std::string kind_text(const Error& error) {
  std::string kind(to_string(error.kind()));
  for (char& c : kind)
    if (c == '_') c = '-';
  return kind;
}

/// "ai.onnx.Identity@1.0" -> "ai.onnx.Identity-1.0"; "ai.onnx.Abs@2.1" -> "ai.onnx.Abs"
std::string folder_of(std::string package) {
  const std::size_t at = package.find('@');
  const std::string spec = package.substr(at + 1);
  return package.substr(0, at) + (spec.starts_with('1') ? "-" + spec : "");
}

TEST(HubAnswers, EveryPlanEqualsItsAnswer) {
  const std::filesystem::path hub = tests::shared_folder() / "hub";
  if (!tests::has_shared(hub / "answers.json")) GTEST_SKIP() << "there is no " << hub;
  const json::Document answers =
      json::parse(read_file(hub / "answers.json", kFileBytes), "answers.json", {.json_bytes = kFileBytes});

  std::map<std::string, Package> packages;
  std::map<std::string, DeviceFacts> devices;
  std::size_t compared = 0;
  std::size_t equal = 0;
  for (const Value& row : answers.root.find("rows")->items()) {
    const std::string id = row.find("package")->string();
    const std::string request_name = row.find("request")->string();
    const std::string device = row.find("device")->string();
    const std::string label = fmt::format("{} {} on {}", id, request_name, device);
    const std::string op = id.substr(0, id.find('@'));
    ++compared;
    try {
      if (!packages.contains(id))
        packages.emplace(
            id, Package::load(hub / folder_of(id), {.verify = true, .allow_missing_templates = true}));
      if (!devices.contains(device))
        devices[device] =
            DeviceFacts::from_json(read_file(hub / "devices" / (device + ".json"), kFileBytes), device);
    } catch (const Error& error) {
      ADD_FAILURE() << label << ": " << error.report();
      continue;
    }
    const Package& package = packages.at(id);
    const Value* request_text = answers.root.find("requests")->find(op)->find(request_name);
    std::string refusal;
    std::string report;
    try {
      const Request request = Request::from_json(json::write(*request_text), request_name, package);
      const Call call = request.bind(package);
      const Plan plan =
          plan::make_plan(package.model(), call, devices.at(device),
                          {.allow_missing_templates = true, .buffers = request.buffers, .profile = {}});
      if (row.find("error") == nullptr) {
        EXPECT_EQ(text_of(plan), text_of(row)) << label;
        EXPECT_EQ(outputs_of(call), outputs_of(row)) << label;
        equal += text_of(plan) == text_of(row) && outputs_of(call) == outputs_of(row);
      }
    } catch (const Error& error) {
      refusal = kind_text(error);
      report = error.report();
    }
    const Value* expected = row.find("error");
    EXPECT_EQ(refusal, expected == nullptr ? "" : expected->string()) << label << ": " << report;
    equal += expected != nullptr && refusal == expected->string();
  }
  std::printf("%zu of %zu plans equal their answers\n", equal, compared);
  EXPECT_EQ(equal, compared);
  EXPECT_GE(compared, kLeastPlans);
}

}  // namespace
}  // namespace kernelpack
