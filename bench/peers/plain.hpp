#pragma once

#include <cstdint>

/// softmax(data + bias) of a row as a programmer would write it, for the compiler to vectorise.
void plain_row(const float* data, const float* bias, float* output, std::int64_t columns);
/// A copy loop, for the compiler to vectorise.
void plain_copy(const char* from, char* to, std::int64_t bytes);
