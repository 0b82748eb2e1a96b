// SPDX-License-Identifier: Apache-2.0
// The machine, the build and the moment that rows come from.
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
  std::string toolkit;           // CUDA that ladder was built with, "13.0"
  std::string runtime;           // CUDA runtime that is loaded, "13.0"; "" if it does not answer
  std::string cuda_driver;       // CUDA version of the driver, "" without one
  std::string driver;            // NVIDIA driver, "580.65.06"; "" without NVML
  std::string cublas, openblas;  // versions; "" where built without
  Device device;                 // has_cuda = false where only the host ran
  std::optional<double> power_limit_w, max_sm_clock_mhz;
};

// Asks the machine. `device` is the CUDA device in use, or the host's.
Environment query_environment(const Device& device);

std::string utc_now();

}  // namespace ladder
