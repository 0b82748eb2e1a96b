// SPDX-License-Identifier: Apache-2.0
// How many instructions of single threads ("lane instructions") the engine executes in a second, on one host thread
// and on all, with all counters, and with the race check.
#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "engine/engine.hpp"
#include "engine/memory/memory.hpp"

namespace {

constexpr int kN = 256;

struct Device {
  vgpu::Memory memory{std::size_t{1} << 30};
  std::unique_ptr<vgpu::Module> module;
  float* matrices[3] = {};

  Device() {
    std::ifstream file(VGPU_BENCH_PTX);
    std::ostringstream text;
    text << file.rdbuf();
    module = vgpu::Module::from_ptx(text.str(), memory);
    for (float*& m : matrices) {
      m = static_cast<float*>(memory.allocate(kN * kN * sizeof(float)));
      for (int i = 0; i < kN * kN; ++i) m[i] = static_cast<float>(i % 7);
    }
  }
};

void run(benchmark::State& state, const char* name, unsigned host_threads, bool check_race) {
  static Device device;
  const vgpu::Kernel* const kernel = device.module->find_kernel(name);
  if (kernel == nullptr) throw std::invalid_argument(name);
  std::vector<std::byte> params(vgpu::attributes(*kernel).param_bytes);
  std::memcpy(params.data(), &kN, sizeof(kN));
  std::memcpy(params.data() + 8, device.matrices, sizeof(device.matrices));
  vgpu::LaunchConfig config;
  config.grid = {kN / 32, kN / 32, 1};
  config.block = {32, 32, 1};
  config.host_threads = host_threads;
  config.check_race = check_race;
  double instructions = 0;
  for (auto _ : state) {
    instructions +=
        static_cast<double>(vgpu::launch(*kernel, config, params, device.memory).lane_instructions);
  }
  state.counters["lane_instructions/s"] = benchmark::Counter(instructions, benchmark::Counter::kIsRate);
}

#define ENGINE(kernel)                                                                             \
  BENCHMARK_CAPTURE(run, kernel, #kernel, 1, false)->UseRealTime()->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(run, kernel##_all_cores, #kernel, 0, false)->UseRealTime()->Unit(benchmark::kMillisecond)
ENGINE(naive);
ENGINE(coalesced);
ENGINE(tiled);
ENGINE(scale);
ENGINE(divergent);
BENCHMARK_CAPTURE(run, tiled_race_check, "tiled", 1, true)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
