// SPDX-License-Identifier: Apache-2.0
// ladder show RUNG: prints its PTX or machine code with source lines, execution counts per
// instruction, and the hot loop.
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "analyse/observe.hpp"
#include "analyse/occupancy.hpp"
#include "common.hpp"
#include "explain.hpp"
#include "host_verbs.hpp"

namespace ladder::app {
namespace {

struct ShowOptions {
  std::string rung;
  bool ptx = false, sass = false, resources = false, hot = false;
};

std::string short_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string where(const analyse::TracedInstruction* traced) {
  return traced == nullptr || traced->file.empty()
             ? ""
             : fmt::format("{}:{}", short_name(traced->file), traced->line);
}

// By PTX line or machine-code offset, as the engine that made the trace numbers instructions.
std::map<std::uint32_t, const analyse::TracedInstruction*> by_place(const analyse::Trace& trace) {
  std::map<std::uint32_t, const analyse::TracedInstruction*> places;
  for (const analyse::TracedInstruction& i : trace.instructions) {
    const analyse::TracedInstruction*& place = places[i.place];
    if (place == nullptr || i.executions > place->executions) place = &i;
  }
  return places;
}

std::uint64_t most_executions(const analyse::Trace& trace) {
  std::uint64_t most = 0;
  for (const analyse::TracedInstruction& i : trace.instructions)
    most = std::max(most, i.executions);
  return most;
}

void show_ptx(const ShowOptions& o, const analyse::Observation& seen, const analyse::PtxText& ptx) {
  const auto places = seen.engine == "ptx"
                          ? by_place(seen.trace)
                          : std::map<std::uint32_t, const analyse::TracedInstruction*>{};
  const std::uint64_t most = seen.engine == "ptx" ? most_executions(seen.trace) : 0;
  fmt::print("PTX of {}\n{:>10} {:>24}   (| hot: at least half as often as the most frequent)\n",
             seen.kernel, "executed", "source");
  if (most == 0)
    fmt::print(
        "nothing is counted: this process executes machine code (VGPU_ENGINE=ptx counts PTX)\n");
  for (std::size_t i = 0; i < ptx.lines.size(); ++i) {
    const auto at =
        places.find(static_cast<std::uint32_t>(ptx.first_line) + static_cast<std::uint32_t>(i));
    const analyse::TracedInstruction* traced = at == places.end() ? nullptr : at->second;
    const bool hot = traced != nullptr && 2 * traced->executions >= most && most > 0;
    if (o.hot && !hot) continue;
    if (ptx.lines[i].find(".loc") != std::string::npos) continue;  // the line column shows it
    fmt::print("{:>10} {:>24} {} {}\n", traced == nullptr ? "" : std::to_string(traced->executions),
               where(traced), hot ? '|' : ' ', ptx.lines[i]);
  }
}

void show_sass(const ShowOptions& o, const analyse::Observation& seen,
               const analyse::KernelCode& code) {
  const std::vector<analyse::MachineInstruction> decoded = analyse::decode(code);
  const analyse::Disassembly text = analyse::disassemble(code);
  const bool counted = seen.engine == "sass";
  const auto places =
      counted ? by_place(seen.trace) : std::map<std::uint32_t, const analyse::TracedInstruction*>{};
  const std::uint64_t most = counted ? most_executions(seen.trace) : 0;
  const auto loop = analyse::hot_loop(decoded);
  fmt::print("machine code of {}, by {}\n", seen.kernel, text.by);
  fmt::print(
      "{}\n",
      counted
          ? "executions are the virtual GPU's; | hot: at least half as often as the most frequent"
          : "| the loop with the most multiply-adds; counts of executions need the virtual GPU's "
            "machine-code engine");
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    const auto at = places.find(decoded[i].offset);
    const analyse::TracedInstruction* traced = at == places.end() ? nullptr : at->second;
    const bool in_loop = loop && i >= loop.value().first && i <= loop.value().last;
    const bool hot = counted ? traced != nullptr && 2 * traced->executions >= most : in_loop;
    if (o.hot && !hot) continue;
    const auto line = text.text.find(decoded[i].offset);
    fmt::print("{:>10} {:>24} {} {:05x}  {}\n",
               traced == nullptr ? "" : std::to_string(traced->executions), where(traced),
               hot ? '|' : ' ', decoded[i].offset, line == text.text.end() ? "" : line->second);
  }
}

void show_resources(const analyse::Observation& seen, const Result<analyse::KernelCode>& code) {
  fmt::print(
      "{}\n  {} threads per block, {} registers per thread, {} bytes of shared memory per block\n",
      seen.kernel, seen.threads, seen.registers, seen.shared_bytes);
  if (code) {
    const auto decoded = analyse::decode(code.value());
    const auto spills = std::ranges::count_if(
        decoded, [](const auto& i) { return i.kind == analyse::Kind::kLocal; });
    fmt::print("  {} instructions, {} of them to local memory\n", decoded.size(), spills);
  }
  for (const vgpu::Device& device : vgpu::devices()) {
    const analyse::Machine machine = analyse::make_machine(device);
    const analyse::Occupancy o =
        analyse::occupancy_of({seen.threads, seen.registers, seen.shared_bytes}, machine);
    fmt::print("  {:<12}{:>3} blocks, {:>2} of {} warps per SM ({:.0f}%), by {}\n", machine.id,
               o.blocks, o.warps, machine.warps, 100 * o.occupancy, o.binds);
  }
}

int run(const ShowOptions& o) {
  const auto found = kernels_named(o.rung, "RUNG");
  if (o.ptx + o.sass + o.resources > 1)
    throw BadInput("--ptx, --sass, --resources: only one of them may be given");
  if (const auto rungs = host_rungs(found); !rungs.empty()) {
    if (o.ptx || o.resources)
      throw BadInput("--ptx, --resources: are for CUDA rungs; a CPU rung has machine code");
    return show_host_rungs(rungs, o.hot);
  }
  // Execution counts per PTX instruction require the PTX engine.
  if (o.ptx) ::setenv("VGPU_ENGINE", "ptx", 1);
  const Target target = select_target("virtual:h200");
  int status = kOk;
  for (const KernelInfo* kernel : found) {
    if (kernel->place != Place::kCuda || kernel->role == Role::kBaseline)
      throw BadInput(fmt::format("RUNG: {} is a baseline, whose code is not Ladder's", kernel->id));
    const auto seen = analyse::observe(*kernel, *target.cuda, make_problem(1, 1, 1));
    if (!seen) {
      fmt::print(stderr, "ladder: {}: {}\n", kernel->id, seen.status().message());
      status = kFailed;
      continue;
    }
    const std::string& name = seen.value().kernel;
    const auto code = analyse::find_code("/proc/self/exe", name, target.cuda->cc);
    if (o.resources) {
      show_resources(seen.value(), code);
    } else if (o.ptx) {
      show_ptx(o, seen.value(),
               required(analyse::find_ptx("/proc/self/exe", name, target.cuda->cc), "--ptx"));
    } else {
      if (!code) throw BadInput("--sass: " + code.status().message());
      show_sass(o, seen.value(), code.value());
    }
  }
  return status;
}

}  // namespace

void add_show(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand("show", "A rung's PTX, machine code or resources");
  auto o = std::make_shared<ShowOptions>();
  verb->add_option("RUNG", o->rung, "a rung, by id, rung or number")->required();
  verb->add_flag("--ptx", o->ptx, "PTX with source lines and execution counts");
  verb->add_flag("--sass", o->sass, "machine code (the default)");
  verb->add_flag("--resources", o->resources,
                 "registers, shared memory, occupancy on every device");
  verb->add_flag("--hot", o->hot, "only the hottest instructions");
  verb->footer(
      "Machine code is nvdisasm's text where that is installed (LADDER_NVDISASM), else the virtual "
      "GPU's; of CPU rungs it is objdump's.\n"
      "Examples:\n  ladder show r05 --ptx --hot\n  ladder show r07 --sass\n  ladder show r10 "
      "--resources\n  ladder show h04 --hot");
  verb->callback([&chosen, o] { chosen = [o] { return run(*o); }; });
}

}  // namespace ladder::app
