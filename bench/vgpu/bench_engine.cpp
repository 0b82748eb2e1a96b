// SPDX-License-Identifier: Apache-2.0
// Measures lane instructions (instructions of single threads) per second of the engine: on one host
// thread and on all, with all counters, with each check and with all checks, from PTX and from
// machine code.
#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>

#include "engine/engine.hpp"
#include "memory/memory.hpp"

namespace {

constexpr int kN = 256;

struct Device {
  vgpu::Memory memory{std::size_t{1} << 30};
  std::unique_ptr<vgpu::Module> ptx, sass;
  float* matrices[3] = {};

  static std::string read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  Device() {
    memory.track();
    ptx = vgpu::Module::from_ptx(read(VGPU_BENCH_PTX), memory);
    const std::string code = read(VGPU_BENCH_CUBIN);
    sass = vgpu::Module::from_cubin(std::as_bytes(std::span(code)), memory);
    for (float*& m : matrices) {
      m = static_cast<float*>(memory.allocate(kN * kN * sizeof(float)));
      for (int i = 0; i < kN * kN; ++i) m[i] = static_cast<float>(i % 7);
      if (m != matrices[2])
        memory.mark_written(m, kN * kN * sizeof(float));  // the kernels write the third matrix
    }
  }
};

void run(benchmark::State& state, const char* name, unsigned host_threads, bool race, bool init,
         bool machine_code) {
  static Device device;
  const vgpu::Kernel* const kernel = (machine_code ? device.sass : device.ptx)->find_kernel(name);
  if (kernel == nullptr) throw std::invalid_argument(name);
  std::vector<std::byte> params(vgpu::attributes(*kernel).param_bytes);
  std::memcpy(params.data(), &kN, sizeof(kN));
  std::memcpy(params.data() + 8, device.matrices, sizeof(device.matrices));
  vgpu::LaunchConfig config;
  const bool tiled = std::string(name) == "block_tiled";
  config.grid = tiled ? vgpu::Dim3{kN / 128, kN / 128, 1} : vgpu::Dim3{kN / 32, kN / 32, 1};
  config.block = {32, tiled ? 8u : 32u, 1};
  config.host_threads = host_threads;
  config.check_race = race;
  config.check_init = init;
  double instructions = 0;
  for (auto _ : state) {
    instructions +=
        static_cast<double>(vgpu::launch(*kernel, config, params, device.memory).lane_instructions);
  }
  state.counters["lane_instructions/s"] =
      benchmark::Counter(instructions, benchmark::Counter::kIsRate);
}

#define MODE(kernel, mode, threads, race, init)                                   \
  BENCHMARK_CAPTURE(run, kernel##mode, #kernel, threads, race, init, false)       \
      ->UseRealTime()                                                             \
      ->Unit(benchmark::kMillisecond);                                            \
  BENCHMARK_CAPTURE(run, sass_##kernel##mode, #kernel, threads, race, init, true) \
      ->UseRealTime()                                                             \
      ->Unit(benchmark::kMillisecond)
#define ENGINE(kernel)                       \
  MODE(kernel, , 1, false, false);           \
  MODE(kernel, _all_cores, 0, false, false); \
  MODE(kernel, _check_race, 1, true, false); \
  MODE(kernel, _check_init, 1, false, true); \
  MODE(kernel, _all_checks, 1, true, true)
ENGINE(naive);
ENGINE(coalesced);
ENGINE(tiled);
ENGINE(block_tiled);
ENGINE(scale);
ENGINE(divergent);

}  // namespace
