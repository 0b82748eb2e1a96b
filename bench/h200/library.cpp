// SPDX-License-Identifier: Apache-2.0
// libladder beside cuBLAS on a GPU: the first call of a handle within a capture, host time per
// call, random calls with batches and special values, a handle per thread. bench/h200/library.sh
// runs it.
//   bench_library [RANDOM_CALLS [SIZE_OF_CAPTURED_PRODUCTS [SEED]]]
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <ladder/gemm.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Ends the program if `status`, of CUDA, cuBLAS or libladder, is not success.
template <class Status>
void require(Status status, const char* what) {
  if (static_cast<int>(status) == 0) return;
  std::printf("%s: status %d; %s\n", what, static_cast<int>(status), ladder_last_error());
  std::exit(1);
}

class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    require(cudaMalloc(&g_, bytes()), "cudaMalloc");
  }
  ~DeviceArray() { static_cast<void>(cudaFree(g_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  float* get() const { return g_; }
  std::size_t bytes() const { return count_ * sizeof(float); }
  void set(const std::vector<float>& from, std::size_t count) {
    require(cudaMemcpy(g_, from.data(), count * sizeof(float), cudaMemcpyHostToDevice), "copy");
  }
  void get(std::vector<float>& to, std::size_t count) const {
    require(cudaMemcpy(to.data(), g_, count * sizeof(float), cudaMemcpyDeviceToHost), "copy");
  }

 private:
  std::size_t count_;
  float* g_ = nullptr;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double unit() { return std::uniform_real_distribution<double>(0, 1)(bits_); }
  std::uint64_t below(std::uint64_t n) { return bits_() % n; }
  bool chance(double p) { return unit() < p; }
  std::vector<float> values(std::size_t count) {  // uniform in [-1, 1)
    std::vector<float> x(count);
    for (float& value : x) value = static_cast<float>(2 * unit() - 1);
    return x;
  }

 private:
  std::mt19937_64 bits_;
};

ladder_gemm_call square_call(int n, const float* alpha, const float* beta) {
  ladder_gemm_call call;
  ladder_gemm_call_init(&call);
  call.m = call.n = call.k = call.lda = call.ldb = call.ldc = n;
  call.alpha = alpha;
  call.beta = beta;
  return call;
}

// The first call of a new handle is captured. Replays must give the bits of a call, after the
// operands have changed.
bool check_capture(ladder_precision precision, int n, Random& random) {
  constexpr int kReplays = 100, kCompareEvery = 10;
  const float one = 1, zero = 0;
  const auto count = static_cast<std::size_t>(n) * n;
  DeviceArray a(count), b(count), c(count), expected(count);
  ladder_handle handle;
  require(ladder_create(&handle), "ladder_create");
  cudaStream_t stream;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  require(ladder_set_stream(handle, stream), "ladder_set_stream");
  ladder_gemm_call call = square_call(n, &one, &zero);
  call.precision = precision;
  call.a = a.get();
  call.b = b.get();
  call.c = c.get();
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  require(ladder_gemm(handle, &call), "the captured call");
  require(cudaStreamEndCapture(stream, &graph), "end of capture");
  require(cudaGraphInstantiate(&ready, graph, 0), "graph");
  call.c = expected.get();
  std::vector<float> of_graph(count), of_call(count);
  int differing = 0;
  for (int i = 0; i < kReplays; ++i) {
    if (i % kCompareEvery == 0) {
      a.set(random.values(count), count);
      b.set(random.values(count), count);
    }
    require(cudaGraphLaunch(ready, stream), "replay");
    if (i % kCompareEvery != kCompareEvery - 1) continue;
    require(ladder_gemm(handle, &call), "the compared call");
    require(cudaStreamSynchronize(stream), "synchronise");
    c.get(of_graph, count);
    expected.get(of_call, count);
    differing += std::memcmp(of_graph.data(), of_call.data(), c.bytes()) != 0;
  }
  std::printf("capture      %-6s n %d: first call captured, %d of %d compared replays differ\n",
              ladder_precision_string(precision), n, differing, kReplays / kCompareEvery);
  static_cast<void>(cudaGraphExecDestroy(ready));
  static_cast<void>(cudaGraphDestroy(graph));
  require(ladder_destroy(handle), "ladder_destroy");
  require(cudaStreamDestroy(stream), "stream");
  return differing == 0;
}

// Time on the host until a call returns, in rounds with cuBLAS. The kernels are short enough not to
// fill the launch queue.
void time_calls(ladder_handle handle, cublasHandle_t cublas, int n) {
  constexpr int kRounds = 41, kCalls = 200;
  const float one = 1, zero = 0;
  const auto count = static_cast<std::size_t>(n) * n;
  DeviceArray a(count), b(count), c(count);
  require(cudaMemset(a.get(), 0, a.bytes()), "memset");
  require(cudaMemset(b.get(), 0, b.bytes()), "memset");
  std::vector<double> ours, theirs;
  const auto time = [&](std::vector<double>& to, auto call) {
    require(cudaDeviceSynchronize(), "synchronise");
    const auto begin = Clock::now();
    for (int i = 0; i < kCalls; ++i) require(call(), "timed call");
    to.push_back(milliseconds_since(begin) * 1000 / kCalls);
  };
  for (int round = 0; round < kRounds; ++round) {
    time(ours, [&] {
      return ladder_sgemm(handle, LADDER_COL_MAJOR, LADDER_OP_N, LADDER_OP_N, n, n, n, &one,
                          a.get(), n, b.get(), n, &zero, c.get(), n);
    });
    time(theirs, [&] {
      return cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.get(), n, b.get(), n,
                         &zero, c.get(), n);
    });
  }
  std::sort(ours.begin(), ours.end());
  std::sort(theirs.begin(), theirs.end());
  std::printf("host us/call n %d: ladder %.2f (p10 %.2f, p90 %.2f), cuBLAS %.2f (%.2f, %.2f)\n", n,
              ours[kRounds / 2], ours[kRounds / 10], ours[kRounds * 9 / 10], theirs[kRounds / 2],
              theirs[kRounds / 10], theirs[kRounds * 9 / 10]);
}

struct RandomCall {
  bool row;
  int op_a, op_b, m, n, k, lda, ldb, ldc, batch;
  std::size_t a, b, c;  // elements before the first matrix
  std::int64_t stride_a, stride_b, stride_c;
  float alpha, beta;
  ladder_precision precision;
};

// Sizes are log-uniform, now and then 0; leading dimensions, strides and offsets exceed the least.
RandomCall draw(Random& random) {
  RandomCall x{};
  const auto size = [&](int most) {
    return random.chance(0.02) ? 0 : static_cast<int>(std::exp(random.unit() * std::log(most)));
  };
  x.row = random.chance(0.5);
  x.op_a = static_cast<int>(random.below(3));
  x.op_b = static_cast<int>(random.below(3));
  x.m = size(700);
  x.n = size(700);
  x.k = size(1200);
  x.batch = random.chance(0.2) ? 1 + static_cast<int>(random.below(4)) : 1;
  const auto leading = [&](int rows, int cols) {
    const int padding = random.chance(0.5) ? 0 : static_cast<int>(random.below(9));
    return std::max(1, x.row ? cols : rows) + padding;
  };
  const int rows_a = x.op_a != 0 ? x.k : x.m, cols_a = x.op_a != 0 ? x.m : x.k;
  const int rows_b = x.op_b != 0 ? x.n : x.k, cols_b = x.op_b != 0 ? x.k : x.n;
  x.lda = leading(rows_a, cols_a);
  x.ldb = leading(rows_b, cols_b);
  x.ldc = leading(x.m, x.n);
  x.stride_a = std::int64_t{x.row ? rows_a : cols_a} * x.lda;
  x.stride_b = std::int64_t{x.row ? rows_b : cols_b} * x.ldb;
  x.stride_c = std::int64_t{x.row ? x.m : x.n} * x.ldc + 3;
  x.a = random.below(5);
  x.b = random.below(5);
  x.c = random.below(5);
  const float scalars[] = {0, 1, -1, static_cast<float>(random.unit()), -1.75F};
  x.alpha = scalars[random.below(std::size(scalars))];
  x.beta = scalars[random.below(std::size(scalars))];
  x.precision = random.chance(0.5) ? LADDER_PRECISION_IEEE : LADDER_PRECISION_AUTO;
  return x;
}

void call_ladder(ladder_handle handle, const RandomCall& x, const float* a, const float* b,
                 float* c) {
  ladder_gemm_call call;
  ladder_gemm_call_init(&call);
  call.layout = x.row ? LADDER_ROW_MAJOR : LADDER_COL_MAJOR;
  call.op_a = static_cast<ladder_op>(x.op_a);
  call.op_b = static_cast<ladder_op>(x.op_b);
  call.precision = x.precision;
  call.m = x.m, call.n = x.n, call.k = x.k;
  call.alpha = &x.alpha, call.beta = &x.beta;
  call.a = a + x.a, call.b = b + x.b, call.c = c + x.c;
  call.lda = x.lda, call.ldb = x.ldb, call.ldc = x.ldc;
  call.batch_count = x.batch;
  call.stride_a = x.stride_a, call.stride_b = x.stride_b, call.stride_c = x.stride_c;
  require(ladder_gemm(handle, &call), "ladder_gemm");
}

void call_cublas(cublasHandle_t cublas, const RandomCall& x, const float* a, const float* b,
                 float* c) {
  if (x.m == 0 || x.n == 0) return;
  const auto op_a = static_cast<cublasOperation_t>(x.op_a);
  const auto op_b = static_cast<cublasOperation_t>(x.op_b);
  a += x.a, b += x.b, c += x.c;
  require(x.row ? cublasSgemmStridedBatched(cublas, op_b, op_a, x.n, x.m, x.k, &x.alpha, b, x.ldb,
                                            x.stride_b, a, x.lda, x.stride_a, &x.beta, c, x.ldc,
                                            x.stride_c, x.batch)
                : cublasSgemmStridedBatched(cublas, op_a, op_b, x.m, x.n, x.k, &x.alpha, a, x.lda,
                                            x.stride_a, b, x.ldb, x.stride_b, &x.beta, c, x.ldc,
                                            x.stride_c, x.batch),
          "cuBLAS");
}

// Whether both are NaN, the same infinity, or at most `bound` apart.
bool agree(float x, float y, double bound) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  return std::fabs(double{x} - y) <= bound;
}

// Both results lie within gamma(k + 2) of the exact one, where operands are at most 1 and sums of k
// products at most k (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.5).
double bound_of(const RandomCall& x) {
  constexpr double kHalfUlp = std::numeric_limits<float>::epsilon() / 2;
  const double steps = x.k + 2.0;
  return 2 * steps * kHalfUlp / (1 - steps * kHalfUlp) *
             (std::fabs(double{x.alpha}) * x.k + std::fabs(double{x.beta})) +
         2 * std::numeric_limits<float>::min();
}

bool check_random(ladder_handle handle, cublasHandle_t cublas, int calls, Random& random) {
  constexpr std::size_t kMost = std::size_t{1} << 21;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(), kInf, -kInf, 1e-42F};
  std::vector<float> a = random.values(kMost), b = random.values(kMost), c = random.values(kMost);
  std::vector<float> ours(kMost), theirs(kMost);
  DeviceArray on_a(kMost), on_b(kMost), on_ours(kMost), on_theirs(kMost);
  int wrong = 0, outside = 0, special = 0;
  for (int i = 0; i < calls;) {
    const RandomCall x = draw(random);
    const auto end = [&](std::size_t at, std::int64_t stride) {
      return at + static_cast<std::size_t>(stride * x.batch) + 8;
    };
    const std::size_t ends[] = {end(x.a, x.stride_a), end(x.b, x.stride_b), end(x.c, x.stride_c)};
    if (*std::max_element(std::begin(ends), std::end(ends)) > kMost) continue;
    ++i;
    const bool with_special = random.chance(0.1);
    special += with_special;
    float before[3] = {};
    std::size_t places[3] = {};
    std::vector<float>* const all[] = {&a, &b, &c};
    for (int j = 0; with_special && j < 3; ++j) {
      places[j] = random.below(ends[j]);
      before[j] = std::exchange((*all[j])[places[j]], kSpecial[random.below(4)]);
    }
    on_a.set(a, ends[0]);
    on_b.set(b, ends[1]);
    on_ours.set(c, ends[2]);
    on_theirs.set(c, ends[2]);
    call_ladder(handle, x, on_a.get(), on_b.get(), on_ours.get());
    call_cublas(cublas, x, on_a.get(), on_b.get(), on_theirs.get());
    on_ours.get(ours, ends[2]);
    on_theirs.get(theirs, ends[2]);
    std::vector<bool> inside(ends[2]);
    for (int z = 0; z < x.batch; ++z) {
      for (int r = 0; r < x.m; ++r) {
        for (int s = 0; s < x.n; ++s) {
          const std::int64_t at = x.row ? std::int64_t{r} * x.ldc + s : std::int64_t{s} * x.ldc + r;
          inside[x.c + static_cast<std::size_t>(z * x.stride_c + at)] = true;
        }
      }
    }
    bool is_wrong = false, is_outside = false;
    const double bound = bound_of(x);
    for (std::size_t e = 0; e < ends[2]; ++e) {
      if (inside[e]) {
        is_wrong |= !agree(ours[e], theirs[e], bound);
      } else {
        is_outside |= std::memcmp(&ours[e], &c[e], sizeof(float)) != 0;
      }
    }
    if (is_wrong || is_outside) {
      std::printf(
          "call %d: %s%s%s-major %dx%dx%d op %d %d ld %d %d %d alpha %g beta %g batch %d %s\n", i,
          is_wrong ? "wrong " : "", is_outside ? "outside C " : "", x.row ? "row" : "col", x.m, x.n,
          x.k, x.op_a, x.op_b, x.lda, x.ldb, x.ldc, x.alpha, x.beta, x.batch,
          ladder_precision_string(x.precision));
    }
    wrong += is_wrong;
    outside += is_outside;
    for (int j = 0; with_special && j < 3; ++j) (*all[j])[places[j]] = before[j];
  }
  std::printf(
      "random       %d calls beside cuBLAS, %d with special values: %d wrong, %d wrote "
      "outside C\n",
      calls, special, wrong, outside);
  return wrong == 0 && outside == 0;
}

// A product of ones has the sum k in every element.
bool check_threads() {
  constexpr int kThreads = 16, kCalls = 200;
  std::vector<int> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id) {
    threads.emplace_back([id, &wrong] {
      const int n = 256 + 16 * id;
      const auto count = static_cast<std::size_t>(n) * n;
      const float one = 1, zero = 0;
      DeviceArray a(count), b(count), c(count);
      std::vector<float> host(count, 1.0F);
      a.set(host, count);
      b.set(host, count);
      cudaStream_t stream;
      ladder_handle handle;
      require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
      require(ladder_create(&handle), "ladder_create");
      require(ladder_set_stream(handle, stream), "ladder_set_stream");
      for (int i = 0; i < kCalls; ++i) {
        require(ladder_sgemm(handle, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, n, n, n, &one,
                             a.get(), n, b.get(), n, &zero, c.get(), n),
                "ladder_sgemm");
      }
      require(cudaStreamSynchronize(stream), "synchronise");
      c.get(host, count);
      for (const float value : host) wrong[static_cast<std::size_t>(id)] += value != float(n);
      require(ladder_destroy(handle), "ladder_destroy");
      require(cudaStreamDestroy(stream), "stream");
    });
  }
  int all = 0;
  for (int id = 0; id < kThreads; ++id) {
    threads[static_cast<std::size_t>(id)].join();
    all += wrong[static_cast<std::size_t>(id)];
  }
  std::printf("threads      %d threads, streams and handles, %d calls each: %d elements wrong\n",
              kThreads, kCalls, all);
  return all == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 10000;
  const int n = argc > 2 ? std::atoi(argv[2]) : 4096;  // of captures
  Random random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  cudaDeviceProp device{};
  require(cudaGetDeviceProperties(&device, 0), "device");
  require(cudaFree(nullptr), "context");
  ladder_handle handle, second;
  auto begin = Clock::now();
  require(ladder_create(&handle), "ladder_create");
  const double first = milliseconds_since(begin);
  begin = Clock::now();
  require(ladder_create(&second), "ladder_create");
  std::printf("%s, libladder %d\ncreate       %.1f ms with a context, %.1f ms the second handle\n",
              device.name, ladder_version(), first, milliseconds_since(begin));
  cublasHandle_t cublas;
  require(cublasCreate(&cublas), "cublasCreate");
  bool right = true;
  for (int p = LADDER_PRECISION_IEEE; p <= LADDER_PRECISION_FP16X3; ++p)
    right &= check_capture(static_cast<ladder_precision>(p), n, random);
  for (const int size : {64, 256}) time_calls(handle, cublas, size);
  right &= check_random(handle, cublas, calls, random);
  right &= check_threads();
  require(ladder_destroy(handle), "ladder_destroy");
  require(ladder_destroy(second), "ladder_destroy");
  require(cublasDestroy(cublas), "cublasDestroy");
  return right ? 0 : 1;
}
