// SPDX-License-Identifier: Apache-2.0
// What each of r17's choices is worth: r17 beside copies of it with one thing changed, of which each is a library of its
// own, and beside cuBLAS, launched in turn. Each is first compared with r16 on integers, where all sums are exact.
// Prints CSV, a line a copy and problem: median and half the interquartile range of cycles; cycles over those of r17 as it is;
// whether the result is right.
//   bench_edits [--seconds S] [--side N,...] [--check] COPY.so...     S of each problem, default 1; --check: nothing is
//   timed, and cuBLAS is not needed                                    bench/h200/edits.sh runs it
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cycles.cuh"

namespace {

using namespace ladder;
using namespace ladder::bench;

struct Copy {
  std::string name;
  const KernelInfo* kernel;
};

// The kernels of a copy of r17. A library stays until the program ends.
std::span<const KernelInfo> kernels_of(const char* path) {
  void* const library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  const void* const info = library == nullptr ? nullptr : dlsym(library, "_ZN6ladder12r17_stream_k5kInfoE");
  if (info == nullptr) {
    std::fprintf(stderr, "bench_edits: %s\n", dlerror());
    std::exit(1);
  }
  return *static_cast<const std::span<const KernelInfo>*>(info);
}

// What the kernel makes of x, byte by byte.
std::vector<std::byte> result_of(const KernelInfo& kernel, const Matrices& x) {
  const auto bytes = static_cast<std::size_t>(x.p.m * x.p.ldc * bytes_of(x.p.out));
  std::vector<std::byte> host(bytes);
  constexpr int kPoison = 0xFF;  // NaN in every type
  require(cudaMemset(x.operands().c, kPoison, bytes), "poison");
  require(kernel.launch(x.p, x.operands(), nullptr), "launch");
  require(cudaMemcpy(host.data(), x.operands().c, bytes, cudaMemcpyDeviceToHost), "result");
  return host;
}

double quantile(std::vector<double> samples, double part) {
  const auto at =
      samples.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(samples.size() - 1));
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

struct Case {
  const char* types;  // as kernels are named after them
  Type in, out;
};
constexpr std::array kCases{Case{"fp16", Type::kF16, Type::kF16}, Case{"fp16_f32", Type::kF16, Type::kF32},
                            Case{"tf32", Type::kF32, Type::kF32}};

std::vector<bool> right(const std::vector<Copy>& copies, const KernelInfo& reference, const Case& types,
                        int n) {
  const Matrices x(n, types.in, types.out, Values::kIntegers);
  const std::vector<std::byte> expected = result_of(reference, x);
  std::vector<bool> same;
  for (const Copy& copy : copies) same.push_back(result_of(*copy.kernel, x) == expected);
  return same;
}

struct Options {
  double for_s = 1;
  std::vector<int> sides{4096, 8192};
  bool check = false;
  std::vector<const char*> paths;
};

void compare(const Gpu& gpu, const Case& types, int n, const Options& options) {
  const std::string suffix = std::string("_") + types.types;
  std::vector<Copy> copies{{"r17", &kernel_named("r17_stream_k" + suffix)}};
  for (const char* path : options.paths) {
    for (const KernelInfo& kernel : kernels_of(path)) {
      if (kernel.id == copies[0].kernel->id)
        copies.push_back({std::filesystem::path(path).stem().string(), &kernel});
    }
  }
  if (!options.check) copies.push_back({"cublas", &kernel_named("cublas" + suffix)});
  const std::vector<bool> is_right = right(copies, kernel_named("r16_persistent" + suffix), types, n);
  const auto verdict = [&](std::size_t i) { return is_right[i] ? "yes" : "no"; };
  if (options.check) {
    for (std::size_t i = 0; i < copies.size(); ++i)
      std::printf("%d,%s,%s,,,,%s\n", n, types.types, copies[i].name.c_str(), verdict(i));
    return;
  }
  std::vector<const KernelInfo*> kernels;
  for (const Copy& copy : copies) kernels.push_back(copy.kernel);
  const std::vector<Samples> samples =
      cycles_in_turn(gpu, kernels, options.for_s, Matrices(n, types.in, types.out));
  const double as_it_is = median(samples[0].cycles);
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const std::vector<double>& cycles = samples[i].cycles;
    constexpr double kLower = 0.25, kUpper = 0.75;
    std::printf("%d,%s,%s,%.0f,%.0f,%.4f,%s\n", n, types.types, copies[i].name.c_str(), median(cycles),
                (quantile(cycles, kUpper) - quantile(cycles, kLower)) / 2, median(cycles) / as_it_is,
                verdict(i));
  }
  std::fflush(stdout);
}

[[noreturn]] void usage() {
  std::fputs("usage: bench_edits [--seconds S] [--side N,...] [--check] COPY.so...\n", stderr);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--seconds" && i + 1 < argc) {
      options.for_s = std::atof(argv[++i]);
    } else if (arg == "--side" && i + 1 < argc) {
      options.sides.clear();
      for (char* side = std::strtok(argv[++i], ","); side != nullptr; side = std::strtok(nullptr, ","))
        options.sides.push_back(std::atoi(side));
    } else if (arg == "--check") {
      options.check = true;
    } else if (arg.starts_with('-')) {
      usage();
    } else {
      options.paths.push_back(argv[i]);
    }
  }
  const auto below_one = [](int n) { return n < 1; };
  if (options.paths.empty() || options.sides.empty() ||
      std::any_of(options.sides.begin(), options.sides.end(), below_one)) {
    usage();
  }
  const Gpu gpu;
  std::printf("n,types,edit,cycles,half_iqr,of_r17,right\n");
  for (const Case& types : kCases)
    for (const int n : options.sides) compare(gpu, types, n, options);
  return 0;
}
