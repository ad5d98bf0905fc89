#pragma once

// Everything of the C++ interface.
#include "kernelpack/async.hpp"
#include "kernelpack/batch.hpp"
#include "kernelpack/call.hpp"
#include "kernelpack/device.hpp"
#include "kernelpack/device_tensor.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/explanation.hpp"
#include "kernelpack/file.hpp"
#include "kernelpack/gpu.hpp"
#include "kernelpack/hub.hpp"
#include "kernelpack/kernel.hpp"
#include "kernelpack/package.hpp"
#include "kernelpack/plan.hpp"
#include "kernelpack/prewarm.hpp"
#include "kernelpack/request.hpp"
#include "kernelpack/tensor.hpp"
