// SPDX-License-Identifier: Apache-2.0
// --device: what kernels run on, and how a process comes to stand on the virtual GPU.
#pragma once
#include <ladder/device.hpp>
#include <ladder/status.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ladder::app {

struct Target {
  Device host;
  std::optional<Device> cuda;  // the current CUDA device, real or virtual
  std::string why_no_cuda;     // where there is none
  bool host_only = false;      // --device cpu

  const Device& main() const { return cuda ? *cuda : host; }
};

constexpr const char* kDeviceHelp = "auto (a GPU, else virtual:h200), cuda:N, virtual:NAME or cpu";

// Throws BadInput. For a virtual device the process replaces itself by one on the virtual GPU,
// unless it is one: the call then returns in the new process only.
Target select_target(const std::string& device);

// Starts this program again in this process's place, with the arguments it had and `more`. Errors
// (kIo): it cannot.
Status start_again(const std::vector<std::string>& more);

// Where this process runs on what stands in for a missing CUDA runtime (packaging/placeholders),
// and the machine has a driver and a runtime after all: starts the program again on that one.
void take_cuda_of_machine();

// As the user called this program.
std::string program_name();

// Folder of the virtual GPU's libcudart.so.13, next to the executable's; "" if it is not there.
std::string virtual_gpu_folder();

}  // namespace ladder::app
