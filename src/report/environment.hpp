// SPDX-License-Identifier: Apache-2.0
// The machine, the build and the time of a measurement.
#pragma once
#include <ladder/device.hpp>

#include <optional>
#include <string>

namespace ladder {

struct Environment {
  std::string date;             // UTC, ISO 8601
  std::string version, commit;  // of ladder; commit "unknown" outside a checkout
  std::string cpu;
  unsigned cpu_threads = 0;
  std::string toolkit;           // the CUDA version that ladder was built with, "13.0"
  std::string runtime;           // the loaded CUDA runtime, "13.0"; "" if it does not answer
  std::string cuda_driver;       // CUDA version of the driver, "" without one
  std::string driver;            // NVIDIA driver, "580.65.06"; "" without NVML
  std::string cublas, openblas;  // versions; "" if built without them
  Device device;                 // has_cuda = false if only host kernels ran
  std::optional<double> power_limit_w, max_sm_clock_mhz;
};

// Queries the machine. `device` is the CUDA device in use, or the host's.
Environment query_environment(const Device& device);

}  // namespace ladder
