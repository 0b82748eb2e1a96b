// SPDX-License-Identifier: Apache-2.0
// What the environment asks of the virtual GPU. `vgpu` sets these variables; they can be set by hand as well.
//   VGPU_DEVICE    the devices' ids, comma-separated, NAME:COUNT for several of one kind (default h200)
//   VGPU_CHECK     comma-separated: memory, race, init, sync (these four by default), leak, all, none
//   VGPU_THREADS   host threads of a launch (default: all)
//   VGPU_SCHEDULE  when asynchronous copies land: eager (default), lazy, random:SEED
//   VGPU_COUNTERS  file for the launches' counters; %p becomes the process id
//   VGPU_REPORT    file that is told of every check that fires (check_report.hpp)
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "devices/devices.hpp"
#include "engine/engine.hpp"

namespace vgpu {

// Bounds, alignment and use after free are checked whatever is chosen: without them a faulty kernel would end the
// host's process.
struct Checks {
  bool race = true;   // shared memory between warps, global memory between blocks
  bool init = true;   // reads of memory that was never written
  bool sync = true;   // misuse of barriers that hardware may forgive
  bool leak = false;  // allocations that are never freed
};

struct Settings {
  std::vector<Device> devices = {vgpu::devices().front()};  // by ordinal; never empty
  Checks checks;
  bool trace = false;  // by vgpuSetTrace only
  unsigned host_threads = 0;
  CopySchedule schedule;
  std::string counters_file, report_file;
  std::string error;  // the first thing that is wrong: argument and rule; "" if nothing
};

using Lookup = const char* (*)(const char* name);  // std::getenv, or a test's

Settings settings_from(Lookup environment);

// The rules, for the command line as well. Each returns "" or what is wrong.
std::string parse_devices(std::string_view text, std::vector<Device>& devices);
std::string parse_checks(std::string_view text, Checks& checks);  // "": as they are
std::string parse_threads(std::string_view text, unsigned& threads);
std::string parse_schedule(std::string_view text, CopySchedule& schedule);

}  // namespace vgpu
