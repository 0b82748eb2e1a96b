// SPDX-License-Identifier: Apache-2.0
#include "report/environment.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <ctime>
#include <thread>

#include "commit.inc"
#include "host/openblas.hpp"
#include "host/query.hpp"
#include "measure/telemetry.hpp"
#include "operands/virtual_gpu.hpp"

#ifdef LADDER_HAVE_CUBLAS
#include <cublas_v2.h>
#endif

namespace ladder {
namespace {

std::string cuda_version(int packed) {
  return packed > 0 ? fmt::format("{}.{}", packed / 1000, packed % 1000 / 10) : "";
}

std::string cublas_version() {
// cuBLAS is never called on the virtual GPU, not even for its version
#ifdef LADDER_HAVE_CUBLAS
  if (virtual_gpu::active()) return "";
  std::array<int, 3> parts{};
  const std::array which{MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (cublasGetProperty(which[i], &parts[i]) != CUBLAS_STATUS_SUCCESS) return "unknown";
  }
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
#else
  return "";
#endif
}

std::string openblas_version() {
  const host::OpenBlas* blas = host::openblas();
  if (blas == nullptr) return "";
  return fmt::format("{}; core {}{}", blas->config, blas->core,
                     blas->core_was_given ? " (by OPENBLAS_CORETYPE)" : "");
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

}  // namespace

Environment query_environment(const Device& device) {
  Environment e;
  e.date = utc_now();
  e.version = LADDER_VERSION;
  e.commit = kCommit;
  e.cpu = host_device().name;
  e.cpu_threads = std::thread::hardware_concurrency();
  e.toolkit = cuda_version(CUDART_VERSION);
  int packed = 0;
  if (cudaRuntimeGetVersion(&packed) == cudaSuccess) e.runtime = cuda_version(packed);
  packed = 0;
  if (!device.is_virtual && cudaDriverGetVersion(&packed) == cudaSuccess)
    e.cuda_driver = cuda_version(packed);
  e.cublas = cublas_version();
  e.openblas = openblas_version();
  e.device = device;
  if (device.has_cuda && !device.is_virtual) {
    if (const auto nvml = Nvml::open(device.ordinal)) {
      e.driver = nvml->driver_version().value_or("");
      e.power_limit_w = nvml->power_limit_w();
      e.max_sm_clock_mhz = nvml->max_sm_clock_mhz();
    }
  }
  return e;
}

}  // namespace ladder
