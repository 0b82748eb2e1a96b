// SPDX-License-Identifier: Apache-2.0
// What the CPU rungs reach while other processes need the cores: h04 on one core, h05 and OpenBLAS
// on all, in turn, beside processes that compute all the time. Prints one CSV line per size and
// kernel: n,kernel,median_tflops,mean_tflops,p99_ms,launches. The mean counts, since a thread that
// loses its core makes few launches very long. Exit status 1 if h05's mean is below 0.9 of h04's.
//   bench_shared [COMPETITORS] [SECONDS]           default: 1 process, on the last core, 6 seconds
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <ladder/registry.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

#include "problem/number.hpp"

namespace {

using namespace ladder;
using Clock = std::chrono::steady_clock;

constexpr int kSizes[] = {128, 256, 512, 1024};
constexpr double kTurnS = 0.03, kLeast = 0.9;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Processes that compute until they are stopped, from the last core downwards.
class Competitors {
 public:
  explicit Competitors(int count) {
    cpu_set_t cores;
    std::vector<int> usable;
    if (::sched_getaffinity(0, sizeof cores, &cores) == 0) {
      for (int core = CPU_SETSIZE - 1; core >= 0; --core)
        if (CPU_ISSET(core, &cores)) usable.push_back(core);
    }
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child > 0) children_.push_back(child);
      if (child != 0) continue;
      (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (!usable.empty()) {
        CPU_ZERO(&cores);
        CPU_SET(usable[static_cast<std::size_t>(i) % usable.size()], &cores);
        (void)::sched_setaffinity(0, sizeof cores, &cores);
      }
      while (true) asm volatile("");
    }
  }
  ~Competitors() {
    for (const pid_t child : children_) {
      (void)::kill(child, SIGKILL);
      (void)::waitpid(child, nullptr, 0);
    }
  }
  Competitors(const Competitors&) = delete;
  Competitors& operator=(const Competitors&) = delete;

 private:
  std::vector<pid_t> children_;
};

std::vector<float> uniform(int count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(-1.0F, 1.0F);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) value = values(engine);
  return x;
}

// The kernels' mean rates at size n.
std::vector<double> measure(const std::vector<const KernelInfo*>& kernels, int n, double seconds) {
  const Problem p = make_problem(n, n, n);
  const std::vector<float> a = uniform(n * n, 1), b = uniform(n * n, 2);
  std::vector<float> c(a.size());
  std::vector<std::vector<double>> times(kernels.size());
  const auto launch = [&](const KernelInfo* kernel) {
    const Clock::time_point start = Clock::now();
    if (Status s = kernel->launch(p, {a.data(), b.data(), c.data()}, nullptr); !s) {
      fmt::print(stderr, "{}: {}\n", kernel->id, s.message());
      std::exit(2);
    }
    return seconds_since(start);
  };
  for (const KernelInfo* kernel : kernels) (void)launch(kernel);  // starts threads
  const Clock::time_point start = Clock::now();
  while (seconds_since(start) < seconds) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Clock::time_point turn = Clock::now();
      while (seconds_since(turn) < kTurnS) times[i].push_back(launch(kernels[i]));
    }
  }
  std::vector<double> means;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::vector<double>& t = times[i];
    std::sort(t.begin(), t.end());
    const double tera = flops(p) * 1e-12;
    means.push_back(tera * static_cast<double>(t.size()) /
                    std::accumulate(t.begin(), t.end(), 0.0));
    fmt::print("{},{},{:.4f},{:.4f},{:.3f},{}\n", n, kernels[i]->id, tera / t[t.size() / 2],
               means.back(), 1e3 * t[t.size() * 99 / 100], t.size());
    std::fflush(stdout);
  }
  return means;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? parse_number<int>(argv[1]).value_or(-1) : 1;
  const double seconds = argc > 2 ? parse_number<double>(argv[2]).value_or(-1) : 6;
  if (argc > 3 || count < 0 || !(seconds > 0)) {
    fmt::print(stderr, "bench_shared [COMPETITORS] [SECONDS]\n");
    return 2;
  }
  std::vector<const KernelInfo*> kernels;
  for (const char* name : {"h04_simd_pack", "h05_threads", "openblas_all"}) {
    if (const auto found = find_kernels(name)) kernels.push_back(found.value().front());
  }
  const Competitors competitors(count);
  fmt::print("n,kernel,median_tflops,mean_tflops,p99_ms,launches\n");
  bool below = false;
  for (const int n : kSizes) {
    const std::vector<double> means = measure(kernels, n, seconds / std::size(kSizes));
    below |= means[1] < kLeast * means[0];
  }
  if (below) fmt::print(stderr, "h05_threads is below {} of one core's rate\n", kLeast);
  return below ? 1 : 0;
}
