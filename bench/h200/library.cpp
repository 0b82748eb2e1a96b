// SPDX-License-Identifier: Apache-2.0
// libladder beside cuBLAS on a GPU: the first call of a handle within a capture, host time per
// call, random calls, large matrices, a handle per thread. bench/h200/csv.sh library runs it.
//   bench_library [RANDOM_CALLS [SIZE_OF_CAPTURED_PRODUCTS [SEED]]]
#include "library.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace ladder::bench {
namespace {

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
}  // namespace ladder::bench

int main(int argc, char** argv) {
  using namespace ladder::bench;
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
  right &= check_invariance(handle, random);
  right &= check_threads();
  right &= check_large(handle);
  require(ladder_destroy(handle), "ladder_destroy");
  require(ladder_destroy(second), "ladder_destroy");
  require(cublasDestroy(cublas), "cublasDestroy");
  return right ? 0 : 1;
}
