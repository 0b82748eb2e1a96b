// SPDX-License-Identifier: Apache-2.0
#include "target.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "common.hpp"
#include "host/query.hpp"
#include "operands/buffer.hpp"
#include "operands/virtual_gpu.hpp"
#include "report/installation.hpp"

#ifdef LADDER_HAVE_VGPU
#include "devices/devices.hpp"
#endif

namespace ladder::app {
namespace {

namespace fs = std::filesystem;
constexpr const char* kVirtualPrefix = "virtual:";
constexpr const char* kCudaPrefix = "cuda:";
constexpr const char* kDefaultVirtual = "h200";
constexpr const char* kDeviceVariable = "VGPU_DEVICE";
constexpr const char* kReplaced =
    "LADDER_ON_VIRTUAL_GPU";  // set in the process that select_target starts

constexpr const char* kTaken =
    "LADDER_CUDA_FOLDER";  // set in the process that take_cuda_of_machine starts
constexpr const char* kPlaceholder = "ladderNoCudaRuntime";

[[noreturn]] void bad_device(const std::string& why) { throw BadInput("--device: " + why); }

void require_known_virtual(const std::string& name) {
#ifdef LADDER_HAVE_VGPU
  if (vgpu::find_device(name) == nullptr) {
    bad_device(fmt::format("no virtual device '{}'; known: {}", name, vgpu::known_devices()));
  }
#else
  bad_device(fmt::format("{}{}: ladder was built without the virtual GPU (ladder doctor)",
                         kVirtualPrefix, name));
#endif
}

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\0', at);
    arguments.push_back(all.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return arguments;
}

void prepend_library_path(const std::string& folder) {
  std::string path = folder;
  if (const char* before = std::getenv("LD_LIBRARY_PATH"); before != nullptr && *before != '\0') {
    path += std::string(":") + before;
  }
  ::setenv("LD_LIBRARY_PATH", path.c_str(), 1);
}

// The dynamic linker selects libcudart when a process starts, hence a new process. $ORIGIN is the
// program's folder; the folder's literal name may contain separators of LD_LIBRARY_PATH.
[[noreturn]] void replace_process(const std::string& name) {
  prepend_library_path("$ORIGIN/../lib/vgpu");
  ::setenv(kDeviceVariable, name.c_str(), 1);
  ::unsetenv("CUDA_VISIBLE_DEVICES");  // which is meant for GPUs
  ::setenv("VGPU_CHECK", "memory,init-global,sync",
           0);  // verification enables the race check where it is needed
  ::setenv(kReplaced, "1", 1);
  const Status failed = start_again({});
  bad_device("cannot start on the virtual GPU: " + failed.message());
}

Target with_cuda(Target target, int ordinal) {
  auto device = query_device(ordinal);
  if (!device) bad_device(device.status().message());
  if (Status status = cuda_status(cudaSetDevice(ordinal), "cudaSetDevice"); !status)
    bad_device(status.message());
  target.cuda = std::move(device).value();
  return target;
}

Target on_virtual(Target target, const std::string& name) {
  require_known_virtual(name);
  if (virtual_gpu::active()) {
    const char* current = std::getenv(kDeviceVariable);
    if (current != nullptr && name != current) {
      bad_device(fmt::format("{}{}: this process already runs on virtual:{}", kVirtualPrefix, name,
                             current));
    }
    ::setenv("VGPU_FAIL_FAST", "1", 1);  // under `vgpu`, too: findings are faults of a kernel
    return with_cuda(std::move(target), 0);
  }
  if (std::getenv(kReplaced) != nullptr) {
    bad_device("the virtual GPU's libcudart.so.13 was not loaded (ladder doctor)");
  }
  if (virtual_gpu_folder().empty())
    bad_device(
        "no virtual GPU: lib/vgpu/libcudart.so.13 is not next to bin/ladder (ladder doctor)");
  replace_process(name);
}

int parse_ordinal(const std::string& device) {
  const std::string_view text = std::string_view(device).substr(std::strlen(kCudaPrefix));
  const auto ordinal = parse_number<int>(text);
  if (!ordinal || *ordinal < 0)
    bad_device(fmt::format("'{}': cuda: is followed by a device number from 0", device));
  return *ordinal;
}

Target automatic(Target target) {
  if (virtual_gpu::active()) {
    const char* current = std::getenv(kDeviceVariable);
    return on_virtual(std::move(target), current != nullptr ? current : kDefaultVirtual);
  }
  if (cuda_device_count() > 0) return with_cuda(std::move(target), 0);
  if (!virtual_gpu_folder().empty()) return on_virtual(std::move(target), kDefaultVirtual);
  target.why_no_cuda = "no GPU, and no virtual GPU next to ladder (ladder doctor)";
  return target;
}

}  // namespace

Status start_again(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = own_arguments();
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);  // buffered output would be lost
  ::execv("/proc/self/exe", pointers.data());
  return {Code::kIo, std::strerror(errno)};
}

void take_cuda_of_machine() {
  if (::dlsym(RTLD_DEFAULT, kPlaceholder) == nullptr || std::getenv(kTaken) != nullptr) return;
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return;
  ::dlclose(driver);
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      roots.emplace_back(value);
  }
  roots.insert(roots.end(), {"/usr/local/cuda", "/opt/cuda", "/usr"});
  for (const fs::path& root : roots) {
    for (const char* part : {"lib64", "lib", "lib/x86_64-linux-gnu", "targets/x86_64-linux/lib"}) {
      std::error_code error;
      if (!fs::exists(root / part / "libcudart.so.13", error)) continue;
      prepend_library_path((root / part).string());
      ::setenv(kTaken, (root / part).c_str(), 1);
      (void)start_again({});
      return;
    }
  }
}

std::string program_name() {
  const std::vector<std::string> arguments = own_arguments();
  return arguments.empty() ? "ladder" : arguments.front();
}

std::string virtual_gpu_folder() {
#ifdef LADDER_HAVE_VGPU
  std::error_code error;
  const fs::path folder = installation_prefix() / "lib" / "vgpu";
  return fs::exists(folder / "libcudart.so.13", error) ? folder.string() : "";
#else
  return "";
#endif
}

Target select_target(const std::string& device) {
  Target target;
  target.host = host_device();
  if (device == "cpu") {
    target.host_only = true;
    target.why_no_cuda = "cpu runs host kernels only";
    return target;
  }
  if (device == "auto") return automatic(std::move(target));
  if (device.starts_with(kVirtualPrefix)) {
    return on_virtual(std::move(target), device.substr(std::strlen(kVirtualPrefix)));
  }
  if (device.starts_with(kCudaPrefix)) {
    const int ordinal = parse_ordinal(device);
    if (virtual_gpu::active())
      bad_device(fmt::format("{}: this process runs on the virtual GPU", device));
    return with_cuda(std::move(target), ordinal);
  }
  bad_device(fmt::format("'{}' is none of auto, cuda:N, virtual:NAME, cpu", device));
}

}  // namespace ladder::app
