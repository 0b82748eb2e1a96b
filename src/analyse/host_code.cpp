// SPDX-License-Identifier: Apache-2.0
#include "analyse/host_code.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>

#include "tune/process.hpp"
#ifdef LADDER_HAVE_HIGHWAY
#include "host/blocking.hpp"
#endif

namespace ladder::analyse {
namespace {

constexpr std::uint64_t kMostBytes = 32 << 10;  // per function; a larger one is not a rung's kernel

bool starts(std::string_view text, std::initializer_list<std::string_view> heads) {
  return std::ranges::any_of(heads, [&](std::string_view head) { return text.starts_with(head); });
}

bool is_fused(std::string_view name) {
  return starts(name, {"vfmadd", "vfmsub", "vfnmadd", "vfnmsub"});
}
bool is_product(std::string_view name) {
  return is_fused(name) || starts(name, {"mulps", "mulss", "vmulps", "vmulss"});
}
bool is_sum(std::string_view name) {
  return is_fused(name) || starts(name, {"addps", "addss", "vaddps", "vaddss"});
}
bool is_move(std::string_view name) { return name.find("mov") != std::string_view::npos; }

// Splits the operands after the mnemonic: "zmm1", "DWORD PTR [rax+rcx*4]".
std::vector<std::string_view> operands(std::string_view text) {
  std::vector<std::string_view> parts;
  const auto gap = text.find(' ');
  if (gap == std::string_view::npos) return parts;
  text.remove_prefix(gap);
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    parts.push_back(part);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return parts;
}

int bytes_of_vector(std::string_view text) {
  const auto gap = text.find(' ');
  if (text.substr(0, gap).ends_with("ss")) return 4;
  return text.find("zmm") != std::string_view::npos   ? 64
         : text.find("ymm") != std::string_view::npos ? 32
                                                      : 16;
}

// Counts additions to registers that nothing else in the loop writes: loop-carried sums.
int chained(const HostFunction& f, std::size_t first, std::size_t last) {
  std::map<std::string_view, int> sums;
  std::set<std::string_view> written;
  for (std::size_t i = first; i <= last; ++i) {
    const HostInstruction& one = f.code[i];
    const auto parts = operands(one.text);
    if (parts.empty() || parts[0].find('[') != std::string_view::npos) continue;
    const std::string_view to = parts[0].substr(0, parts[0].find('{'));
    const bool goes_on =
        is_sum(one.name) && (is_fused(one.name) || parts.size() == 2 ||
                             std::find(parts.begin() + 1, parts.end(), to) != parts.end());
    if (goes_on) {
      ++sums[to];
    } else {
      written.insert(to);
    }
  }
  int longest = 0;
  for (const auto& [name, count] : sums)
    longest = written.contains(name) ? longest : std::max(longest, count);
  return longest;
}

HostMix mix_of(const HostFunction& f, std::size_t first, std::size_t last) {
  HostMix mix;
  for (std::size_t i = first; i <= last; ++i) {
    const HostInstruction& one = f.code[i];
    ++mix.instructions;
    ++mix.names[one.name];
    const auto parts = operands(one.text);
    const bool memory =
        one.text.find('[') != std::string::npos && !starts(one.name, {"lea", "prefetch", "nop"});
    const bool store = memory && is_move(one.name) && !parts.empty() &&
                       parts[0].find('[') != std::string_view::npos;
    mix.stores += store ? 1 : 0;
    mix.loads += memory && !store ? 1 : 0;
    if (is_product(one.name) || is_sum(one.name)) {
      ++mix.arithmetic;
      mix.vector_bytes = std::max(mix.vector_bytes, bytes_of_vector(one.text));
    }
    if (is_product(one.name)) mix.multiplies += bytes_of_vector(one.text) / 4.0;
    mix.fused = mix.fused || is_fused(one.name);
  }
  mix.chained = chained(f, first, last);
  return mix;
}

std::vector<vgpu::ir::Ways> ways_of(const HostFunction& f) {
  std::map<std::uint64_t, std::ptrdiff_t> places;
  for (const HostInstruction& one : f.code) places.emplace(one.address, std::ssize(places));
  std::vector<vgpu::ir::Ways> ways;
  for (const HostInstruction& one : f.code) {
    const auto place = places.find(one.target);
    ways.push_back({one.target != 0 && place != places.end() ? place->second : -1,
                    one.name != "jmp" && !one.name.starts_with("ret")});
  }
  return ways;
}

// Load address of this program's own executable.
std::uint64_t load_address() {
  std::uint64_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uint64_t*>(to) = info->dlpi_addr;
        return 1;  // the first entry is the executable
      },
      &base);
  return base;
}

std::uint64_t address_of(const KernelInfo& kernel, [[maybe_unused]] const Problem& problem) {
#ifdef LADDER_HAVE_HIGHWAY
  if (kernel.rung == "h04_simd_pack" || kernel.rung == "h05_threads") {
    const host::MicroKernel& micro = host::micro_kernel();
    const host::Way way = host::way_for(as_row_major(problem).problem, micro);
    const int vectors = way.tile.cols / micro.lanes;
    return reinterpret_cast<std::uint64_t>(
        micro.tiles[static_cast<int>(way.form)][vectors - 1][way.tile.rows - 1]);
  }
#endif
  return reinterpret_cast<std::uint64_t>(kernel.launch);
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value, 16);
  if (error != std::errc() || next == text.data()) return std::nullopt;
  return value;
}

}  // namespace

Result<HostFunction> parse_objdump(std::string_view text) {
  HostFunction f;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with(">:")) {
      if (!f.code.empty()) break;  // start of the next function
      const auto open = line.find('<');
      f.name = line.substr(open + 1, line.size() - open - 3);
      continue;
    }
    const auto colon = line.find(":\t");
    if (colon == std::string_view::npos) continue;
    const auto blank = line.find_first_not_of(' ');
    const auto address = hexadecimal(line.substr(blank, colon - blank));
    if (!address) continue;
    HostInstruction one;
    one.address = *address;
    std::string_view rest = line.substr(colon + 2);
    if (const auto remark = rest.find('#'); remark != std::string_view::npos)
      rest = rest.substr(0, remark);
    for (const std::string_view prefix : {"notrack ", "rep ", "bnd "}) {
      if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
    }
    one.name = rest.substr(0, rest.find(' '));
    if (one.name.starts_with("j")) {
      const auto at = rest.find_first_not_of(' ', one.name.size());
      if (at != std::string_view::npos) one.target = hexadecimal(rest.substr(at)).value_or(0);
    }
    while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
    one.text = rest;
    f.code.push_back(std::move(one));
  }
  if (f.code.empty()) return Status(Code::kInvalidArgument, "objdump's text has no function");
  return f;
}

Result<HostLoop> hot_loop(const HostFunction& f) {
  std::vector<HostLoop> loops;
  for (const Loop& loop : vgpu::ir::loops_of(ways_of(f))) {
    HostLoop with_mix{loop, mix_of(f, loop.first, loop.last)};
    if (with_mix.mix.multiplies > 0) loops.push_back(std::move(with_mix));
  }
  const auto innermost = [&](const HostLoop& loop) {
    return std::ranges::none_of(loops, [&](const HostLoop& other) { return other.inside(loop); });
  };
  const HostLoop* best = nullptr;
  for (const HostLoop& loop : loops) {
    if (!innermost(loop)) continue;
    const bool more = best == nullptr || loop.mix.multiplies > best->mix.multiplies ||
                      (loop.mix.multiplies == best->mix.multiplies &&
                       loop.mix.instructions < best->mix.instructions);
    if (more) best = &loop;
  }
  if (best == nullptr)
    return Status(Code::kInvalidArgument, "no loop of the machine code multiplies");
  return *best;
}

Result<HostFunction> host_function(const KernelInfo& kernel, const Problem& problem) {
#ifndef __x86_64__
  return Status(Code::kUnsupportedProblem, "machine code of x86-64 is read, not this processor's");
#endif
  const auto missing = [](const std::string& what) {
    return Status(Code::kUnsupportedProblem, what);
  };
  const std::string objdump = tune::find_tool("LADDER_OBJDUMP", "objdump");
  if (objdump.empty())
    return missing(
        "objdump is not installed (binutils; LADDER_OBJDUMP names another): machine code is not "
        "read");
  std::error_code error;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return missing("this program's own file is not known: " + error.message());
  const std::uint64_t at = address_of(kernel, problem) - load_address();
  const auto done = tune::run({objdump, "-d", "-C", "-w", "-M", "intel", "--no-show-raw-insn",
                               fmt::format("--start-address={:#x}", at),
                               fmt::format("--stop-address={:#x}", at + kMostBytes), program},
                              tune::Clock::now() + std::chrono::seconds(60), {});
  if (!done) return missing(objdump + " does not start: machine code is not read");
  if (!done.value().ended || done.value().end.status != 0)
    return missing(objdump + " failed: machine code is not read");
  auto function = parse_objdump(done.value().output);
  if (!function) return missing(function.status().message());
  return function;
}

}  // namespace ladder::analyse
