// SPDX-License-Identifier: Apache-2.0
// A program that knows cuBLAS alone: every form of an FP32 product, compared with the definition.
// test_cublas.py runs it over libladder_cublas.so.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kM = 37, kN = 29, kK = 41, kCount = 2, kPad = 3;
constexpr float kAlpha = 2, kBeta = -1;
int failures = 0;

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}

float* upload(const std::vector<float>& x) {
  void* at = nullptr;
  if (cudaMalloc(&at, x.size() * sizeof(float)) != cudaSuccess) std::abort();
  if (cudaMemcpy(at, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess)
    std::abort();
  return static_cast<float*>(at);
}

std::vector<float> integers(int count, unsigned seed) {
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>(seed >> 16) % 9 - 4);
  }
  return x;
}

// Column-major operands of kCount products.
struct Operands {
  Operands(cublasOperation_t of_a, cublasOperation_t of_b)
      : op_a(of_a),
        op_b(of_b),
        lda((of_a == CUBLAS_OP_N ? kM : kK) + kPad),
        ldb((of_b == CUBLAS_OP_N ? kK : kN) + kPad),
        stride_a(lda * (of_a == CUBLAS_OP_N ? kK : kM)),
        stride_b(ldb * (of_b == CUBLAS_OP_N ? kN : kK)),
        a(integers(stride_a * kCount, 1)),
        b(integers(stride_b * kCount, 2)),
        c(integers(kStrideC * kCount, 3)) {
    a_there = upload(a), b_there = upload(b), c_there = upload(c);
  }
  ~Operands() {
    for (float* at : {a_there, b_there, c_there}) static_cast<void>(cudaFree(at));
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  // Whether C is right, of the first `count` products; then C is as before.
  void check(const char* what, int count, cublasStatus_t status, bool relu = false,
             const float* bias = nullptr, float beta = kBeta) {
    require(status == CUBLAS_STATUS_SUCCESS, what);
    std::vector<float> result(c.size());
    require(cudaMemcpy(result.data(), c_there, c.size() * 4, cudaMemcpyDeviceToHost) == cudaSuccess,
            what);
    require(cudaMemcpy(c_there, c.data(), c.size() * 4, cudaMemcpyHostToDevice) == cudaSuccess,
            what);
    for (int number = 0; number < count; ++number) {
      for (int j = 0; j < kN; ++j) {
        for (int i = 0; i < kM; ++i) {
          float sum = 0;
          for (int k = 0; k < kK; ++k) {
            sum += a[number * stride_a + (op_a == CUBLAS_OP_N ? k * lda + i : i * lda + k)] *
                   b[number * stride_b + (op_b == CUBLAS_OP_N ? j * ldb + k : k * ldb + j)];
          }
          const int at = number * kStrideC + j * kLdc + i;
          float value = kAlpha * sum + beta * c[at] + (bias == nullptr ? 0 : bias[i]);
          if (relu && value < 0) value = 0;
          if (result[at] != value) return require(false, what);
        }
      }
    }
  }

  static constexpr int kLdc = kM + kPad, kStrideC = kLdc * kN;
  cublasOperation_t op_a, op_b;
  int lda, ldb, stride_a, stride_b;
  std::vector<float> a, b, c;
  float *a_there = nullptr, *b_there = nullptr, *c_there = nullptr;
};

void of_cublas(cublasHandle_t handle) {
  const auto ops = {CUBLAS_OP_N, CUBLAS_OP_T};
  for (const cublasOperation_t op_a : ops) {
    for (const cublasOperation_t op_b : ops) {
      Operands x(op_a, op_b);
      x.check("cublasSgemm", 1,
              cublasSgemm(handle, op_a, op_b, kM, kN, kK, &kAlpha, x.a_there, x.lda, x.b_there,
                          x.ldb, &kBeta, x.c_there, x.kLdc));
    }
  }
  Operands x(CUBLAS_OP_T, CUBLAS_OP_N);
  const auto sgemm = [&](int ldc) {
    return cublasSgemm(handle, x.op_a, x.op_b, kM, kN, kK, &kAlpha, x.a_there, x.lda, x.b_there,
                       x.ldb, &kBeta, x.c_there, ldc);
  };
  require(sgemm(kM - 1) == CUBLAS_STATUS_INVALID_VALUE, "a wrong ldc is cuBLAS's to report");
  x.check("cublasSgemm_64", 1,
          cublasSgemm_64(handle, x.op_a, x.op_b, kM, kN, kK, &kAlpha, x.a_there, x.lda, x.b_there,
                         x.ldb, &kBeta, x.c_there, x.kLdc));
  x.check("cublasGemmEx", 1,
          cublasGemmEx(handle, x.op_a, x.op_b, kM, kN, kK, &kAlpha, x.a_there, CUDA_R_32F, x.lda,
                       x.b_there, CUDA_R_32F, x.ldb, &kBeta, x.c_there, CUDA_R_32F, x.kLdc,
                       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  x.check("cublasGemmEx, pedantic", 1,
          cublasGemmEx(handle, x.op_a, x.op_b, kM, kN, kK, &kAlpha, x.a_there, CUDA_R_32F, x.lda,
                       x.b_there, CUDA_R_32F, x.ldb, &kBeta, x.c_there, CUDA_R_32F, x.kLdc,
                       CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT));
  x.check("cublasSgemmStridedBatched", kCount,
          cublasSgemmStridedBatched(handle, x.op_a, x.op_b, kM, kN, kK, &kAlpha, x.a_there, x.lda,
                                    x.stride_a, x.b_there, x.ldb, x.stride_b, &kBeta, x.c_there,
                                    x.kLdc, x.kStrideC, kCount));
  x.check("cublasGemmStridedBatchedEx", kCount,
          cublasGemmStridedBatchedEx(handle, x.op_a, x.op_b, kM, kN, kK, &kAlpha, x.a_there,
                                     CUDA_R_32F, x.lda, x.stride_a, x.b_there, CUDA_R_32F, x.ldb,
                                     x.stride_b, &kBeta, x.c_there, CUDA_R_32F, x.kLdc, x.kStrideC,
                                     kCount, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  std::vector<float*> pointers;
  for (int i = 0; i < kCount; ++i) {
    pointers.push_back(x.a_there + i * x.stride_a);
    pointers.push_back(x.b_there + i * x.stride_b);
    pointers.push_back(x.c_there + i * x.kStrideC);
  }
  const std::vector<float*> sorted{pointers[0], pointers[3], pointers[1],
                                   pointers[4], pointers[2], pointers[5]};
  float** there = nullptr;
  require(
      cudaMalloc(reinterpret_cast<void**>(&there), sizeof(float*) * sorted.size()) == cudaSuccess &&
          cudaMemcpy(there, sorted.data(), sizeof(float*) * sorted.size(),
                     cudaMemcpyHostToDevice) == cudaSuccess,
      "pointers");
  x.check("cublasSgemmBatched", kCount,
          cublasSgemmBatched(handle, x.op_a, x.op_b, kM, kN, kK, &kAlpha, there, x.lda,
                             there + kCount, x.ldb, &kBeta, there + 2 * kCount, x.kLdc, kCount));
  static_cast<void>(cudaFree(there));

  float* const scalars = upload({kAlpha, kBeta});
  require(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) == CUBLAS_STATUS_SUCCESS,
          "mode");
  x.check("alpha and beta on the device", 1,
          cublasSgemm(handle, x.op_a, x.op_b, kM, kN, kK, scalars, x.a_there, x.lda, x.b_there,
                      x.ldb, scalars + 1, x.c_there, x.kLdc));
  require(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST) == CUBLAS_STATUS_SUCCESS, "mode");
  static_cast<void>(cudaFree(scalars));

  require(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH) == CUBLAS_STATUS_SUCCESS, "math mode");
  x.check("pedantic", 1, sgemm(x.kLdc));
  require(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH) == CUBLAS_STATUS_SUCCESS, "tf32");
  x.check("tf32", 1, sgemm(x.kLdc));  // exact, for integers
  require(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH) == CUBLAS_STATUS_SUCCESS, "math mode");

  float* const workspace = upload(std::vector<float>(1 << 20));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  require(cudaStreamCreate(&stream) == cudaSuccess, "stream");
  require(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS, "stream");
  require(cublasSetWorkspace(handle, workspace, 4 << 20) == CUBLAS_STATUS_SUCCESS, "workspace");
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess, "capture");
  require(sgemm(x.kLdc) == CUBLAS_STATUS_SUCCESS, "captured");
  require(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "capture");
  require(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "graph");
  require(cudaGraphLaunch(exec, stream) == cudaSuccess, "graph");
  require(cudaStreamSynchronize(stream) == cudaSuccess, "stream");
  x.check("captured", 1, CUBLAS_STATUS_SUCCESS);
  static_cast<void>(cudaGraphExecDestroy(exec));
  static_cast<void>(cudaGraphDestroy(graph));
  require(cublasSetStream(handle, nullptr) == CUBLAS_STATUS_SUCCESS, "stream");
  static_cast<void>(cudaStreamDestroy(stream));
  static_cast<void>(cudaFree(workspace));
}

// The handle is not looked at.
void of_cublaslt() {
  Operands x(CUBLAS_OP_T, CUBLAS_OP_N);
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  require(
      cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS,
      "descriptor");
  const auto set = [&](cublasLtMatmulDescAttributes_t which, const auto& value) {
    require(cublasLtMatmulDescSetAttribute(operation, which, &value, sizeof value) ==
                CUBLAS_STATUS_SUCCESS,
            "attribute");
  };
  require(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, kK, kM, x.lda) == CUBLAS_STATUS_SUCCESS &&
              cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, kK, kN, x.ldb) == CUBLAS_STATUS_SUCCESS &&
              cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, kM, kN, x.kLdc) == CUBLAS_STATUS_SUCCESS,
          "layouts");
  set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  const auto matmul = [&](const float* from, const float& beta) {
    return cublasLtMatmul(nullptr, operation, &kAlpha, x.a_there, a, x.b_there, b, &beta, from, c,
                          x.c_there, c, nullptr, nullptr, 0, nullptr);
  };
  x.check("cublasLtMatmul", 1, matmul(x.c_there, kBeta));
  x.check("cublasLtMatmul, another C that is not read", 1, matmul(nullptr, 0.0F), false, nullptr,
          0.0F);
  const std::vector<float> bias = integers(kM, 5);
  float* const bias_there = upload(bias);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS);
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_there);
  x.check("cublasLtMatmul, bias and ReLU", 1, matmul(x.c_there, kBeta), true, bias.data());
  static_cast<void>(cudaFree(bias_there));
  for (cublasLtMatrixLayout_t layout : {a, b, c})
    static_cast<void>(cublasLtMatrixLayoutDestroy(layout));
  static_cast<void>(cublasLtMatmulDescDestroy(operation));
}

}  // namespace

int main(int count, char** arguments) {
  cublasHandle_t handle = nullptr;
  require(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  of_cublas(handle);
  require(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS, "cublasDestroy");
  if (count > 1 && std::string(arguments[1]) == "lt") of_cublaslt();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
