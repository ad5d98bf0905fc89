#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "kernelpack/device.hpp"

namespace kernelpack::cli {

/// Adds --device, which takes gpu, gpu:NAME and, with `cpu`, cpu.
void add_device_option(CLI::App& command, std::string& device, bool cpu, const std::string& about);
/// Adds --threads, with what the library takes.
void add_threads_option(CLI::App& command, int& threads);

/// The GPU that --device and --library name; `halves`: one with float16.
GpuOptions gpu_options(const std::string& device, const std::string& library, bool halves);

/// Opens the GPU of these options, with `halves` one that has float16 if there is one. Throws as
/// Device::open.
Device open_preferring_halves(GpuOptions options, bool halves);

}  // namespace kernelpack::cli
