#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "arguments.hpp"
#include "figures.hpp"
#include "heat_map.hpp"
#include "picture_file.hpp"
#include "tensor_file.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

struct PlotFlags {
  std::string file;
  std::string index;
  std::string output;
  std::string range;
  std::string title;
  bool terminal = false;
};

bool has_true_color() {
  if (isatty(STDOUT_FILENO) == 0 || std::getenv("NO_COLOR") != nullptr) return false;
  const char* depth = std::getenv("COLORTERM");
  return depth != nullptr && (std::string_view(depth) == "truecolor" || std::string_view(depth) == "24bit");
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

void set_range(HeatMap& map, const std::string& range) {
  const std::size_t comma = range.find(',');
  char* end_of_low = nullptr;
  char* end_of_high = nullptr;
  const std::string low = range.substr(0, comma);
  const std::string high = comma == std::string::npos ? "" : range.substr(comma + 1);
  map.low = std::strtod(low.c_str(), &end_of_low);
  map.high = std::strtod(high.c_str(), &end_of_high);
  if (low.empty() || high.empty() || *end_of_low != '\0' || *end_of_high != '\0' || !std::isfinite(map.low) ||
      !std::isfinite(map.high) || !(map.low < map.high)) {
    throw UsageError(fmt::format("The value of --range ({}) is not LOW,HIGH with LOW below HIGH", range));
  }
}

ExitCode plot(const PlotFlags& flags, bool output_given) {
  const TensorFile file = parse_tensor_file("FILE", flags.file);
  const std::vector<std::int64_t> index = parse_index("--index", flags.index);
  if (output_given && flags.output.empty()) throw UsageError("The option --output names no file");
  if (!output_given && !flags.terminal) {
    throw UsageError("Neither --output nor --terminal says where the plot goes");
  }
  HeatMap range_probe;
  if (!flags.range.empty()) set_range(range_probe, flags.range);

  TensorReader reader;
  const TensorView tensor = reader.read(file);
  const std::string name = file.path.filename().string() + (file.entry.empty() ? "" : ":" + file.entry);
  HeatMap map = take_slice(tensor, index, name);
  if (!flags.title.empty()) map.title = flags.title;
  if (!flags.range.empty()) set_range(map, flags.range);

  if (!flags.output.empty()) {
    failing_with(ExitCode::environment, [&] { write_png(flags.output, draw(map)); });
  }
  if (flags.terminal) print(to_terminal(map, terminal_width(), has_true_color()));
  if (!flags.output.empty()) {
    print(fmt::format("{}: {} x {} cells, {} to {}\n", flags.output, map.rows, map.columns,
                      number_text(map.low), number_text(map.high)));
  }
  return ExitCode::ok;
}

}  // namespace

Verb add_plot(CLI::App& program) {
  CLI::App* command = program.add_subcommand("plot",
                                             "draw a heat map of a matrix in a tensor file\n"
                                             "Fixes the leading axes of the tensor with --index and draws "
                                             "the matrix of the last two, or the row of the "
                                             "last one. NaN cells are grey; the scale spans the finite "
                                             "values and infinite ones take its end colours.");
  auto flags = std::make_shared<PlotFlags>();
  command->add_option("FILE", flags->file, "FILE.npy, or FILE.safetensors:TENSOR.")->required();
  command
      ->add_option("--index", flags->index,
                   "Indices of the leading axes, from 0; negative ones count from the end.")
      ->type_name("I,J,...");
  CLI::Option* output = command->add_option("--output", flags->output, "The PNG file to write.");
  output->type_name("FILE.png");
  command->add_flag(
      "--terminal", flags->terminal,
      "Print the map as text: half blocks in 24-bit colour on a terminal that says so (COLORTERM), "
      "else ASCII.");
  command->add_option("--range", flags->range, "The values at the two ends of the colour scale.")
      ->type_name("LOW,HIGH");
  command->add_option("--title", flags->title, "A title instead of the file's name.")->type_name("TEXT");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack plot probs.npy --index 0,3 --output map.png\n"
      "  kernelpack plot model.safetensors:weight --terminal --range -1,1\n");
  return {command, [flags, output] { return plot(*flags, output->count() > 0); }};
}

}  // namespace kernelpack::cli
