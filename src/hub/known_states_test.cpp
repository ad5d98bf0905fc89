#include "hub/known_states.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kernelpack::hub {
namespace {

using Known = std::optional<KnownState>;

const std::function<void()> kPatient = [] {};

TEST(HubKnownStates, OneOfManyThreadsAsks) {
  KnownStates states;
  std::atomic<int> asked = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        states.with("a", kPatient, [&](const Known& known) {
          if (known) return *known;
          ++asked;
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          return KnownState{"state", "note"};
        });
      });
  }
  EXPECT_EQ(asked, 1);
  states.with("b", kPatient, [](const Known& known) {
    EXPECT_FALSE(known);
    return Known{};
  });
}

TEST(HubKnownStates, AFailureIsNotKept) {
  KnownStates states;
  const auto fail = [](const Known&) -> Known { throw std::runtime_error("no answer"); };
  EXPECT_THROW(states.with("a", kPatient, fail), std::runtime_error);
  states.with("a", kPatient, [](const Known& known) {
    EXPECT_FALSE(known);
    return KnownState{"state", {}};
  });
  EXPECT_THROW(states.with("a", kPatient, fail), std::runtime_error);
  states.with("a", kPatient, [](const Known& known) {
    EXPECT_EQ(known.value_or(KnownState{}).state, "state");
    return known;
  });
}

TEST(HubKnownStates, WaitingCanBeGivenUp) {
  KnownStates states;
  std::promise<void> inside;
  std::promise<void> leave;
  std::jthread holder([&] {
    states.with("a", kPatient, [&](const Known&) -> Known {
      inside.set_value();
      leave.get_future().wait();
      return std::nullopt;
    });
  });
  inside.get_future().wait();
  int asked = 0;
  const auto give_up = [&] {
    if (++asked == 3) throw std::runtime_error("cancelled");
  };
  const auto use = [](const Known&) -> Known {
    ADD_FAILURE() << "the entry is taken";
    return std::nullopt;
  };
  EXPECT_THROW(states.with("a", give_up, use), std::runtime_error);
  EXPECT_EQ(asked, 3);
  leave.set_value();
}

}  // namespace
}  // namespace kernelpack::hub
