// SPDX-License-Identifier: Apache-2.0
// cuBLASLt at its best: of the algorithms that its heuristic names for a problem, the one that is
// fastest on it. The choice is made at the first launch of a problem, by timing; what is measured
// afterwards is that algorithm alone.
#include "device/runtime.cuh"
#include "rungs/baselines/cublas_terms.hpp"

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace ladder::cublaslt {

static constexpr std::size_t kWorkspaceBytes = std::size_t{32}
                                               << 20;  // what cuBLAS itself takes on Hopper
static constexpr int kCandidates = 24;  // the heuristic's best; most problems have fewer
static constexpr int kLaunches = 3;     // of each, after one to load it

static Status accepts(const Problem& p, const Device& device) {
  if (Status s = accept_cuda(device, 0); !s) return s;
  if (device.is_virtual)
    return {Code::kUnsupportedDevice, "cuBLAS is not executed on the virtual GPU"};
  // Its matrices have no size 0, and a C that is only scaled has no algorithms to choose from.
  if (p.m > 0 && p.n > 0 && !reads_ab(p))
    return {Code::kUnsupportedProblem, "needs k > 0 and alpha != 0"};
  return Status::ok();
}

// 8-bit operands are K-major, in rows of whole 16 bytes.
static Status accepts_bytes(const Problem& p, const Device& device) {
  if (Status s = accept_cuda(device, 89); !s) return s;
  if (Status s = accepts(p, device); !s) return s;
  if (Status s = accept_k_major(p); !s) return s;
  for (const auto& [name, size] :
       {std::pair{"n", p.n}, {"k", p.k}, {"lda", p.lda}, {"ldb", p.ldb}, {"ldc", p.ldc}}) {
    if (size % 16 != 0)
      return {Code::kUnsupportedProblem,
              std::string(name) + " = " + std::to_string(size) +
                  ": cuBLASLt needs a multiple of 16 for 8-bit operands"};
  }
  return Status::ok();
}

using cublas::Owned;
using Handle = Owned<cublasLtHandle_t, cublasLtDestroy>;
using Matmul = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Matrix = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;
using Memory = Owned<void*, cudaFree>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;

static Status failed(const char* what, const std::string& why) {
  return {Code::kLaunchFailed, std::string("cuBLASLt: ") + what + ": " + why};
}
static Status check(const char* what, cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? Status::ok()
                                         : failed(what, cublasGetStatusString(status));
}
static Status check(const char* what, cudaError_t error) {
  return error == cudaSuccess ? Status::ok() : failed(what, cudaGetErrorString(error));
}

// The largest power of two up to 256 that divides an address. Algorithms with wide loads need it.
static std::uint32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return address == 0 ? 256 : 1U << std::min(8, std::countr_zero(address));
}

// The scales of K-major operands of a row-major problem. cuBLASLt's A is the problem's B.
static Status set_scales(cublasLtMatmulDesc_t matmul, const Problem& p, const Operands& o) {
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    return check("scales", cublasLtMatmulDescSetAttribute(matmul, attribute, &value, sizeof value));
  };
  if (Status s = set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, o.scales_b); !s) return s;
  if (Status s = set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, o.scales_a); !s) return s;
  if (p.scaling == Scaling::kTensor) return Status::ok();
#if CUBLAS_VERSION < 120900
  return failed("scales", "before 12.9 it has none per block");
#else
  const std::int32_t squares = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F,
                     rows = CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
  if (Status s = set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, squares); !s) return s;
  return set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, rows);
#endif
}

// Descriptors of one product. cuBLASLt is column-major: a row-major C = A B is its C' = B' A'.
struct Product {
  Matmul matmul;
  Matrix a, b, c;
  Problem problem;
  const void *left = nullptr, *right = nullptr;

  static Status make(const Problem& given, const Operands& o, cublasComputeType_t compute,
                     Product& product) {
    const auto [p, swapped] = as_row_major(given);
    product.problem = p;
    product.left = swapped ? o.a : o.b;
    product.right = swapped ? o.b : o.a;
    cublasLtMatmulDesc_t matmul = nullptr;
    if (Status s = check("descriptor", cublasLtMatmulDescCreate(&matmul, compute, CUDA_R_32F)); !s)
      return s;
    product.matmul.reset(matmul);
    for (const auto& [attribute, op] :
         {std::pair{CUBLASLT_MATMUL_DESC_TRANSA, p.op_b}, {CUBLASLT_MATMUL_DESC_TRANSB, p.op_a}}) {
      const cublasOperation_t operation = cublas::operation(op);
      if (Status s = check("operation", cublasLtMatmulDescSetAttribute(
                                            matmul, attribute, &operation, sizeof operation));
          !s)
        return s;
    }
    if (p.scaling != Scaling::kNone) {
      if (Status s = set_scales(matmul, p, o); !s) return s;
    }
    const auto matrix = [](Matrix& into, Type type, std::int64_t rows, std::int64_t columns, Op op,
                           std::int64_t ld) {
      if (op == Op::kTranspose) std::swap(rows, columns);
      cublasLtMatrixLayout_t layout = nullptr;
      const auto status = cublasLtMatrixLayoutCreate(&layout, cublas::type_of(type),
                                                     static_cast<std::uint64_t>(rows),
                                                     static_cast<std::uint64_t>(columns), ld);
      into.reset(layout);
      return check("layout", status);
    };
    if (Status s = matrix(product.a, p.in, p.n, p.k, p.op_b, p.ldb); !s) return s;
    if (Status s = matrix(product.b, p.in, p.k, p.m, p.op_a, p.lda); !s) return s;
    return matrix(product.c, p.out, p.n, p.m, Op::kNone, p.ldc);
  }
};

struct Choice {
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace = 0;
};

// What decides which algorithm is best, and which is allowed.
using Key = std::tuple<int, cublasComputeType_t, std::array<std::int64_t, 6>, std::array<int, 6>,
                       std::array<std::uint32_t, 3>>;

struct Library {
  std::mutex mutex;
  std::map<int, Handle> handles;
  std::map<Key, Choice> choices;
};

static Library& library() {
  static Library one;
  return one;
}

static Status multiply(const Product& x, const Choice& choice, const void* c, void* d,
                       cublasLtHandle_t handle, void* workspace, Stream stream) {
  return check("matmul",
               cublasLtMatmul(handle, x.matmul.get(), &x.problem.alpha, x.left, x.a.get(), x.right,
                              x.b.get(), &x.problem.beta, c, x.c.get(), d, x.c.get(),
                              &choice.algorithm, workspace, choice.workspace, stream));
}

static Status candidates_of(const Product& x, const void* c, cublasLtHandle_t handle,
                            std::vector<Choice>& candidates) {
  cublasLtMatmulPreference_t raw = nullptr;
  if (Status s = check("preference", cublasLtMatmulPreferenceCreate(&raw)); !s) return s;
  const Preference preference(raw);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    return cublasLtMatmulPreferenceSetAttribute(raw, attribute, &value, sizeof value) ==
           CUBLAS_STATUS_SUCCESS;
  };
  const bool all = set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes) &&
                   set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(x.left)) &&
                   set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(x.right)) &&
                   set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(c)) &&
                   set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(c));
  if (!all) return failed("preference", "not taken");
  std::array<cublasLtMatmulHeuristicResult_t, kCandidates> results{};
  int count = 0;
  if (Status s = check("heuristic", cublasLtMatmulAlgoGetHeuristic(
                                        handle, x.matmul.get(), x.a.get(), x.b.get(), x.c.get(),
                                        x.c.get(), raw, kCandidates, results.data(), &count));
      !s)
    return s;
  for (int i = 0; i < count; ++i) {
    const auto& result = results[static_cast<std::size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS)
      candidates.push_back({result.algo, result.workspaceSize});
  }
  return candidates.empty() ? failed("heuristic", "no algorithm") : Status::ok();
}

// Times every candidate into memory of its own, so that C, which beta may read, stays as it is.
static Status choose(const Product& x, const void* c, cublasLtHandle_t handle, void* workspace,
                     Choice& best) {
  std::vector<Choice> candidates;
  if (Status s = candidates_of(x, c, handle, candidates); !s) return s;
  best = candidates.front();
  void* raw = nullptr;
  const auto bytes =
      static_cast<std::size_t>(extent_c(x.problem).elements() * bytes_of(x.problem.out));
  if (candidates.size() == 1 || cudaMalloc(&raw, bytes) != cudaSuccess) {
    (void)cudaGetLastError();  // without memory to try them in, the heuristic's first is taken
    return Status::ok();
  }
  const Memory scratch(raw);
  std::array<Event, 2> events;
  for (Event& event : events) {
    cudaEvent_t fresh = nullptr;
    if (Status s = check("event", cudaEventCreate(&fresh)); !s) return s;
    event.reset(fresh);
  }
  float least = std::numeric_limits<float>::infinity();
  for (const Choice& candidate : candidates) {
    if (!multiply(x, candidate, c, scratch.get(), handle, workspace, nullptr))
      continue;  // the heuristic named it, but it does not run
    (void)cudaEventRecord(events[0].get(), nullptr);
    bool ran = true;
    for (int i = 0; i < kLaunches; ++i)
      ran = ran && multiply(x, candidate, c, scratch.get(), handle, workspace, nullptr);
    (void)cudaEventRecord(events[1].get(), nullptr);
    if (Status s = check("trial", cudaEventSynchronize(events[1].get())); !s) return s;
    float ms = 0;
    if (!ran || cudaEventElapsedTime(&ms, events[0].get(), events[1].get()) != cudaSuccess ||
        !(ms < least))
      continue;
    least = ms;
    best = candidate;
  }
  return Status::ok();
}

static bool is_capturing(Stream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
         status != cudaStreamCaptureStatusNone;
}

static Status run(const Problem& problem, const Operands& o, Stream stream,
                  cublasComputeType_t compute) {
  if (problem.m == 0 || problem.n == 0) return Status::ok();
  int device = 0;
  if (Status s = check("device", cudaGetDevice(&device)); !s) return s;
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  Handle& handle = lib.handles[device];
  if (!handle) {
    cublasLtHandle_t fresh = nullptr;
    if (Status s = check("handle", cublasLtCreate(&fresh)); !s) return s;
    handle.reset(fresh);
  }
  CallMemory memory;
  if (Status s = memory.take(stream, kWorkspaceBytes, 0); !s) return s;
  Product x;
  if (Status s = Product::make(problem, o, compute, x); !s) return s;
  const Problem& p = x.problem;
  const Key key{device,
                compute,
                {p.m, p.n, p.k, p.lda, p.ldb, p.ldc},
                {static_cast<int>(p.op_a), static_cast<int>(p.op_b), static_cast<int>(p.in),
                 static_cast<int>(p.out), reads_c(p) ? 1 : 0, static_cast<int>(p.scaling)},
                {alignment_of(x.left), alignment_of(x.right), alignment_of(o.c)}};
  auto known = lib.choices.find(key);
  if (known == lib.choices.end()) {
    // A stream that is being captured cannot be synchronised, so that a problem must be launched
    // once before.
    if (is_capturing(stream))
      return failed("choice", "a problem's first launch cannot be recorded into a graph");
    Choice best;
    if (Status s = check("stream", cudaStreamSynchronize(stream)); !s) return s;
    if (Status s = choose(x, o.c, handle.get(), memory.scratch(), best); !s) return s;
    known = lib.choices.emplace(key, best).first;
  }
  return multiply(x, known->second, o.c, o.c, handle.get(), memory.scratch(), stream);
}

template <cublasComputeType_t kCompute>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  return run(p, o, stream, kCompute);
}

static constexpr KernelInfo of_type(std::string_view id, std::string_view idea, Precision precision,
                                    Type in, Type out) {
  return cublas::baseline(
      "cublaslt", id, idea, precision, in, out, accepts,
      {.fp32 = launch<CUBLAS_COMPUTE_32F>, .tf32 = launch<CUBLAS_COMPUTE_32F_FAST_TF32>});
}

// Sums are promoted: fast accumulation is off.
static constexpr KernelInfo of_bytes(std::string_view id, std::string_view idea, Type out,
                                     Scaling scaling) {
  KernelInfo info =
      cublas::baseline("cublaslt", id, idea, Precision::kFp8, Type::kE4m3, out, accepts_bytes,
                       {.fp32 = launch<CUBLAS_COMPUTE_32F>, .tf32 = {}});
  info.scaling = scaling;
  info.k_major = true;
  return info;
}

static constexpr KernelInfo kKernels[] = {
    of_type("cublaslt_ieee", "cuBLASLt, the best of its heuristics", Precision::kIeee, Type::kF32,
            Type::kF32),
    of_type("cublaslt_tf32", "cuBLASLt, the best for TF32", Precision::kTf32, Type::kF32,
            Type::kF32),
    of_type("cublaslt_bf16", "cuBLASLt, the best for bf16 in and out", Precision::kBf16,
            Type::kBf16, Type::kBf16),
    of_type("cublaslt_bf16_f32", "cuBLASLt, the best for bf16 in, f32 out", Precision::kBf16,
            Type::kBf16, Type::kF32),
    of_type("cublaslt_fp16", "cuBLASLt, the best for fp16 in and out", Precision::kFp16, Type::kF16,
            Type::kF16),
    of_type("cublaslt_fp16_f32", "cuBLASLt, the best for fp16 in, f32 out", Precision::kFp16,
            Type::kF16, Type::kF32),
    of_bytes("cublaslt_fp8", "cuBLASLt, the best for e4m3 in, bf16 out", Type::kBf16,
             Scaling::kBlock),
    of_bytes("cublaslt_fp8_f32", "cuBLASLt, the best for e4m3 in, f32 out", Type::kF32,
             Scaling::kBlock),
    of_bytes("cublaslt_fp8_tensor", "cuBLASLt, the best for e4m3 with a scale per tensor",
             Type::kBf16, Scaling::kTensor),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::cublaslt
