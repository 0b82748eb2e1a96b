// SPDX-License-Identifier: Apache-2.0
// Access to the virtual GPU's own functions. They are looked up at run time, because the same
// binary also runs on a real CUDA runtime, which does not have them.
#pragma once
#include <ladder/status.hpp>

#include <string>

namespace ladder::virtual_gpu {

bool active();              // the CUDA runtime in this process is the virtual GPU's
void check_races(bool on);  // for subsequent launches
// Sets when asynchronous copies of subsequent launches complete: "eager", "lazy" or "random:SEED".
// Returns the previous setting, or "" without a virtual GPU.
std::string set_schedule(const std::string& schedule);
std::string last_fault();       // the report of the last fault, "" if there was none
std::string last_fault_kind();  // "race", "out of bounds", ...; "" if there was none
bool last_fault_is_race();
void clear_fault();  // makes the device usable again after a fault
// The last fault as a status, and clears it; `status` if there was none.
Status fault_or(const Status& status);
void reset_counters();
void trace(bool on);       // of subsequent launches: instructions and addresses (vgpu/vgpu.h)
std::string trace_json();  // of the traced launches since the last reset
std::string
counters_json();  // of the launches since the last reset, in the format of `vgpu --counters`

}  // namespace ladder::virtual_gpu
