#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <vector>

#include <fmt/format.h>

#include "failure.hpp"
#include "manual.hpp"
#include "usage.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

constexpr const char* kFooter =
    "EXIT CODES\n"
    "  0  done\n"
    "  1  something is wrong in a package, a tensor, an attribute or a named input\n"
    "     file (missing and unreadable files, too)\n"
    "  2  flags or syntax\n"
    "  3  an output cannot be written, a device or library is missing, or an\n"
    "     internal fault\n"
    "  4  a --check or a case of test failed\n"
    "\n"
    "ERRORS\n"
    "  One line on standard error: \"kernelpack: KIND: message (where)\". For faults\n"
    "  inside a package, and for all with --verbose, the source line and the context\n"
    "  follow.\n"
    "\n"
    "EXAMPLES\n"
    "  kernelpack list\n"
    "  kernelpack inspect com.microsoft.BiasSoftmax\n"
    "  kernelpack run com.microsoft.BiasSoftmax \\\n"
    "      --input data=scores.npy --input bias=mask.npy \\\n"
    "      --attr axis=3 --attr is_inner_broadcast=1 --output output=probs.npy\n"
    "  kernelpack plot probs.npy --index 0,3 --output map.png\n"
    "  kernelpack inspect webgpu-kernels/ai.onnx.Softmax@v1\n"
    "\n"
    "  'kernelpack COMMAND --help' tells more about a command.\n";

ExitCode run_program(int argc, char** argv, bool& verbose) {
  CLI::App program(
      "run kernel packages natively\n"
      "Runs Hugging Face WebGPU kernel packages: small folders that hold one operator as a manifest and "
      "shaders. "
      "Tensors are read from and written to .npy and .safetensors files.",
      "kernelpack");
  program.formatter(std::make_shared<Manual>());
  program.set_help_flag("-h,--help", "Print this manual, or that of a command.");
  program.set_version_flag("--version", "kernelpack " KERNELPACK_VERSION, "Print the version.");
  program.add_flag("-v,--verbose", verbose, "Print source lines and context for every error.");
  program.fallthrough();
  program.require_subcommand(1);
  const std::vector<Verb> verbs{add_run(program),     add_plan(program),    add_explain(program),
                                add_render(program),  add_inspect(program), add_validate(program),
                                add_list(program),    add_fetch(program),   add_cache(program),
                                add_test(program),    add_bench(program),   add_tune(program),
                                add_devices(program), add_prewarm(program), add_plot(program)};
  // Commands take the footer that the program has when they are added.
  program.footer(kFooter);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    print(std::string(version.what()) + '\n');
    return ExitCode::ok;
  } catch (const CLI::CallForHelp&) {
    print(program.help());
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    throw UsageError(usage_message(program, error));
  }
  for (const Verb& verb : verbs) {
    if (verb.options->parsed()) return verb.action();
  }
  throw UsageError("No command is given; see kernelpack --help");
}

int fail(const std::string& text, ExitCode code) {
  std::fputs(text.c_str(), stderr);
  return static_cast<int>(code);
}

/// A file that is opened later must not become a standard stream that was closed: it would receive the
/// reports.
void reserve_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) {
      // Opened for the other direction, so that using it still fails.
      if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) return;
    }
  }
}

int guarded_main(int argc, char** argv) {
  bool verbose = false;
  try {
    return static_cast<int>(run_program(argc, argv, verbose));
  } catch (const UsageError& error) {
    return fail(describe_usage(error.what()), ExitCode::usage);
  } catch (const Failure& failure) {
    return fail(describe(failure.error, verbose), failure.code);
  } catch (const Error& error) {
    return fail(describe(error, verbose), exit_code_of(error.kind()));
  } catch (const std::bad_alloc&) {
    return fail("kernelpack: internal: Memory is exhausted\n", ExitCode::environment);
  } catch (const std::exception& error) {
    return fail(fmt::format("kernelpack: internal: {}\n", single_line(error.what())), ExitCode::environment);
  } catch (...) {
    return fail("kernelpack: internal: An exception of unknown type is thrown\n", ExitCode::environment);
  }
}

}  // namespace
}  // namespace kernelpack::cli

int main(int argc, char** argv) {
  kernelpack::cli::reserve_standard_streams();
  // A file size limit is then an error of the write that exceeds it, not the end of the process.
  std::signal(SIGXFSZ, SIG_IGN);
  return kernelpack::cli::guarded_main(argc, argv);
}
