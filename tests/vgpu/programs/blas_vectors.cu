// SPDX-License-Identifier: Apache-2.0
// cuBLAS's functions of vectors and matrices that are no products of matrices, against loops in
// double precision: steps of either sign, scalars on host and device, both kinds of pointers.
#include <cuda_fp16.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "blas.hpp"

namespace {

using Complex = std::complex<float>;
cublasHandle_t handle;

constexpr double kUnit = 0x1p-24;

// Elements with a step; what lies between them is NaN, and stays what it is.
struct Vector {
  int n, step;
  std::vector<float> host;
  float* device = nullptr;
  Vector(int count, int of_step) : n(count), step(of_step) {
    host.assign(static_cast<std::size_t>(std::max(1, (n - 1) * std::abs(step) + 1)),
                std::numeric_limits<float>::quiet_NaN());
    for (int i = 0; i < n; ++i) (*this)[i] = static_cast<float>(uniform());
    require(cudaMalloc(&device, host.size() * sizeof(float)));
    upload();
  }
  ~Vector() { cudaFree(device); }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  float& operator[](int i) {
    return host[static_cast<std::size_t>(step < 0 ? (i - n + 1) * step : i * step)];
  }
  void upload() {
    require(cudaMemcpy(device, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  void take() {
    require(cudaMemcpy(host.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
  }
};

void near(double got, double want, double magnitude, const char* what) {
  require(std::abs(got - want) <= 4 * kUnit * magnitude, what);
}

int any_step() {
  constexpr int kSteps[] = {1, 2, 5, -1, -3};
  return kSteps[any(0, 4)];
}

void check_vectors(cublasPointerMode_t mode) {
  ok(cublasSetPointerMode(handle, mode));
  const int n = any(0, 40), sx = any_step(), sy = any_step();
  Vector x(n, sx), y(n, sy), positive(n, std::abs(sx));
  const float factor = 0.75f;
  float *const scalar = upload<float>({factor}), *const result = allocate<float>(1), value = 0;
  int *const index = allocate<int>(1), at = 0;
  const bool device = mode == CUBLAS_POINTER_MODE_DEVICE;
  const float* const alpha = device ? scalar : &factor;
  float* const out = device ? result : &value;
  int* const place = device ? index : &at;
  const auto number = [&] { return static_cast<double>(device ? download(result, 1)[0] : value); };
  const auto position = [&] { return device ? download(index, 1)[0] : at; };

  double dot = 0, dots = 0, squares = 0, sum = 0;
  int largest = 0, smallest = 0;
  for (int i = 0; i < n; ++i) {
    dot += static_cast<double>(x[i]) * y[i];
    dots += std::abs(static_cast<double>(x[i]) * y[i]);
    squares += static_cast<double>(positive[i]) * positive[i];
    sum += std::abs(positive[i]);
    if (std::abs(positive[i]) > std::abs(positive[largest])) largest = i;
    if (std::abs(positive[i]) < std::abs(positive[smallest])) smallest = i;
  }
  ok(cublasSdot(handle, n, x.device, sx, y.device, sy, out));
  near(number(), dot, (n + 1) * dots, "cublasSdot");
  ok(cublasSnrm2(handle, n, positive.device, positive.step, out));
  near(number(), std::sqrt(squares), (n + 1) * std::sqrt(squares), "cublasSnrm2");
  ok(cublasSasum(handle, n, positive.device, positive.step, out));
  near(number(), sum, (n + 1) * sum, "cublasSasum");
  ok(cublasIsamax(handle, n, positive.device, positive.step, place));
  require(position() == (n == 0 ? 0 : largest + 1), "cublasIsamax");
  ok(cublasIsamin(handle, n, positive.device, positive.step, place));
  require(position() == (n == 0 ? 0 : smallest + 1), "cublasIsamin");

  std::vector<float> former(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) former[static_cast<std::size_t>(i)] = y[i];
  ok(cublasSaxpy(handle, n, alpha, x.device, sx, y.device, sy));
  y.take();
  for (int i = 0; i < n; ++i)
    near(y[i], former[static_cast<std::size_t>(i)] + 0.75 * x[i], 2, "cublasSaxpy");
  ok(cublasSscal(handle, n, alpha, positive.device, positive.step));
  std::vector<float> unscaled;
  for (int i = 0; i < n; ++i) unscaled.push_back(positive[i]);
  positive.take();
  for (int i = 0; i < n; ++i)
    require(positive[i] == factor * unscaled[static_cast<std::size_t>(i)], "cublasSscal");
  for (std::size_t i = 0; n != 0 && i < positive.host.size(); ++i)
    require(i % static_cast<std::size_t>(positive.step) == 0 || std::isnan(positive.host[i]),
            "what lies between the elements");

  Vector z(n, any_step());
  ok(cublasScopy(handle, n, x.device, sx, z.device, z.step));
  z.take();
  for (int i = 0; i < n; ++i) require(z[i] == x[i], "cublasScopy");
  std::vector<float> of_y;
  for (int i = 0; i < n; ++i) of_y.push_back(y[i]);
  ok(cublasSswap(handle, n, z.device, z.step, y.device, sy));
  y.take(), z.take();
  for (int i = 0; i < n; ++i)
    require(y[i] == x[i] && z[i] == of_y[static_cast<std::size_t>(i)], "cublasSswap");
  ok(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  const float c = 0.6f, s = 0.8f;
  ok(cublasSrot(handle, n, y.device, sy, z.device, z.step, &c, &s));
  y.take(), z.take();
  for (int i = 0; i < n; ++i) {
    const double b = of_y[static_cast<std::size_t>(i)];
    near(y[i], 0.6f * static_cast<double>(x[i]) + 0.8f * b, 2, "cublasSrot");
    near(z[i], 0.6f * b - 0.8f * static_cast<double>(x[i]), 2, "cublasSrot");
  }
}

std::vector<float> random(int count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(uniform());
  return values;
}

void check_gemv() {
  for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T}) {
    const int m = any(1, 30), n = any(1, 30), lda = m + any(0, 3);
    const int rows = op == CUBLAS_OP_N ? m : n, terms = op == CUBLAS_OP_N ? n : m;
    const auto a = random(lda * n);
    Vector x(terms, any_step()), y(rows, any_step());
    std::vector<float> former;
    for (int i = 0; i < rows; ++i) former.push_back(y[i]);
    for (const float beta : {0.5f, 0.0f}) {
      if (beta == 0) {  // y is not read
        for (int i = 0; i < rows; ++i) y[i] = std::numeric_limits<float>::quiet_NaN();
        y.upload();
      }
      const float alpha = -2;
      ok(cublasSgemv(handle, op, m, n, &alpha, upload(a), lda, x.device, x.step, &beta, y.device,
                     y.step));
      y.take();
      for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int j = 0; j < terms; ++j)
          sum += static_cast<double>(op == CUBLAS_OP_N ? a[static_cast<std::size_t>(j * lda + i)]
                                                       : a[static_cast<std::size_t>(i * lda + j)]) *
                 x[j];
        const double kept =
            beta == 0 ? 0 : beta * static_cast<double>(former[static_cast<std::size_t>(i)]);
        near(y[i], -2 * sum + kept, (terms + 2) * (2.0 * terms + 1), "cublasSgemv");
      }
    }
  }
}

void check_sums_of_matrices() {
  const int m = 5, n = 7;
  const auto a = random(m * n), b = random(m * n);
  const float alpha = 2, beta = -1, zero = 0;
  float* c = upload(random(m * n));
  ok(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, &alpha, upload(a), m, &beta, upload(b), n,
                 c, m));
  auto got = download(c, a.size());
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i)
      require(got[at(j * m + i)] == 2 * a[at(j * m + i)] - b[at(i * n + j)], "cublasSgeam");
  }
  ok(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, &alpha, upload(a), m, &zero, nullptr, n, c,
                 n),
     "cublasSgeam without B");
  got = download(c, a.size());
  require(got[1] == 2 * a[at(m)], "cublasSgeam without B");

  const auto x = random(m), y = random(n);
  float* product = upload(a);
  ok(cublasSger(handle, m, n, &alpha, upload(x), 1, upload(y), 1, product, m));
  got = download(product, a.size());
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i)
      near(got[at(j * m + i)], a[at(j * m + i)] + 2.0 * x[at(i)] * y[at(j)], 4, "cublasSger");
  }
  ok(cublasSdgmm(handle, CUBLAS_SIDE_RIGHT, m, n, upload(a), m, upload(y), 1, c, m));
  got = download(c, a.size());
  for (int i = 0; i < m * n; ++i) require(got[at(i)] == a[at(i)] * y[at(i / m)], "cublasSdgmm");
  float* square = upload(std::vector<float>(at(m * m), 5));
  ok(cublasSsyrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, m, n, &alpha, upload(a), m, &zero,
                 square, m));
  got = download(square, at(m * m));
  for (int j = 0; j < m; ++j) {
    for (int i = 0; i < m; ++i) {
      double sum = 0;
      for (int l = 0; l < n; ++l) sum += 2.0 * a[at(l * m + i)] * a[at(l * m + j)];
      if (i > j)
        require(got[at(j * m + i)] == 5, "the other triangle");
      else
        near(got[at(j * m + i)], sum, 3 * n * n, "cublasSsyrk");
    }
  }
}

void check_complex() {
  const Complex x[2] = {{1, 2}, {3, -1}}, y[2] = {{0, 1}, {2, 2}};
  cuComplex *const dx = upload<cuComplex>({{1, 2}, {3, -1}}),
                   *const dy = upload<cuComplex>({{0, 1}, {2, 2}}), result{};
  const auto is = [&](Complex value) {
    return result.x == value.real() && result.y == value.imag();
  };
  ok(cublasCdotu(handle, 2, dx, 1, dy, 1, &result));
  require(is(x[0] * y[0] + x[1] * y[1]), "cublasCdotu");
  ok(cublasCdotc(handle, 2, dx, 1, dy, 1, &result));
  require(is(std::conj(x[0]) * y[0] + std::conj(x[1]) * y[1]), "cublasCdotc");
  float sum = 0;
  ok(cublasScasum(handle, 2, dx, 1, &sum));
  require(sum == 7, "cublasScasum");
  const cuComplex one{1, 0}, zero{0, 0};
  ok(cublasCgemm(handle, CUBLAS_OP_C, CUBLAS_OP_N, 1, 1, 2, &one, dx, 2, dy, 2, &zero, dy, 1));
  result = download(dy, 1)[0];
  require(is(std::conj(x[0]) * y[0] + std::conj(x[1]) * y[1]), "cublasCgemm of the conjugate");
}

// Vectors of 16 bits; sums in single precision.
void check_typed() {
  constexpr int kCount = 33;
  std::vector<__half> x, y;
  double dot = 0, squares = 0;
  for (int i = 0; i < kCount; ++i) {
    x.push_back(__float2half(static_cast<float>(uniform())));
    y.push_back(__float2half(static_cast<float>(uniform())));
    dot += static_cast<double>(__half2float(x.back())) * __half2float(y.back());
    squares += std::pow(__half2float(x.back()), 2);
  }
  __half *const dx = upload(x), *const dy = upload(y), result{};
  const auto half = CUDA_R_16F, single = CUDA_R_32F;
  const auto is = [&](double want) {
    return std::abs(__half2float(result) - want) <=
           0x1p-11 * std::abs(want) + kCount * kUnit * kCount;
  };
  ok(cublasDotEx(handle, kCount, dx, half, 1, dy, half, 1, &result, half, single));
  require(is(dot), "cublasDotEx");
  ok(cublasNrm2Ex(handle, kCount, dx, half, 1, &result, half, single));
  require(is(std::sqrt(squares)), "cublasNrm2Ex");
  const float two = 2;
  ok(cublasAxpyEx(handle, kCount, &two, single, dx, half, 1, dy, half, 1, single));
  ok(cublasScalEx(handle, kCount, &two, single, dx, half, 1, single));
  const auto scaled = download(dx, kCount), sums = download(dy, kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const float a = __half2float(x[i]), b = __half2float(y[i]);
    require(__half2float(scaled[i]) == 2 * a, "cublasScalEx");
    require(__half2float(sums[i]) == __half2float(__float2half(b + 2 * a)), "cublasAxpyEx");
  }
}

void check_odd_values() {
  const float large = 3e38f, small = 1e-30f;
  float result = 0;
  ok(cublasSnrm2(handle, 2, upload<float>({large * 0.5f, large * 0.5f}), 1, &result));
  near(result / large, std::sqrt(0.5), 2, "squares that would overflow");
  ok(cublasSnrm2(handle, 2, upload<float>({3 * small, 4 * small}), 1, &result));
  near(result / small, 5, 10, "squares that would vanish");
  if (!on_virtual_gpu()) return;  // the rest is not documented
  const float least = 1e-40f;     // subnormal
  ok(cublasSnrm2(handle, 2, upload<float>({3 * least, 4 * least}), 1, &result));
  require(std::abs(result - 5 * least) <= 1e-44f * 4, "squares of subnormal numbers");
  ok(cublasSnrm2(handle, 2, upload<float>({std::numeric_limits<float>::quiet_NaN(), 1}), 1,
                 &result));
  require(std::isnan(result), "NaN");
  ok(cublasSnrm2(handle, 2, upload<float>({std::numeric_limits<float>::infinity(), 1}), 1,
                 &result));
  require(std::isinf(result), "infinity");
  float host[4] = {};
  require(cublasSscal(handle, 4, &large, host, 1), CUBLAS_STATUS_EXECUTION_FAILED,
          "a vector on the host");
  require(cublasSdot(nullptr, 0, nullptr, 1, nullptr, 1, &result), CUBLAS_STATUS_NOT_INITIALIZED,
          "no handle");
  require(cublasSdot(handle, 0, nullptr, 1, nullptr, 1, nullptr), CUBLAS_STATUS_INVALID_VALUE,
          "no result");
}

// The work of a captured stream is done when its graph is launched, each time.
void check_capture() {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  float* x = upload<float>({1, 2});
  const float two = 2;
  require(cudaStreamCreate(&stream));
  ok(cublasSetStream(handle, stream));
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ok(cublasSscal(handle, 2, &two, x, 1));
  require(cudaStreamEndCapture(stream, &graph));
  require(download(x, 2)[1] == 2, "nothing is done yet");
  require(cudaGraphInstantiate(&exec, graph));
  for (int i = 0; i < 3; ++i) require(cudaGraphLaunch(exec, stream));
  require(cudaStreamSynchronize(stream));
  require(download(x, 2)[1] == 16, "three times");
  ok(cublasSetStream(handle, nullptr));
}

// Sums of a million elements are no less exact than those that a GPU adds in parallel.
void check_long_sums() {
  constexpr int kCount = 1 << 20;
  const double number = 0.1f;
  Vector x(kCount, 1);
  for (int i = 0; i < kCount; ++i) x[i] = 0.1f;
  x.upload();
  const float one = 1, none = 0;
  float* const product = allocate<float>(1);
  float found = 0;
  ok(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  ok(cublasSdot(handle, kCount, x.device, 1, x.device, 1, &found));
  near(found, kCount * number * number, found, "cublasSdot of many");
  ok(cublasSasum(handle, kCount, x.device, 1, &found));
  near(found, kCount * number, found, "cublasSasum of many");
  ok(cublasSnrm2(handle, kCount, x.device, 1, &found));
  near(found, std::sqrt(kCount) * number, found, "cublasSnrm2 of many");
  ok(cublasSgemv(handle, CUBLAS_OP_T, kCount, 1, &one, x.device, kCount, x.device, 1, &none,
                 product, 1));
  found = download(product, 1)[0];
  near(found, kCount * number * number, found, "cublasSgemv of many");
}

}  // namespace

int main() {
  ok(cublasCreate(&handle));
  for (int i = 0; i < 60; ++i) {
    check_vectors(CUBLAS_POINTER_MODE_HOST);
    check_vectors(CUBLAS_POINTER_MODE_DEVICE);
  }
  for (int i = 0; i < 10; ++i) check_gemv();
  check_sums_of_matrices();
  check_complex();
  check_capture();
  check_typed();
  check_odd_values();
  check_long_sums();
  ok(cublasDestroy(handle));
}
