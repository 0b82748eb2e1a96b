// SPDX-License-Identifier: Apache-2.0
// ladder doctor: reports what the machine has, what is missing, and how to fix it.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <algorithm>

#include "common.hpp"
#include "host/openblas.hpp"
#include "host/query.hpp"
#include "host/shared_library.hpp"
#include "measure/telemetry.hpp"
#include "operands/buffer.hpp"
#include "operands/virtual_gpu.hpp"
#include "report/machine_text.hpp"
#include "report/table.hpp"
#include "tune/compile.hpp"

#ifdef LADDER_HAVE_HIGHWAY
#include "host/rates.hpp"
#endif

namespace ladder::app {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

// Prints one line: the item, whether it is present, and if not, the consequence and the remedy.
void tell(const char* what, bool there, const std::string& detail) {
  fmt::print("{:<8} {:<16} {}\n", there ? "ok" : "missing", what, detail);
}

std::string library_of(const void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

void tell_gpus() {
  const int count = cuda_device_count();
  if (count == 0) {
    int driver = 0;
    const bool has_driver = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
    tell("GPU", false,
         has_driver
             ? "the driver shows no device (CUDA_VISIBLE_DEVICES?); auto takes the virtual GPU"
             : "no NVIDIA driver; auto takes the virtual GPU, which counts but does not time");
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    const auto device = query_device(ordinal);
    if (!device) {
      tell("GPU", false, fmt::format("cuda:{}: {}", ordinal, device.status().message()));
      continue;
    }
    const Device& d = device.value();
    const double gib = static_cast<double>(d.memory_bytes) / kGib;
    tell("GPU", true,
         fmt::format("cuda:{}: {}, compute capability {}.{}{}{}{}", ordinal, d.name, d.cc / 10,
                     d.cc % 10, d.sm_count > 0 ? fmt::format(", {} SMs", d.sm_count) : "",
                     gib >= 1 ? fmt::format(", {:.0f} GiB", gib) : "",
                     d.cc < 80 ? "; the rungs need 8.0" : ""));
  }
  std::string why;
  const auto nvml = count > 0 ? Nvml::open(0, &why) : nullptr;
  if (nvml != nullptr) {
    tell("NVML", true, "driver " + nvml->driver_version().value_or("unknown"));
  } else {
    tell("NVML", false,
         (why.empty() ? "no GPU to read" : why) + "; clocks and power are not recorded");
  }
}

void tell_rates() {
#ifdef LADDER_HAVE_HIGHWAY
  tell("one core", true, rates_text(host::measure_rates(1)));
#endif
}

// OpenBLAS selects its kernels from the processors that were known at its release.
void tell_openblas(const Environment& e) {
  const host::OpenBlas* blas = host::openblas();
  tell("OpenBLAS", blas != nullptr,
       blas == nullptr
           ? "no host baseline; the host's FP64 reference is a plain loop, slow: scripts/setup "
             "installs libopenblas"
           : e.openblas);
  if (blas == nullptr || !host::has_avx512()) return;
  if (blas->core == "SkylakeX" && blas->core_was_given) {
    fmt::print(
        "         {:<16} {}\n", "",
        "by OPENBLAS_CORETYPE, set by ladder where it was not set: an OpenBLAS older than the "
        "processor runs kernels without AVX-512; set it for your own programs too");
  } else if (blas->core != "SkylakeX" && blas->core != "Cooperlake" &&
             blas->core != "SapphireRapids" && blas->core != "Zen4" && blas->core != "Zen5") {
    fmt::print(
        "         {:<16} core {} has no AVX-512 kernels, which this processor could run: try "
        "OPENBLAS_CORETYPE=SkylakeX\n",
        "", blas->core);
  }
}

int examine() {
  const Environment e = query_environment(host_device());
  fmt::print("ladder {} ({}), {}\n", e.version, e.commit, e.date);
  tell("CPU", true, processors_text(host::processor_name(), host::processors()));
  tell_rates();
  tell("memory", true, memory_text(host::available_memory()));
  const std::string nvcc = tune::find_nvcc();
  tell("nvcc", !nvcc.empty(),
       nvcc.empty() ? "only needed to build: scripts/setup installs it"
                    : fmt::format("{}; built with CUDA {}", nvcc, e.toolkit));
  tell("CUDA runtime", !e.runtime.empty(),
       e.runtime.empty()
           ? "none; a GPU needs the CUDA 13 toolkit's libraries, the virtual GPU has its own"
           : fmt::format("{} {}{}", e.runtime,
                         library_of(reinterpret_cast<const void*>(&cudaGetDeviceCount)),
                         virtual_gpu::active() ? " (the virtual GPU's)" : ""));
  tell_gpus();
  const std::string folder = virtual_gpu_folder();
  tell("virtual GPU", !folder.empty(),
       folder.empty() ? "not built (needs libzstd-dev): scripts/setup, then build again" : folder);
  const bool blas = !e.cublas.empty() && e.cublas != "unknown";
  tell("cuBLAS", blas,
       blas ? e.cublas
            : "no CUDA baselines, no FP64 reference on a GPU: scripts/setup installs it, then "
              "build again");
  tell_openblas(e);
  const bool host_kernels =
      std::ranges::any_of(kernels(), [](const KernelInfo& k) { return k.place == Place::kHost; });
  const bool cuda = cuda_device_count() > 0 || !folder.empty();
  fmt::print("{}\n", cuda           ? "CPU and CUDA kernels can run here: ladder climb"
                     : host_kernels ? "Only host rungs can run here: ladder climb --device cpu"
                                    : "Nothing can run here: scripts/setup, then build again");
  return cuda || host_kernels ? kOk : kFailed;
}

}  // namespace

void add_doctor(CLI::App& app, Verb& chosen) {
  CLI::App* verb =
      app.add_subcommand("doctor", "What this machine has, what is missing, what to do");
  verb->footer("Examples:\n  ladder doctor");
  verb->callback([&chosen] { chosen = examine; });
}

}  // namespace ladder::app
