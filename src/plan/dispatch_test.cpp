#include "plan/dispatch.hpp"

#include <gtest/gtest.h>

#include "kernelpack/error.hpp"

namespace kernelpack::plan {
namespace {

using package::Dispatch;
using package::Formula;
using package::Generation;
using Groups = std::array<std::uint32_t, 3>;

Dispatch shorthand(Dispatch::Form form, double count, std::optional<double> size = std::nullopt) {
  Dispatch dispatch;
  dispatch.form = form;
  dispatch.count = Formula(count);
  if (size) dispatch.workgroup_size = Formula(*size);
  return dispatch;
}

Dispatch axes(double x, std::optional<double> y = std::nullopt, std::optional<double> z = std::nullopt) {
  Dispatch dispatch;
  dispatch.axes[0] = Formula(x);
  if (y) dispatch.axes[1] = Formula(*y);
  if (z) dispatch.axes[2] = Formula(*z);
  return dispatch;
}

Groups fold(const Dispatch& dispatch, Generation generation, const DeviceFacts& facts = {}) {
  return fold_dispatch(dispatch, generation, facts, expr::Scope(), "main").workgroups;
}

ErrorKind kind_of(const Dispatch& dispatch, Generation generation = Generation::two,
                  const DeviceFacts& facts = {}) {
  try {
    fold(dispatch, generation, facts);
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

// format.md 15, point 58
TEST(Dispatch, Point58FoldsAt65535) {
  using Form = Dispatch::Form;
  EXPECT_EQ(fold(shorthand(Form::workgroups, 65536), Generation::two), (Groups{65535, 2, 1}));
  EXPECT_EQ(fold(shorthand(Form::workgroups, 65535), Generation::two), (Groups{65535, 1, 1}));
  EXPECT_EQ(fold(shorthand(Form::threads, 65536.0 * 64, 64), Generation::two), (Groups{65535, 2, 1}));
  EXPECT_EQ(fold(shorthand(Form::threads, 65, 64), Generation::two), (Groups{2, 1, 1}));
  EXPECT_EQ(fold(axes(65535, 65535, 65535), Generation::two), (Groups{65535, 65535, 65535}));
  EXPECT_EQ(kind_of(axes(65536)), ErrorKind::limit);
  EXPECT_EQ(kind_of(axes(1, 65536)), ErrorKind::limit);
  EXPECT_EQ(fold(axes(0), Generation::two), (Groups{0, 1, 1}));
  EXPECT_EQ(fold(shorthand(Form::workgroups, 0), Generation::two), (Groups{0, 0, 1}));
}

TEST(Dispatch, RefusesAxesThatAreNoCounts) {
  using Form = Dispatch::Form;
  EXPECT_EQ(kind_of(axes(-1)), ErrorKind::limit);
  EXPECT_EQ(kind_of(axes(1.5)), ErrorKind::limit);
  EXPECT_EQ(kind_of(axes(std::numeric_limits<double>::quiet_NaN())), ErrorKind::limit);
  EXPECT_EQ(kind_of(axes(std::numeric_limits<double>::infinity())), ErrorKind::limit);
  EXPECT_EQ(kind_of(shorthand(Form::threads, 64, 0)), ErrorKind::limit);
  EXPECT_EQ(kind_of(shorthand(Form::threads, 0, 0)), ErrorKind::limit);
  EXPECT_EQ(kind_of(shorthand(Form::workgroups, 2.5)), ErrorKind::limit);
  // More than both axes hold.
  EXPECT_EQ(kind_of(shorthand(Form::workgroups, 65535.0 * 65535 + 1)), ErrorKind::limit);
}

TEST(Dispatch, ObeysASmallerDevice) {
  DeviceFacts small;
  small.limits = {{"maxComputeWorkgroupsPerDimension", 100}};
  using Form = Dispatch::Form;
  EXPECT_EQ(kind_of(axes(101), Generation::two, small), ErrorKind::limit);
  EXPECT_EQ(kind_of(shorthand(Form::workgroups, 200), Generation::two, small), ErrorKind::limit);
  EXPECT_EQ(fold(shorthand(Form::workgroups, 200), Generation::one, small), (Groups{100, 2, 1}));
  DeviceFacts large;
  large.limits = {{"maxComputeWorkgroupsPerDimension", 1e6}};
  EXPECT_EQ(fold(shorthand(Form::workgroups, 65536), Generation::one, large), (Groups{65535, 2, 1}));
}

// format.md 15, point 28
TEST(Dispatch, Point28PinsOneAxisOfGeneration1) {
  Dispatch x_pinned = shorthand(Dispatch::Form::workgroups, 65536);
  x_pinned.axes[0] = Formula(3.0);
  EXPECT_EQ(fold(x_pinned, Generation::one), (Groups{3, 65535, 2}));
  Dispatch z_pinned = shorthand(Dispatch::Form::threads, 65536.0 * 32, 32);
  z_pinned.axes[2] = Formula(5.0);
  EXPECT_EQ(fold(z_pinned, Generation::one), (Groups{65535, 2, 5}));
  Dispatch y_pinned = shorthand(Dispatch::Form::workgroups, 65536);
  y_pinned.axes[1] = Formula(7.0);
  EXPECT_EQ(fold(y_pinned, Generation::one), (Groups{65535, 7, 2}));
}

// format.md 15, point 29
TEST(Dispatch, Point29GridStrideClampsAndDoesNotFold) {
  using Form = Dispatch::Form;
  EXPECT_EQ(fold(shorthand(Form::grid_stride, 70000), Generation::one), (Groups{65535, 1, 1}));
  EXPECT_EQ(fold(shorthand(Form::grid_stride, 128, 256), Generation::one), (Groups{1, 1, 1}));
  EXPECT_EQ(fold(shorthand(Form::grid_stride, 1e12, 256), Generation::one), (Groups{65535, 1, 1}));
  EXPECT_EQ(fold(shorthand(Form::grid_stride, 0), Generation::one), (Groups{0, 1, 1}));
}

}  // namespace
}  // namespace kernelpack::plan
