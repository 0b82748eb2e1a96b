// SPDX-License-Identifier: Apache-2.0
// What the environment asks of the virtual GPU. `vgpu` sets these variables; they can be set by
// hand as well.
//   VGPU_DEVICE    the devices' ids, comma-separated, NAME:COUNT for several of one kind (default h200)
//   VGPU_CHECK     comma-separated: memory, race, init-global, sync (these four by default), init, leak, all, none
//   VGPU_THREADS   host threads of a launch (default: all)
//   VGPU_SCHEDULE  when asynchronous copies land: eager (default), lazy, random:SEED
//   VGPU_ENGINE    auto (default): machine code where the fat binary has it and it is known, else PTX; sass, ptx
//   VGPU_COUNTERS  file for the launches' counters; %p becomes the process id (counters_file.hpp)
//   VGPU_COUNTERS_CLAIMS  folder in which processes note which counters files they write
//   VGPU_KERNEL, VGPU_LAUNCH_SKIP, VGPU_LAUNCH_COUNT
//                  of which launches: those whose name matches the regular expression, from and for how many of them
//   VGPU_SOURCE    1: counters by source line as well
//   VGPU_SAMPLE_BLOCKS  execute only that many blocks of a launch, and scale
//   VGPU_REPORT    file that is told of every check that fires (check_report.hpp)
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "devices/devices.hpp"
#include "engine/engine.hpp"
#include "runtime/pattern.hpp"

namespace vgpu {

// Bounds, alignment and use after free of global and shared memory are checked whatever is chosen:
// without them a faulty kernel would end the host's process.
struct Checks {
  bool race = true;  // shared memory between warps, global memory between blocks
  bool init = true;  // reads of memory that was never written
  bool sync = true;  // misuse of barriers that hardware may forgive
  bool init_shared =
      // ... of shared memory too: also where a kernel only reads ahead and uses nothing of it
      false;
  bool leak = false;  // allocations that are never freed
  bool memory =
      // what hardware forgives: local memory beyond a thread's own, and bad pointers given to
      // cudaFree
      true;
};

// Which launches are recorded. Skipping and counting look at those whose name matches only.
struct Selection {
  Pattern kernel;  // searched for in the demangled name
  std::uint64_t skip = 0, count = ~std::uint64_t{0};

  bool takes(const std::string& name);  // the next launch, of this name

 private:
  std::uint64_t matched_ = 0;
};

enum class EngineChoice { kAuto, kSass, kPtx };

struct Settings {
  std::vector<Device> devices = {vgpu::devices().front()};  // by ordinal; never empty
  Checks checks;
  bool trace = false;  // by vgpuSetTrace only
  unsigned host_threads = 0;
  CopySchedule schedule;
  Numerics numerics = Numerics::kSingle;
  Selection selection;
  bool count_lines = false;
  std::uint64_t sample_blocks = 0;  // 0: all are executed
  EngineChoice engine = EngineChoice::kAuto;
  std::string counters_file, counters_claims, report_file;
  std::string error;  // the first thing that is wrong: argument and rule; "" if nothing
};

using Lookup = const char* (*)(const char* name);  // std::getenv, or a test's

Settings settings_from(Lookup environment);

// The rules, for the command line as well. Each returns "" or what is wrong.
std::string parse_devices(std::string_view text, std::vector<Device>& devices);
std::string parse_checks(std::string_view text, Checks& checks);  // "": as they are
std::string parse_threads(std::string_view text, unsigned& threads);
std::string parse_engine(std::string_view text, EngineChoice& engine);
std::string parse_schedule(std::string_view text, CopySchedule& schedule);
std::string parse_numerics(std::string_view text, Numerics& numerics);
std::string parse_kernel(std::string_view text, Pattern& kernel);
std::string parse_number(std::string_view text, std::uint64_t least, std::uint64_t& number);
std::string to_string(const CopySchedule& schedule);  // as parse_schedule reads it

}  // namespace vgpu
