#include "tensor_file.hpp"

#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "failure.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::cli {
namespace {

std::string identity(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(absolute, ignored);
  return canonical.empty() ? path.string() : canonical.string();
}

const std::string& entry_name(const TensorTarget& target) {
  return target.file.entry.empty() ? target.name : target.file.entry;
}

}  // namespace

TensorView TensorReader::read(const TensorFile& file) {
  if (!file.safetensors) {
    tensors_.push_back(std::make_unique<Tensor>(read_npy(file.path)));
    return tensors_.back()->view();
  }
  auto& mapped = mapped_[identity(file.path)];
  if (!mapped) mapped = std::make_unique<SafetensorsFile>(file.path);
  if (!file.entry.empty()) return mapped->at(file.entry);
  if (mapped->entries().size() == 1) return mapped->entries().front().tensor;
  throw Error(ErrorKind::contract,
              mapped->entries().empty()
                  ? "The file holds no tensor"
                  : fmt::format("The file holds several tensors ({}), so one must be named as FILE:NAME",
                                mapped->entries().size()),
              file.path.string());
}

void require_distinct(std::span<const TensorTarget> targets) {
  std::set<std::pair<std::string, std::string>> places;
  for (const TensorTarget& target : targets) {
    const std::string entry = target.file.safetensors ? entry_name(target) : std::string();
    if (!places.emplace(identity(target.file.path), entry).second) {
      throw UsageError(
          fmt::format("Two outputs are written to the same place ({})", target.file.path.string()));
    }
  }
}

void write_tensors(std::span<const TensorTarget> targets, std::span<const TensorView> tensors) {
  std::map<std::string, std::vector<NamedTensorView>> collected;
  std::map<std::string, std::filesystem::path> paths;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const TensorTarget& target = targets[i];
    if (target.file.safetensors) {
      const std::string key = identity(target.file.path);
      collected[key].push_back({entry_name(target), tensors[i]});
      paths.emplace(key, target.file.path);
    } else {
      write_npy(target.file.path, tensors[i]);
    }
  }
  for (const auto& [key, named] : collected) write_safetensors(paths.at(key), named);
}

}  // namespace kernelpack::cli
