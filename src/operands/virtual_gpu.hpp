// SPDX-License-Identifier: Apache-2.0
// The few things a program can ask of the virtual GPU it runs under, found at run time: the same
// binary runs on a real CUDA runtime, which has none of these names.
#pragma once
#include <string>

namespace ladder::virtual_gpu {

bool active();              // the CUDA runtime in this process is the virtual GPU's
void check_races(bool on);  // for the launches that follow
// Asynchronous copies of the launches that follow land as `schedule` says: eager, lazy,
// random:SEED. Returns the former setting, "" where this is no virtual GPU.
std::string set_schedule(const std::string& schedule);
std::string last_fault();  // the report of the last fault, "" if there was none
bool last_fault_is_race();
void clear_fault();  // the device works again
void reset_counters();
void trace(bool on);       // for the launches that follow: instructions and addresses (vgpu/vgpu.h)
std::string trace_json();  // of the traced launches since the last reset
std::string
counters_json();  // of the launches since the last reset, as `vgpu --counters` writes them

}  // namespace ladder::virtual_gpu
