#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "bench_device.hpp"
#include "figures.hpp"
#include "json.hpp"
#include "kernelpack/file.hpp"
#include "kernelpack/tuning.hpp"
#include "layout.hpp"
#include "package_source.hpp"
#include "result_check.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

// A value must be better on the whole, and by more than noise, and must cost no case much.
constexpr double kLeastGain = 1.005;
constexpr double kMostLoss = 0.98;
// Larger results are not read back to be compared.
constexpr std::uint64_t kMostCompared = std::uint64_t{64} << 20;

struct Flags {
  PackageFlags package;
  BenchFlags bench;
  std::string export_file;
  std::string import_file;
  std::string json;
};

/// One value of one tunable against the value that is in force.
struct Trial {
  AttributeValue value;
  std::vector<double> ratios;  ///< per case, time in force over time with the value
  std::string refusal;         ///< why it is out of the question

  double gain() const {
    double sum = 0;
    for (const double ratio : ratios) sum += std::log(ratio);
    return ratios.empty() ? 1 : std::exp(sum / static_cast<double>(ratios.size()));
  }
  double worst() const { return ratios.empty() ? 1 : *std::min_element(ratios.begin(), ratios.end()); }
  bool accepted() const { return refusal.empty() && gain() >= kLeastGain && worst() >= kMostLoss; }
};

struct Search {
  std::string tunable;
  AttributeValue in_force;
  std::size_t cases = 0;
  std::vector<Trial> trials;
  const Trial* best = nullptr;
};

NamedValues with(NamedValues values, const std::string& name, const AttributeValue& value) {
  std::erase_if(values, [&](const NamedValue& other) { return other.name == name; });
  values.push_back({name, value});
  return values;
}

/// Whether both plans give the same results on the tensors of the case.
bool same_results(const Device& device, const Contender& a, const Contender& b) {
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    run_once(device, a);
    const Tensor first = a.tensors[i].read();
    run_once(device, b);
    if (!(worst_of(b.tensors[i].read(), first) <= 1)) return false;
  }
  return true;
}

/// Measures every value of the tunable on one case, in turn.
void try_case(const Device& device, const Kernel& kernel, const BenchmarkCase& benchmark,
              const NamedValues& chosen, const Method& method, Search& search) {
  const CaseTensors tensors(device, kernel, benchmark);
  const Call call = tensors.bind(kernel);
  const PlanOptions in_force{.profile = chosen};
  Contender current = tensors.contender("in force", kernel, call, &in_force);
  std::vector<Contender> others(search.trials.size());
  std::vector<Contender*> contenders{&current};
  for (std::size_t i = 0; i < search.trials.size(); ++i) {
    Trial& trial = search.trials[i];
    if (!trial.refusal.empty()) continue;
    const PlanOptions options{.profile = with(chosen, search.tunable, trial.value)};
    try {
      others[i] = tensors.contender(to_string(trial.value), kernel, call, &options);
    } catch (const Error& error) {
      trial.refusal = error.line();
      continue;
    }
    if (*others[i].plan == *current.plan) continue;
    if (tensors.bytes() <= kMostCompared && !same_results(device, current, others[i])) {
      trial.refusal = fmt::format("it gives other results in case {}", benchmark.id);
      continue;
    }
    contenders.push_back(&others[i]);
  }
  if (contenders.size() > 1) measure(device, contenders, method);
  ++search.cases;
  for (std::size_t i = 0; i < search.trials.size(); ++i)
    if (search.trials[i].refusal.empty())
      search.trials[i].ratios.push_back(others[i].seconds.empty() ? 1.0
                                                                  : current.median() / others[i].median());
}

AttributeValue default_of(const PackageSummary& package, const std::string& name) {
  for (const PackageSummary::Tunable& tunable : package.tunables)
    if (tunable.name == name) return tunable.value;
  return {};
}

std::vector<Search> search_all(const Device& device, const Kernel& kernel, const BenchmarkCases& cases,
                               const Method& method, NamedValues& chosen) {
  const PackageSummary package = kernel.package().describe();
  const auto matters = [&](const BenchmarkCase& benchmark, const std::string& tunable) {
    return runs_on(device, benchmark) &&
           std::find(benchmark.tune.begin(), benchmark.tune.end(), tunable) != benchmark.tune.end();
  };
  std::size_t total = 0;
  for (const TunableRange& range : cases.tunables)
    for (const BenchmarkCase& benchmark : cases.cases) total += matters(benchmark, range.name) ? 1 : 0;
  StepLine line(total);
  std::size_t done = 0;
  std::vector<Search> searches;
  for (const TunableRange& range : cases.tunables) {
    Search search;
    search.tunable = range.name;
    search.in_force = default_of(package, range.name);
    for (const AttributeValue& value : range.values)
      if (!(value == search.in_force)) search.trials.push_back({value, {}, {}});
    for (const BenchmarkCase& benchmark : cases.cases) {
      if (!matters(benchmark, range.name)) continue;
      line.show(++done, range.name + " in " + benchmark.id);
      try {
        try_case(device, kernel, benchmark, chosen, method, search);
      } catch (const Error& error) {
        // A case that the device does not hold says nothing about the others.
        if (error.kind() != ErrorKind::limit) throw;
      }
    }
    searches.push_back(std::move(search));
    const Trial* best = nullptr;
    for (const Trial& trial : searches.back().trials)
      if (trial.accepted() && (best == nullptr || trial.gain() > best->gain())) best = &trial;
    searches.back().best = best;
    if (best != nullptr) chosen = with(chosen, range.name, best->value);
  }
  return searches;
}

std::string value_text(const AttributeValue& value) {
  return value.is_null() ? "the variant's own" : to_string(value);
}

std::string report_text(const std::vector<Search>& searches) {
  Table table;
  table.add({"tunable", "cases", "value", "gain", "least", ""});
  for (const Search& search : searches) {
    if (search.cases == 0) {
      table.add({search.tunable, "0", "", "", "", "no case says that it matters"});
      continue;
    }
    table.add({search.tunable, std::to_string(search.cases), value_text(search.in_force), "1.000", "1.000",
               search.best == nullptr ? "kept" : ""});
    for (const Trial& trial : search.trials) {
      if (!trial.refusal.empty())
        table.add({"", "", to_string(trial.value), "-", "-", "refused: " + trial.refusal});
      else
        table.add({"", "", to_string(trial.value), fmt::format("{:.3f}", trial.gain()),
                   fmt::format("{:.3f}", trial.worst()), &trial == search.best ? "taken" : ""});
    }
  }
  return table.text("time with the value in force over time with the value: mean over the cases, and least") +
         "\n";
}

Json report_json(const std::vector<Search>& searches, const std::string& device, const NamedValues& chosen) {
  Json list = Json::array();
  for (const Search& search : searches) {
    Json trials = Json::array();
    for (const Trial& trial : search.trials) {
      Json entry{{"value", to_json(trial.value)}, {"ratios", trial.ratios}, {"taken", &trial == search.best}};
      if (!trial.refusal.empty()) entry["refused"] = trial.refusal;
      trials.push_back(std::move(entry));
    }
    list.push_back({{"tunable", search.tunable},
                    {"inForce", to_json(search.in_force)},
                    {"cases", search.cases},
                    {"trials", trials}});
  }
  return {
      {"schema", "kernelpack-tune/1"}, {"device", device}, {"tunables", to_json(chosen)}, {"searches", list}};
}

ExitCode tune(const Flags& flags) {
  const Kernel kernel = get_runnable_kernel(flags.package);
  const Package& package = kernel.package();
  if (!flags.import_file.empty()) {
    const Device device = open_bench_device(flags.bench, {});
    const Tuning tuning =
        failing_with(ExitCode::input, [&] { return read_tuning(flags.import_file, package, device); });
    for (const std::string& note : tuning.notes) print_note(note);
    const auto file =
        failing_with(ExitCode::environment, [&] { return save_tuning(package, device, tuning.tunables); });
    print(
        fmt::format("{}: {} tunables for {}\n", file.string(), tuning.tunables.size(), device.description()));
    return ExitCode::ok;
  }
  const BenchmarkCases cases = bench_cases(flags.bench, package);
  const Device device = open_bench_device(flags.bench, cases.cases);
  NamedValues chosen;
  const std::vector<Search> searches = search_all(device, kernel, cases, flags.bench.method(), chosen);
  const auto file = failing_with(ExitCode::environment, [&] {
    if (!flags.export_file.empty()) write_file(flags.export_file, tuning_text(package, device, chosen));
    if (!flags.json.empty())
      write_file(flags.json, document(report_json(searches, device.description(), chosen)));
    return save_tuning(package, device, chosen);
  });
  std::string text =
      fmt::format("{} on {}\n", flags.package.source, device.description()) + report_text(searches);
  if (chosen.empty()) text += "The package's own values are the best here.\n";
  for (const NamedValue& each : chosen) text += fmt::format("{} = {}\n", each.name, to_string(each.value));
  print(text + "Profile: " + file.string() + "\n");
  return ExitCode::ok;
}

}  // namespace

Verb add_tune(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "tune",
      "find the fastest tunables of a package on this GPU\n"
      "Tries the values that the package's bench.json lists, one tunable after the other, on the cases that "
      "it "
      "matters to, in turn with the value in force. What is faster is kept as the device's profile in the "
      "user's "
      "cache, for the same adapter, driver and content of the package; later runs plan with it, and explain "
      "--device "
      "gpu shows it. A profile changes no result. KERNELPACK_TUNING=off keeps runs from using one.");
  auto flags = std::make_shared<Flags>();
  add_package_options(*command, flags->package);
  add_bench_options(*command, flags->bench);
  command->add_option("--export", flags->export_file, "Write the profile to this file, too.")
      ->type_name("FILE");
  command
      ->add_option("--import", flags->import_file,
                   "Measure nothing: take the profile of this file, made on an equal device.")
      ->type_name("FILE");
  command->add_option("--json", flags->json, "Write everything that was tried to this file.")
      ->type_name("FILE");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack tune com.microsoft.BiasSoftmax\n"
      "  kernelpack tune ./mine --cases rows_8 --export profile.json\n");
  return {command, [flags] { return tune(*flags); }};
}

}  // namespace kernelpack::cli
