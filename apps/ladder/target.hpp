// SPDX-License-Identifier: Apache-2.0
// --device: selects the device that kernels run on, and restarts the process on the virtual GPU.
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
  std::string why_no_cuda;     // the reason if there is none
  bool host_only = false;      // --device cpu

  const Device& main() const { return cuda ? *cuda : host; }
};

constexpr const char* kDeviceHelp = "auto (a GPU, else virtual:h200), cuda:N, virtual:NAME or cpu";

// For a virtual device the process replaces itself by one on the virtual GPU, unless it already
// runs there. The call returns only in a process that runs on the selected device. Throws BadInput.
Target select_target(const std::string& device);

// Replaces this process by a new one of the same program, with the same arguments and `more`.
// Errors (kIo): the new process cannot be started.
Status start_again(const std::vector<std::string>& more);

// If this process runs on the placeholders for a missing CUDA runtime (packaging/placeholders)
// although the machine has a driver and a runtime, restarts the program on that runtime.
void take_cuda_of_machine();

// The name by which the user called this program.
std::string program_name();

// The folder of the virtual GPU's libcudart.so.13, beside the executable's; "" if it does not
// exist.
std::string virtual_gpu_folder();

}  // namespace ladder::app
