#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include "handles_test.hpp"
#include "kernelpack/json.hpp"
#include "kernelpack/kernel.hpp"

namespace kernelpack {
namespace {

class CApiRequests : public ::testing::Test {
 protected:
  void SetUp() override {
    kernel_ = load(kBiasSoftmax);
    request_ = request_of(kernel_);
    scores_ = wrap(data_, {2, 3, 4});
    mask_ = wrap(bias_, {1, 1, 4});
    expect_ok(kernelpack_set_input(request_.get(), "data", scores_.get()));
    expect_ok(kernelpack_set_input(request_.get(), "bias", mask_.get()));
    expect_ok(kernelpack_set_values(request_.get(), KERNELPACK_ATTRIBUTE,
                                    R"({"axis": 2, "is_inner_broadcast": 1})"));
  }

  /// What C++ gives for the same request.
  Tensor expected(const NamedValues& attributes = {{"axis", 2}, {"is_inner_broadcast", 1}}) const {
    return Kernel::get(kBiasSoftmax).run(inputs(), {.attributes = attributes})["output"];
  }
  Inputs inputs() const {
    return {{"data", TensorView::of<float>(data_, {2, 3, 4})},
            {"bias", TensorView::of<float>(bias_, {1, 1, 4})}};
  }
  /// The report of the Error that C++ throws.
  template <class Step>
  static std::string cpp_report(Step&& step) {
    try {
      step();
    } catch (const Error& error) {
      return error.report();
    }
    ADD_FAILURE() << "C++ throws nothing";
    return {};
  }
  kernelpack_status run() { return kernelpack_run_request(request_.get(), nullptr); }

  std::vector<float> data_ = std::vector<float>(24, 1.0F);
  std::vector<float> bias_{0, 1, -1, 0.5F};
  KernelHandle kernel_;
  RequestHandle request_;
  TensorHandle scores_;
  TensorHandle mask_;
};

void expect_equal(const std::vector<float>& got, const Tensor& expected) {
  const auto values = expected.values<float>();
  ASSERT_EQ(got.size(), values.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], values[i]) << i;
}

TEST_F(CApiRequests, RunAsCppDoes) {
  for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = static_cast<float>(i % 7) / 3;
  EXPECT_EQ(kernelpack_get_output_count(request_.get()), 0u);
  expect_ok(run());
  ASSERT_EQ(kernelpack_get_output_count(request_.get()), 1u);
  EXPECT_STREQ(kernelpack_get_output_name(request_.get(), 0), "output");
  const TensorHandle probabilities = output(request_, "output");
  EXPECT_EQ(kernelpack_get_tensor_rank(probabilities.get()), 3u);
  EXPECT_EQ(kernelpack_get_tensor_dtype(probabilities.get()), KERNELPACK_FLOAT32);
  const Tensor first = expected();
  expect_equal(floats(probabilities), first);

  // The same memory with other values: the result before stays as it was.
  data_[3] = 9;
  expect_ok(run());
  expect_equal(floats(output(request_, "output")), expected());
  expect_equal(floats(probabilities), first);

  kernel_.reset();
  scores_.reset();
  mask_.reset();
  expect_ok(run());
  request_.reset();
  expect_equal(floats(probabilities), first);
}

TEST_F(CApiRequests, RunOnTheDeviceGiven) {
  for (const CpuTarget& target : cpu_targets()) {
    if (!target.supported) continue;
    const std::string name(target.name);
    kernelpack_cpu_options options{};
    options.struct_size = sizeof options;
    options.target = name.c_str();
    options.threads = 2;
    options.spin_microseconds = -1;
    kernelpack_device* opened = nullptr;
    expect_ok(kernelpack_open_cpu(&options, &opened));
    const DeviceHandle device(opened);
    EXPECT_EQ(kernelpack_get_device_description(opened), "cpu (" + name + ", 2 threads)");
    EXPECT_EQ(kernelpack_is_gpu(opened), 0);
    expect_ok(kernelpack_run_request(request_.get(), opened));
    const Outputs same = Kernel::get(kBiasSoftmax)
                             .run(inputs(), {.attributes = {{"axis", 2}, {"is_inner_broadcast", 1}},
                                             .device = Device::cpu({.threads = 2, .target = name})});
    expect_equal(floats(output(request_, "output")), same["output"]);
    expect_ok(kernelpack_close_device(opened));
    expect_ok(kernelpack_run_request(request_.get(), opened));
  }
}

TEST_F(CApiRequests, RunOnThreadsOfTheCaller) {
  struct Runner {
    std::atomic<int> tasks{0};
  } runner;
  kernelpack_cpu_options options{};
  options.struct_size = sizeof options;
  options.threads = 4;
  options.user_data = &runner;
  options.run_tasks = [](void* user_data, int32_t count, kernelpack_task task, void* context) {
    for (int32_t i = 0; i < count; ++i) {
      static_cast<Runner*>(user_data)->tasks += 1;
      task(context, i);
    }
  };
  kernelpack_device* opened = nullptr;
  expect_ok(kernelpack_open_cpu(&options, &opened));
  const DeviceHandle device(opened);
  std::vector<float> large(256 * 4096, 0.5F);
  std::vector<float> row(4096, 1.0F);
  const TensorHandle scores = wrap(large, {1, 256, 4096});
  const TensorHandle mask = wrap(row, {1, 1, 4096});
  expect_ok(kernelpack_set_input(request_.get(), "data", scores.get()));
  expect_ok(kernelpack_set_input(request_.get(), "bias", mask.get()));
  expect_ok(kernelpack_run_request(request_.get(), opened));
  EXPECT_GT(runner.tasks, 1);
  for (const float value : floats(output(request_, "output"))) ASSERT_NEAR(value, 1.0F / 4096, 1e-9F);
}

TEST_F(CApiRequests, WriteIntoDestinations) {
  std::vector<float> mine(24, -1);
  const TensorHandle destination = wrap(mine, {2, 3, 4});
  expect_ok(kernelpack_set_destination(request_.get(), "output", destination.get()));
  expect_ok(run());
  expect_equal(mine, expected());
  EXPECT_EQ(kernelpack_get_output_count(request_.get()), 0u);
  kernelpack_tensor* none = nullptr;
  EXPECT_EQ(report_of(kernelpack_get_output(request_.get(), "output", &none)),
            cpp_report([] { static_cast<void>(Outputs()["output"]); }));

  // In place, and back to a result of the request.
  expect_ok(kernelpack_set_destination(request_.get(), "output", scores_.get()));
  const Tensor in_place = expected();
  expect_ok(run());
  expect_equal(data_, in_place);
  expect_ok(kernelpack_set_destination(request_.get(), "output", nullptr));
  expect_ok(run());
  EXPECT_EQ(kernelpack_get_output_count(request_.get()), 1u);

  const int64_t wrong[] = {24};
  expect_ok(kernelpack_set_destination_spec(request_.get(), "output", KERNELPACK_FLOAT32, wrong, 1));
  const std::vector<NamedSpec> specs{{"data", {DType::float32, {2, 3, 4}}},
                                     {"bias", {DType::float32, {1, 1, 4}}}};
  EXPECT_EQ(report_of(run()), cpp_report([&] {
              Kernel::get(kBiasSoftmax)
                  .bind(specs, {.attributes = {{"axis", 2}, {"is_inner_broadcast", 1}},
                                .destinations = {{"output", {DType::float32, {24}}}}});
            }));
}

TEST_F(CApiRequests, SetValuesInEveryWay) {
  // Each replaces the value before, and only what really changes binds anew.
  const NamedValues other{{"axis", 1}, {"is_inner_broadcast", 0}};
  std::vector<float> per_row(8, 0.25F);
  const TensorHandle bias = wrap(per_row, {2, 1, 4});
  static_cast<void>(bias);
  expect_ok(kernelpack_set_number(request_.get(), KERNELPACK_ATTRIBUTE, "axis", -1));
  expect_ok(run());
  expect_equal(floats(output(request_, "output")), expected({{"axis", -1}, {"is_inner_broadcast", 1}}));
  expect_ok(kernelpack_set_json(request_.get(), KERNELPACK_ATTRIBUTE, "axis", " 2 "));
  expect_ok(run());
  expect_ok(kernelpack_unset_value(request_.get(), KERNELPACK_ATTRIBUTE, "axis"));
  expect_ok(kernelpack_unset_value(request_.get(), KERNELPACK_ATTRIBUTE, "never set"));
  const std::string without = cpp_report([&] {
    Kernel::get(kBiasSoftmax).run(inputs(), {.attributes = {{"is_inner_broadcast", 1}}});
    throw Error(ErrorKind::internal, "ran");
  });
  if (without == "internal: ran")
    expect_ok(run());
  else
    EXPECT_EQ(report_of(run()), without);

  const auto refused = [&](const NamedValues& attributes) {
    return cpp_report([&] { Kernel::get(kBiasSoftmax).run(inputs(), {.attributes = attributes}); });
  };
  expect_ok(kernelpack_set_string(request_.get(), KERNELPACK_ATTRIBUTE, "axis", "two"));
  EXPECT_EQ(report_of(run()), refused({{"is_inner_broadcast", 1}, {"axis", "two"}}));
  expect_ok(kernelpack_set_bool(request_.get(), KERNELPACK_ATTRIBUTE, "axis", 2));
  EXPECT_EQ(report_of(run()), refused({{"is_inner_broadcast", 1}, {"axis", true}}));
  const double list[] = {1, 2.5};
  expect_ok(kernelpack_set_numbers(request_.get(), KERNELPACK_ATTRIBUTE, "axis", list, 2));
  EXPECT_EQ(report_of(run()), refused({{"is_inner_broadcast", 1}, {"axis", AttributeValue::List{1.0, 2.5}}}));
  expect_ok(kernelpack_set_numbers(request_.get(), KERNELPACK_ATTRIBUTE, "axis", nullptr, 0));
  EXPECT_EQ(report_of(run()), refused({{"is_inner_broadcast", 1}, {"axis", AttributeValue::List{}}}));
  expect_ok(kernelpack_set_json(request_.get(), KERNELPACK_ATTRIBUTE, "axis", R"([null, "x", [true]])"));
  EXPECT_EQ(report_of(run()),
            refused({{"is_inner_broadcast", 1},
                     {"axis", AttributeValue::List{AttributeValue(), "x", AttributeValue::List{true}}}}));
  expect_ok(kernelpack_set_values(request_.get(), KERNELPACK_ATTRIBUTE, R"({"axes": 2})"));
  EXPECT_EQ(report_of(run()), refused({{"axes", 2}}));
  expect_ok(kernelpack_set_values(request_.get(), KERNELPACK_ATTRIBUTE, "{}"));
  expect_ok(kernelpack_set_number(request_.get(), KERNELPACK_ARGUMENT, "factor", 2));
  EXPECT_EQ(report_of(run()), cpp_report([&] {
              Kernel::get(kBiasSoftmax).run(inputs(), {.arguments = {{"factor", 2}}});
            }));
}

TEST_F(CApiRequests, SayWhereAJsonTextIsWrong) {
  EXPECT_EQ(
      report_of(kernelpack_set_values(request_.get(), KERNELPACK_ATTRIBUTE, R"({"axis": 2,})")).substr(0, 10),
      "contract: ");
  EXPECT_NE(std::strstr(kernelpack_get_error_where(), "json"), nullptr) << kernelpack_get_error_where();
  EXPECT_NE(std::strstr(kernelpack_get_error_excerpt(), "^"), nullptr);
  EXPECT_EQ(
      report_of(kernelpack_set_values(request_.get(), KERNELPACK_ATTRIBUTE, "[1]")),
      "contract: The kind of a value of the request (expected: object, given: array) is wrong (json, line 1, "
      "column 1)\n[1]\n^^^");
  EXPECT_EQ(kernelpack_set_json(request_.get(), KERNELPACK_ATTRIBUTE, "axis", R"({"a": 1})"),
            KERNELPACK_ERROR_CONTRACT);
  EXPECT_EQ(kernelpack_set_json(request_.get(), KERNELPACK_ATTRIBUTE, "axis", ""), KERNELPACK_ERROR_CONTRACT);
  EXPECT_EQ(kernelpack_set_json(request_.get(), KERNELPACK_ATTRIBUTE, "axis", "1 2"),
            KERNELPACK_ERROR_CONTRACT);
  EXPECT_EQ(kernelpack_set_json(request_.get(), KERNELPACK_ATTRIBUTE, "axis", "\xff"),
            KERNELPACK_ERROR_CONTRACT);
  const std::string deep(100000, '[');
  EXPECT_EQ(kernelpack_set_json(request_.get(), KERNELPACK_ATTRIBUTE, "axis", deep.c_str()),
            KERNELPACK_ERROR_LIMIT);
  // All of that left the request as it was.
  expect_ok(run());
  expect_equal(floats(output(request_, "output")), expected());
}

TEST_F(CApiRequests, SayWhatCppSaysOfWrongRequests) {
  expect_ok(kernelpack_set_input(request_.get(), "bios", mask_.get()));
  Inputs three = inputs();
  three.push_back({"bios", three[1].tensor});
  const NamedValues attributes{{"axis", 2}, {"is_inner_broadcast", 1}};
  EXPECT_EQ(report_of(run()),
            cpp_report([&] { Kernel::get(kBiasSoftmax).run(three, {.attributes = attributes}); }));
  expect_ok(kernelpack_set_input(request_.get(), "bios", nullptr));
  expect_ok(kernelpack_set_input(request_.get(), "bios", nullptr));
  expect_ok(run());

  expect_ok(kernelpack_want_output(request_.get(), "output"));
  const RunOptions wanted{.attributes = attributes, .wanted = {{"output", std::nullopt}}};
  std::string said;
  try {
    Kernel::get(kBiasSoftmax).run(inputs(), wanted);
  } catch (const Error& error) {
    said = error.report();
  }
  if (said.empty())
    expect_ok(run());
  else
    EXPECT_EQ(report_of(run()), said);

  const RequestHandle other = request_of(kernel_);
  expect_ok(kernelpack_set_variant(other.get(), "no_such_variant"));
  const int64_t shape[] = {2, 4};
  expect_ok(kernelpack_set_input_spec(other.get(), "data", KERNELPACK_FLOAT32, shape, 2));
  expect_ok(kernelpack_set_input_spec(other.get(), "bias", KERNELPACK_FLOAT32, shape, 2));
  const std::vector<NamedSpec> specs{{"data", {DType::float32, {2, 4}}}, {"bias", {DType::float32, {2, 4}}}};
  char* text = nullptr;
  EXPECT_EQ(report_of(kernelpack_bind_request(other.get(), &text)),
            cpp_report([&] { Kernel::get(kBiasSoftmax).bind(specs, {.variant = "no_such_variant"}); }));
  EXPECT_EQ(text, nullptr);
  expect_ok(kernelpack_set_variant(other.get(), nullptr));
  expect_ok(kernelpack_set_number(other.get(), KERNELPACK_ATTRIBUTE, "is_inner_broadcast", 1));
  expect_ok(kernelpack_bind_request(other.get(), &text));
  EXPECT_EQ(text,
            to_json(Kernel::get(kBiasSoftmax).bind(specs, {.attributes = {{"is_inner_broadcast", 1}}})));
  TextHandle(text).reset();
  EXPECT_EQ(report_of(kernelpack_run_request(other.get(), nullptr)),
            "contract: The tensor data has a dtype and shape but no values (tensor data)");

  // The op of another package has no CPU kernel.
  const RequestHandle add = request_of(load(kTestPackages + "broadcast_add"));
  expect_ok(kernelpack_set_input(add.get(), "a", mask_.get()));
  expect_ok(kernelpack_set_input(add.get(), "b", mask_.get()));
  EXPECT_EQ(report_of(kernelpack_run_request(add.get(), nullptr)), cpp_report([&] {
              const TensorView bias = inputs()[1].tensor;
              Kernel::get(kTestPackages + "broadcast_add").run({{"a", bias}, {"b", bias}});
            }));
}

TEST_F(CApiRequests, AskForOptionalOutputs) {
  const int64_t shape[] = {2, 4};
  expect_ok(kernelpack_want_output_spec(request_.get(), "none", KERNELPACK_FLOAT32, shape, 2));
  EXPECT_EQ(report_of(run()), cpp_report([&] {
              Kernel::get(kBiasSoftmax)
                  .run(inputs(), {.attributes = {{"axis", 2}, {"is_inner_broadcast", 1}},
                                  .wanted = {{"none", TensorSpec{DType::float32, {2, 4}}}}});
            }));
}

TEST_F(CApiRequests, ArePlannedAndExplainedWithoutAGpu) {
  const Kernel kernel = Kernel::get(kTestPackages + "planbench");
  const RequestHandle request = request_of(load(kTestPackages + "planbench"));
  const int64_t x[] = {4, 64};
  const int64_t bias[] = {64};
  expect_ok(kernelpack_set_input_spec(request.get(), "x", KERNELPACK_FLOAT32, x, 2));
  expect_ok(kernelpack_set_input_spec(request.get(), "bias", KERNELPACK_FLOAT32, bias, 1));
  const Call call =
      kernel.bind(std::vector<NamedSpec>{{"x", {DType::float32, {4, 64}}}, {"bias", {DType::float32, {64}}}});
  DeviceFacts facts = DeviceFacts::defaults();
  for (const bool described : {false, true}) {
    if (described) facts.limits["maxComputeInvocationsPerWorkgroup"] = 128;
    const std::string json = facts.to_json();
    const char* given = described ? json.c_str() : nullptr;
    const auto text_of = [&](auto function, kernelpack_format format) {
      char* text = nullptr;
      expect_ok(function(request.get(), nullptr, given, format, &text));
      const TextHandle freed(text);
      return std::string(text == nullptr ? "" : text);
    };
    const Explanation explanation = kernel.explain(call, facts);
    EXPECT_EQ(text_of(kernelpack_explain_request, KERNELPACK_FORMAT_JSON), to_json(explanation));
    EXPECT_EQ(text_of(kernelpack_explain_request, KERNELPACK_FORMAT_TEXT), to_string(explanation));
    char* text = nullptr;
    if (explanation.plan) {
      EXPECT_EQ(text_of(kernelpack_plan_request, KERNELPACK_FORMAT_JSON),
                to_json(call, *kernel.plan(call, facts)));
      EXPECT_EQ(text_of(kernelpack_plan_request, KERNELPACK_FORMAT_TEXT),
                to_string(*kernel.plan(call, facts)));
    } else {
      EXPECT_EQ(
          report_of(kernelpack_plan_request(request.get(), nullptr, given, KERNELPACK_FORMAT_JSON, &text)),
          cpp_report([&] { kernel.plan(call, facts); }));
    }
  }
  char* text = nullptr;
  EXPECT_EQ(report_of(kernelpack_plan_request(request.get(), nullptr, "{\"limits\": 3}",
                                              KERNELPACK_FORMAT_JSON, &text)),
            cpp_report([] { DeviceFacts::from_json("{\"limits\": 3}", "facts"); }));
  EXPECT_EQ(kernelpack_plan_request(request.get(), nullptr, nullptr, 2, &text), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_explain_request(request.get(), nullptr, nullptr, -1, &text),
            KERNELPACK_ERROR_ARGUMENT);
  kernelpack_device* opened = nullptr;
  expect_ok(kernelpack_open_cpu(nullptr, &opened));
  const DeviceHandle cpu(opened);
  EXPECT_EQ(report_of(kernelpack_plan_request(request.get(), opened, "{}", KERNELPACK_FORMAT_TEXT, &text)),
            "argument: The arguments device and facts are both given, but one of them is expected "
            "(kernelpack_plan_request)");
  EXPECT_EQ(
      report_of(kernelpack_explain_request(request.get(), opened, nullptr, KERNELPACK_FORMAT_TEXT, &text)),
      cpp_report([] { static_cast<void>(Device::cpu().facts()); }));
}

TEST_F(CApiRequests, OfOneKernelRunInSeveralThreads) {
  const Tensor right = expected();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      kernelpack_request* made = nullptr;
      if (kernelpack_create_request(kernel_.get(), &made) != KERNELPACK_OK) ++wrong;
      const RequestHandle request(made);
      kernelpack_set_input(made, "data", scores_.get());
      kernelpack_set_input(made, "bias", mask_.get());
      kernelpack_set_values(made, KERNELPACK_ATTRIBUTE, R"({"axis": 2, "is_inner_broadcast": 1})");
      for (int i = 0; i < 200; ++i) {
        if (kernelpack_run_request(made, nullptr) != KERNELPACK_OK) ++wrong;
        kernelpack_tensor* result = nullptr;
        if (kernelpack_get_output(made, "output", &result) != KERNELPACK_OK) ++wrong;
        const TensorHandle freed(result);
        if (std::memcmp(kernelpack_get_tensor_data(result), right.data(), right.byte_size()) != 0) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CApiRequests, NullAndUnknownConstantsAreErrors) {
  char* text = nullptr;
  kernelpack_tensor* tensor = nullptr;
  kernelpack_request* request = nullptr;
  kernelpack_request* const r = request_.get();
  const int64_t shape[] = {1};
  for (const kernelpack_status status :
       {kernelpack_create_request(nullptr, &request),
        kernelpack_create_request(kernel_.get(), nullptr),
        kernelpack_set_input(nullptr, "data", scores_.get()),
        kernelpack_set_input(r, nullptr, scores_.get()),
        kernelpack_set_input_spec(nullptr, "data", KERNELPACK_FLOAT32, shape, 1),
        kernelpack_set_input_spec(r, nullptr, KERNELPACK_FLOAT32, shape, 1),
        kernelpack_set_input_spec(r, "data", KERNELPACK_FLOAT32, nullptr, 1),
        kernelpack_set_input_spec(r, "data", 99, shape, 1),
        kernelpack_set_destination(nullptr, "x", scores_.get()),
        kernelpack_set_destination(r, nullptr, scores_.get()),
        kernelpack_set_destination_spec(nullptr, "x", KERNELPACK_FLOAT32, shape, 1),
        kernelpack_set_destination_spec(r, nullptr, KERNELPACK_FLOAT32, shape, 1),
        kernelpack_want_output(nullptr, "x"),
        kernelpack_want_output(r, nullptr),
        kernelpack_want_output_spec(r, nullptr, KERNELPACK_FLOAT32, shape, 1),
        kernelpack_want_output_spec(nullptr, "x", KERNELPACK_FLOAT32, shape, 1),
        kernelpack_set_variant(nullptr, "x"),
        kernelpack_set_bool(nullptr, 0, "x", 1),
        kernelpack_set_bool(r, 3, "x", 1),
        kernelpack_set_bool(r, 0, nullptr, 1),
        kernelpack_set_number(nullptr, 0, "x", 1),
        kernelpack_set_number(r, -1, "x", 1),
        kernelpack_set_string(r, 0, "x", nullptr),
        kernelpack_set_string(nullptr, 0, "x", "y"),
        kernelpack_set_numbers(r, 0, "x", nullptr, 1),
        kernelpack_set_numbers(nullptr, 0, "x", nullptr, 0),
        kernelpack_set_json(r, 0, "x", nullptr),
        kernelpack_set_json(nullptr, 0, "x", "1"),
        kernelpack_set_values(r, 0, nullptr),
        kernelpack_set_values(nullptr, 0, "{}"),
        kernelpack_set_values(r, 3, "{}"),
        kernelpack_unset_value(nullptr, 0, "x"),
        kernelpack_unset_value(r, 0, nullptr),
        kernelpack_bind_request(nullptr, &text),
        kernelpack_bind_request(r, nullptr),
        kernelpack_run_request(nullptr, nullptr),
        kernelpack_get_output(nullptr, "x", &tensor),
        kernelpack_get_output(r, nullptr, &tensor),
        kernelpack_get_output(r, "x", nullptr),
        kernelpack_plan_request(nullptr, nullptr, nullptr, 0, &text),
        kernelpack_plan_request(r, nullptr, nullptr, 0, nullptr),
        kernelpack_explain_request(nullptr, nullptr, nullptr, 0, &text),
        kernelpack_explain_request(r, nullptr, nullptr, 0, nullptr)})
    EXPECT_EQ(status, KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_get_output_count(nullptr), 0u);
  EXPECT_EQ(kernelpack_get_error_status(), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_get_output_name(nullptr, 0), nullptr);
  EXPECT_EQ(kernelpack_get_output_name(r, 0), nullptr);
  EXPECT_STREQ(
      kernelpack_get_error_report(),
      "argument: The index (0) is not less than the number of results (0) (kernelpack_get_output_name)");
  kernelpack_free_request(nullptr);
  expect_ok(run());
}

TEST(CApiKernels, AreLoadedAndInspected) {
  const KernelHandle kernel = load(kBiasSoftmax);
  EXPECT_STREQ(kernelpack_get_kernel_op(kernel.get()), "com.microsoft.BiasSoftmax");
  char* json = nullptr;
  expect_ok(kernelpack_inspect_kernel(kernel.get(), &json));
  EXPECT_EQ(json, to_json(Kernel::get(kBiasSoftmax)));
  TextHandle(json).reset();

  kernelpack_kernel* none = nullptr;
  EXPECT_EQ(kernelpack_load_kernel(nullptr, nullptr, &none), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_load_kernel("x", nullptr, nullptr), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_get_kernel_op(nullptr), nullptr);
  EXPECT_EQ(kernelpack_inspect_kernel(nullptr, &json), KERNELPACK_ERROR_ARGUMENT);
  EXPECT_EQ(kernelpack_inspect_kernel(kernel.get(), nullptr), KERNELPACK_ERROR_ARGUMENT);
  kernelpack_free_kernel(nullptr);
}

TEST(CApiKernels, OptionsSayWhatTheySayInCpp) {
  const auto said = [](const char* source, const GetOptions& options) {
    try {
      Kernel::get(source, options);
    } catch (const Error& error) {
      return error.report();
    }
    return std::string("loaded");
  };
  const auto refused = [](const char* source, kernelpack_kernel_options options) {
    options.struct_size = sizeof options;
    kernelpack_kernel* kernel = nullptr;
    const kernelpack_status status = kernelpack_load_kernel(source, &options, &kernel);
    kernelpack_free_kernel(kernel);
    return status == KERNELPACK_OK ? std::string("loaded") : report_of(status);
  };
  const char* const folder = kBiasSoftmax.c_str();
  EXPECT_EQ(refused(folder, {.version = 1}), said(folder, {.version = 1}));
  EXPECT_EQ(refused(folder, {.revision = "v1"}), said(folder, {.revision = "v1"}));
  EXPECT_EQ(refused(folder, {.expected_op_id = "com.example.Other"}),
            said(folder, {.expected_op_id = "com.example.Other"}));
  EXPECT_EQ(refused(folder, {.attempts = -1}).substr(0, 9), "argument:");
  // A package of the Hub that is not in the cache, without a network.
  const auto cache =
      std::filesystem::temp_directory_path() / ("kernelpack_c_api_" + std::to_string(getpid()));
  const std::string hub = cache.string();
  const char* const spec = "webgpu-kernels/com.example.Nothing";
  EXPECT_EQ(refused(spec, {.version = 1, .offline = 1, .cache_folder = hub.c_str()}),
            said(spec, {.version = 1, .offline = true, .cache_dir = cache}));
  const char* const stranger = "somebody/com.example.Nothing";
  EXPECT_EQ(refused(stranger, {.version = 1, .offline = 1, .cache_folder = hub.c_str()}),
            said(stranger, {.version = 1, .offline = true, .cache_dir = cache}));
  EXPECT_EQ(
      refused(stranger, {.version = 1, .trust_remote_code = 1, .offline = 1, .cache_folder = hub.c_str()}),
      said(stranger, {.version = 1, .trust_remote_code = true, .offline = true, .cache_dir = cache}));
  // No server listens: every attempt fails at once.
  const char* const nobody = "http://127.0.0.1:9";
  EXPECT_EQ(refused(spec, {.version = 1, .attempts = 1, .cache_folder = hub.c_str(), .endpoint = nobody}),
            said(spec, {.version = 1, .cache_dir = cache, .endpoint = nobody, .limits = {.attempts = 1}}));
  EXPECT_EQ(refused("./none", {}), said("./none", {}));
  EXPECT_EQ(refused("com.microsoft.BiasSoftmx", {}), said("com.microsoft.BiasSoftmx", {}));
  std::filesystem::remove_all(cache);
}

}  // namespace
}  // namespace kernelpack
