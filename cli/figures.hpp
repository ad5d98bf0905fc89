#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/tensor.hpp"

namespace kernelpack::cli {

/// "12.3 us", "1.45 ms", "2.00 s".
std::string duration_text(double seconds);
/// Four significant digits with a metric prefix: "1.234 GB/s".
std::string metric_text(double value, std::string_view unit);
/// Up to six significant digits, "0.9977".
std::string number_text(double value);
/// The middle value, or the mean of the two middle ones. Requires a value.
double median(std::vector<double> values);

/// What a tensor holds; in print "min 0, max 0.9977, mean 0.0238, 3 NaN".
struct ValueSummary {
  std::int64_t elements = 0;
  std::int64_t nans = 0;
  std::int64_t infinities = 0;
  double minimum = 0;  ///< of the finite values, as `maximum` and `mean`
  double maximum = 0;
  double mean = 0;
};
ValueSummary summarize(const TensorView& tensor);
std::string values_text(const ValueSummary& summary);

/// Every element as a double. Throws nothing but std::bad_alloc.
std::vector<double> to_doubles(const TensorView& tensor);

}  // namespace kernelpack::cli
