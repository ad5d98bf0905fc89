#include "plain.hpp"

#include <algorithm>
#include <cmath>

void plain_row(const float* __restrict data, const float* __restrict bias, float* __restrict output,
               std::int64_t columns) {
  float top = data[0] + bias[0];
  for (std::int64_t i = 1; i < columns; ++i) top = std::max(top, data[i] + bias[i]);
  float sum = 0.0f;
  for (std::int64_t i = 0; i < columns; ++i) {
    output[i] = std::exp(data[i] + bias[i] - top);
    sum += output[i];
  }
  const float scale = 1.0f / sum;
  for (std::int64_t i = 0; i < columns; ++i) output[i] *= scale;
}

void plain_copy(const char* __restrict from, char* __restrict to, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = from[i];
}
