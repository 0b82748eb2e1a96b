// SPDX-License-Identifier: Apache-2.0
// The settings of the virtual GPU, read from environment variables. The program `vgpu` sets these
// variables; they can also be set by hand.
//   VGPU_DEVICE    device ids or files that describe a device, comma-separated; NAME:COUNT for
//                  several of one kind (default: h200)
//   VGPU_CHECK     checks, comma-separated: memory, race, init-global, sync (the default is these
//                  four), init, leak, all, none
//   VGPU_THREADS   number of host threads per launch (default: all)
//   VGPU_FAIL_FAST 1 (default): a launch fails at the first finding; 0, as `vgpu` sets it: it goes
//                  on after what hardware would not stop for
//   VGPU_SCHEDULE  when the data of asynchronous copies arrive: eager (default), lazy, random:SEED
//   VGPU_ENGINE    auto (default): machine code if the fat binary contains code that the engine can
//                  execute, otherwise PTX; sass; ptx
//   VGPU_COUNTERS  file for the launches' counters; %p is replaced by the process id
//                  (counters_file.hpp)
//   VGPU_COUNTERS_CLAIMS
//                  folder in which processes record which counters files they write
//   VGPU_KERNEL    regular expression: only launches whose kernel name matches are recorded
//   VGPU_LAUNCH_SKIP, VGPU_LAUNCH_COUNT
//                  how many matching launches to skip first, and how many to record then
//   VGPU_SOURCE    1: also count per source line
//   VGPU_SAMPLE_BLOCKS
//                  number of blocks per launch to execute; their counts are scaled to the grid
//   VGPU_TIMEOUT   seconds after which a kernel is ended
//   CUDA_LAUNCH_BLOCKING
//                  1: a launch waits for the end of its kernel, as in CUDA
//   CUDA_VISIBLE_DEVICES
//                  the devices that the program has, as in CUDA (visible_devices)
//   VGPU_REUSE     1 (default): a launch that repeats an earlier one on the same memory reuses its
//                  results; 0: every launch is executed
//   VGPU_VERBOSE   1: also say how many launches reused results
//   VGPU_REPORT    file to which every failed check is reported (check_report.hpp)
#pragma once
#include <regex.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devices/devices.hpp"
#include "engine/engine.hpp"

namespace vgpu {

// Regular expressions for names: POSIX's extended ones, as `grep -E` takes them. The C library
// matches in time proportional to the text; std::regex uses a stack frame per character and can
// take exponential time.
class Pattern {
 public:
  // Returns "" or the error in the text. A pattern that was not parsed matches everything.
  std::string parse(const std::string& text);
  bool found_in(const std::string& text) const;

 private:
  std::shared_ptr<const regex_t> compiled_;
};

// Bounds, alignment and use after free of global and shared memory are always checked, because a
// faulty kernel would otherwise crash the host process.
struct Checks {
  bool race = true;  // data races: shared memory between warps, global memory between blocks
  bool init = true;  // reads of global memory that was never written
  bool sync = true;  // misuse of barriers that hardware may tolerate
  // Reads of shared and local memory that was never written, if the values affect what the kernel
  // does.
  bool init_shared = false;
  bool leak = false;  // allocations that are never freed
  // Errors that hardware tolerates: accesses beyond a thread's local memory, and invalid pointers
  // passed to cudaFree.
  bool memory = true;
};

// Which launches are recorded. `skip` and `count` apply to launches whose name matches.
struct Selection {
  Pattern kernel;  // searched for in the demangled name
  std::uint64_t skip = 0, count = ~std::uint64_t{0};

  bool takes(const std::string& name);  // called once per launch, in order: whether to record it
  bool took_none() const { return asked_ != 0 && taken_ == 0; }
  std::uint64_t asked() const { return asked_; }

 private:
  std::uint64_t asked_ = 0, matched_ = 0, taken_ = 0;
};

enum class EngineChoice { kAuto, kSass, kPtx };

struct Settings {
  std::vector<Device> devices = {vgpu::devices().front()};  // by place; never empty
  Checks checks;
  bool trace = false;  // set by vgpuSetTrace only
  unsigned host_threads = 0;
  CopySchedule schedule;
  Numerics numerics = Numerics::kSingle;
  Selection selection;
  bool count_lines = false;
  std::uint64_t sample_blocks = 0;    // blocks per launch to execute; 0: all
  std::uint64_t timeout_seconds = 0;  // of one launch; 0: none
  bool fail_fast = true;              // a launch fails at the first finding
  bool launch_blocking = false;       // a launch waits for the end of its kernel
  bool reuse = true;                  // launches that repeat earlier ones do not run
  bool verbose = false;
  EngineChoice engine = EngineChoice::kAuto;
  std::string counters_file, counters_claims, report_file;
  std::string error;  // the first invalid setting, and the rule that it breaks; "" if there is none
};

using Lookup = const char* (*)(const char* name);  // std::getenv, or a test's replacement

Settings settings_from(Lookup environment);

// A setting that is a text: the option of `vgpu`, the environment variable, and the parser, which
// returns "" or an error message.
struct Setting {
  const char *option, *variable;
  std::string (*parse)(std::string_view text, Settings& settings);
};
std::span<const Setting> text_settings();

// The devices that CUDA_VISIBLE_DEVICES leaves, by the program's ordinals. `chosen`: its text, null
// if it is not set.
std::vector<Device> visible_devices(const std::vector<Device>& devices, const char* chosen);

// Parsers, each of which returns "" or an error message.
std::string parse_devices(std::string_view text, std::vector<Device>& devices);
// The same list of devices for a process in another folder.
std::string with_absolute_files(std::string_view devices);
std::string parse_checks(std::string_view text, Checks& checks);  // "" leaves `checks` unchanged
std::string parse_schedule(std::string_view text, CopySchedule& schedule);
std::string to_string(const CopySchedule& schedule);  // in the syntax that parse_schedule reads

// The checks that are on.
std::vector<std::string> names_of(const Checks& checks);

// The names that parse_checks() takes; known_checks() joins them to a text, with remarks.
std::vector<std::string> check_names();
std::string known_checks();

}  // namespace vgpu
