// Manifests with random damage either load or give faults; nothing else happens. The seed is printed.
#include <random>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/json.hpp"
#include "package/manifest.hpp"
#include "package/model.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {
namespace {

constexpr unsigned kSeed = 20240613;
constexpr int kMutations = 4000;

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

std::size_t size_of(const json::Value& value) {
  std::size_t count = 1;
  if (value.is_array())
    for (const json::Value& item : value.items()) count += size_of(item);
  if (value.is_object())
    for (const json::Member& member : value.members()) count += size_of(member.value);
  return count;
}

json::Value damaged_leaf(Random& random) {
  const std::vector<json::Value> pool = {json::Value::make_null(),
                                         json::Value::make(true),
                                         json::Value::make(-1.0),
                                         json::Value::make(1e300),
                                         json::Value::make(0.5),
                                         json::Value::make(65536.0),
                                         json::Value::make(std::string()),
                                         json::Value::make(std::string("x")),
                                         json::Value::make(std::string("{width}")),
                                         json::Value::make(std::string("shapes.x +")),
                                         json::Value::make(std::string("$T")),
                                         json::Value::make(std::string("../x")),
                                         json::Value::make(std::string(300, '(')),
                                         json::Value::make(std::vector<json::Value>{}),
                                         json::Value::make(std::vector<json::Member>{}),
                                         json::Value::make(std::vector<json::Value>{
                                             json::Value::make(std::string("x")), json::Value::make(1.0)})};
  return pool[below(random, pool.size())];
}

// Copies the value with damage at the node number `target` of its tree.
json::Value damage(const json::Value& value, std::size_t target, std::size_t& position, Random& random,
                   const json::Value& donor) {
  if (position++ == target) return below(random, 3) == 0 ? donor : damaged_leaf(random);
  if (value.is_array()) {
    std::vector<json::Value> items;
    for (const json::Value& item : value.items())
      items.push_back(damage(item, target, position, random, donor));
    if (position > target && below(random, 20) == 0 && !items.empty()) items.push_back(items.front());
    return json::Value::make(std::move(items));
  }
  if (value.is_object()) {
    std::vector<json::Member> members;
    for (const json::Member& member : value.members()) {
      if (below(random, 400) == 0) continue;
      members.push_back({below(random, 400) == 0 ? "other" : member.key,
                         damage(member.value, target, position, random, donor),
                         {}});
    }
    return json::Value::make(std::move(members));
  }
  return value;
}

const json::Value& pick(const json::Value& value, Random& random) {
  if (value.is_array() && !value.items().empty() && below(random, 4) != 0)
    return pick(value.items()[below(random, value.items().size())], random);
  if (value.is_object() && !value.members().empty() && below(random, 4) != 0)
    return pick(value.members()[below(random, value.members().size())].value, random);
  return value;
}

TEST(Mutation, DamagedManifestsLoadOrGiveFaults) {
  Random random(kSeed);
  std::printf("seed %u\n", kSeed);
  int faulty = 0, count = 0;
  for (const std::string base : {"2.1", "1.0"}) {
    const std::string path =
        std::string(KERNELPACK_SOURCE_DIR) + "/tests/bad_packages/base/" + base + "/manifest.json";
    const json::Document original = json::parse(read_file(path, 1 << 20), "manifest.json");
    const std::size_t nodes = size_of(original.root);
    for (int i = 0; i < kMutations / 2; ++i) {
      std::size_t position = 0;
      const json::Value root =
          damage(original.root, below(random, nodes), position, random, pick(original.root, random));
      Faults faults;
      try {
        const json::Document document = json::parse(json::write(root), "manifest.json");
        Source source{document, faults};
        Model model;
        model.generation = base == "1.0" ? Generation::one : Generation::two;
        base == "1.0" ? read_manifest_1(Node(source, document.root), model)
                      : read_manifest_2(Node(source, document.root), model);
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::internal) << error.report();
        faults.add(error);
      }
      const std::vector<Error> errors = faults.take();
      for (const Error& error : errors) {
        EXPECT_FALSE(error.message().empty());
        EXPECT_NE(error.kind(), ErrorKind::internal) << error.report();
      }
      faulty += errors.empty() ? 0 : 1;
      ++count;
    }
  }
  std::printf("%d damaged manifests read, %d with faults\n", count, faulty);
  EXPECT_EQ(count, kMutations);
  EXPECT_GT(faulty, kMutations / 2);
}

}  // namespace
}  // namespace kernelpack::package
