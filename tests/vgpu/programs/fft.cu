// SPDX-License-Identifier: Apache-2.0
// cuFFT: every type in one to three dimensions, in place and not, with layouts of their own,
// against sums in double precision; the order of a stream; a captured transform; wrong calls.
#include <cufft.h>
#include <cufftXt.h>
#include <dlfcn.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <vector>

#include "device_array.hpp"

namespace {

using Complex = std::complex<double>;
using Extents = std::vector<int>;

void status(cufftResult found, cufftResult expected = CUFFT_SUCCESS, int line = __builtin_LINE()) {
  require(found == expected, "a status of cuFFT", line);
}

std::size_t count(const Extents& n) {
  std::size_t product = 1;
  for (const int extent : n) product *= static_cast<std::size_t>(extent);
  return product;
}

// The transform of one dimension after the other, by definition.
std::vector<Complex> reference(std::vector<Complex> values, const Extents& n, double sign) {
  std::size_t inner = values.size();
  for (const int extent : n) {
    const auto length = static_cast<std::size_t>(extent);
    inner /= length;
    const std::vector<Complex> before = values;
    for (std::size_t at = 0; at < values.size(); ++at) {
      const std::size_t k = at / inner % length, first = at - k * inner;
      values[at] = 0;
      for (std::size_t i = 0; i < length; ++i) {
        const double turns = static_cast<double>(i * k % length) / static_cast<double>(length);
        values[at] += before[first + i * inner] * std::polar(1.0, sign * 2 * M_PI * turns);
      }
    }
  }
  return values;
}

// The same numbers in each run.
std::vector<Complex> numbers(std::size_t size) {
  std::vector<Complex> values(size);
  unsigned state = 1;
  const auto next = [&] { return (state = state * 1664525 + 1013904223) / 4294967296.0 - 0.5; };
  for (Complex& value : values) value = {next(), next()};
  return values;
}

template <class T>
void compare(const T* found, Complex expected, double scale, int line) {
  const double bound = (sizeof(T) == 4 ? 1e-5 : 1e-12) * scale;
  require(std::abs(Complex(found[0], found[1]) - expected) <= bound, "a transform", line);
}

template <class T>
auto execute(cufftHandle plan, T* in, T* out, int sign) {
  if constexpr (sizeof(T) == 4)
    return cufftExecC2C(plan, reinterpret_cast<float2*>(in), reinterpret_cast<float2*>(out), sign);
  else
    return cufftExecZ2Z(plan, reinterpret_cast<double2*>(in), reinterpret_cast<double2*>(out),
                        sign);
}

// Complex transforms whose elements are `stride` apart, and transforms one element more than they
// need.
template <class T>
void check_complex(Extents n, int batch, int stride, bool in_place, int line = __builtin_LINE()) {
  const auto size = count(n);
  const int distance = static_cast<int>(size) * stride + 1;
  const auto all = static_cast<std::size_t>(distance) * batch;
  std::vector<T> host(2 * all, T(7));
  const auto values = numbers(size * batch);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t at = i / size * distance + i % size * stride;
    host[2 * at] = static_cast<T>(values[i].real());
    host[2 * at + 1] = static_cast<T>(values[i].imag());
  }
  const DeviceArray<T> in(host), other(2 * all);
  T* const out = in_place ? in.get() : other.get();
  cufftHandle plan;
  status(cufftPlanMany(&plan, static_cast<int>(n.size()), n.data(), n.data(), stride, distance,
                       n.data(), stride, distance, sizeof(T) == 4 ? CUFFT_C2C : CUFFT_Z2Z, batch));
  for (const int sign : {CUFFT_FORWARD, CUFFT_INVERSE}) {
    require(cudaMemcpy(in.get(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    status(execute(plan, in.get(), out, sign));
    require(cudaDeviceSynchronize());
    const auto found = download(out, 2 * all);
    for (int b = 0; b < batch; ++b) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(b * size);
      const auto expected = reference({first, first + static_cast<std::ptrdiff_t>(size)}, n, sign);
      for (std::size_t i = 0; i < size; ++i)
        compare(&found[2 * (b * distance + i * stride)], expected[i], std::sqrt(size), line);
    }
  }
  status(cufftDestroy(plan));
}

// To the half of the spectrum that real numbers have, and back.
template <class T>
void check_real(Extents n, bool in_place, int line = __builtin_LINE()) {
  const std::size_t last = n.back(), half = last / 2 + 1, rows = count(n) / last,
                    width = in_place ? 2 * half : last;
  auto values = numbers(count(n));
  std::vector<T> host(rows * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].imag(0);
    host[i / last * width + i % last] = static_cast<T>(values[i].real());
  }
  const DeviceArray<T> reals(host), other(2 * rows * half);
  T* const spectrum = in_place ? reals.get() : other.get();
  cufftHandle there, back;
  constexpr bool kSingle = sizeof(T) == 4;
  const cufftType forward = kSingle ? CUFFT_R2C : CUFFT_D2Z,
                  inverse = kSingle ? CUFFT_C2R : CUFFT_Z2D;
  const auto plan = [&](cufftHandle* handle, cufftType type) {
    status(n.size() == 1   ? cufftPlan1d(handle, n[0], type, 1)
           : n.size() == 2 ? cufftPlan2d(handle, n[0], n[1], type)
                           : cufftPlan3d(handle, n[0], n[1], n[2], type));
  };
  plan(&there, forward);
  plan(&back, inverse);
  if constexpr (kSingle)
    status(cufftExecR2C(there, reals.get(), reinterpret_cast<float2*>(spectrum)));
  else
    status(cufftExecD2Z(there, reals.get(), reinterpret_cast<double2*>(spectrum)));
  require(cudaDeviceSynchronize());
  const auto found = download(spectrum, 2 * rows * half);
  const auto expected = reference(values, n, CUFFT_FORWARD);
  const double scale = std::sqrt(values.size());
  for (std::size_t i = 0; i < rows * half; ++i)
    compare(&found[2 * i], expected[i / half * last + i % half], scale, line);
  if constexpr (kSingle)
    status(cufftExecC2R(back, reinterpret_cast<float2*>(spectrum), reals.get()));
  else
    status(cufftExecZ2D(back, reinterpret_cast<double2*>(spectrum), reals.get()));
  require(cudaDeviceSynchronize());
  const auto again = download(reals.get(), rows * width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T pair[] = {again[i / last * width + i % last], 0};
    compare(pair, values[i] * static_cast<double>(values.size()), scale * scale, line);
  }
  status(cufftDestroy(there));
  status(cufftDestroy(back));
}

__global__ void fill(float2* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = {1, 0};
}

// A transform follows the kernel before it on its stream, also in a graph, and kernels know what it
// has written.
void check_stream() {
  constexpr int kLength = 96;
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  const DeviceArray<float2> ones(kLength), sums(kLength);
  float2 *const data = ones.get(), *const out = sums.get();
  cufftHandle plan;
  status(cufftCreate(&plan));
  std::size_t room = 0;
  status(cufftMakePlan1d(plan, kLength, CUFFT_C2C, 1, &room));
  status(cufftSetStream(plan, stream));
  const auto work = [&] {
    fill<<<1, kLength, 0, stream>>>(data, kLength);
    status(cufftXtExec(plan, data, out, CUFFT_FORWARD));
    status(cufftExecC2C(plan, out, data, CUFFT_INVERSE));
  };
  work();
  require(cudaStreamSynchronize(stream));
  require(std::abs(download(out, kLength)[0].x - kLength) < 1e-3, "the sum of ones");
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  work();
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphInstantiate(&ready, graph, 0));
  for (int launch = 0; launch < 2; ++launch) {
    require(cudaMemset(data, 0, kLength * sizeof(float2)));
    require(cudaGraphLaunch(ready, stream));
    require(cudaStreamSynchronize(stream));
    require(std::abs(download(data, kLength)[5].x - kLength) < 1e-3, "a captured transform");
  }
  status(cufftDestroy(plan));
}

void check_wrong_calls() {
  cufftHandle plan;
  status(cufftPlan1d(&plan, 0, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
  status(cufftPlan1d(&plan, 8, static_cast<cufftType>(1), 1), CUFFT_INVALID_TYPE);
  status(cufftDestroy(1000000), CUFFT_INVALID_PLAN);
  status(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  const DeviceArray<float2> array(8);
  float2* const data = array.get();
  status(cufftExecC2C(plan, data, data, 3), CUFFT_INVALID_VALUE);
  if (dlsym(RTLD_DEFAULT, "vgpuDeviceName") != nullptr) {  // hardware reports it later
    float2 host[8] = {};
    status(cufftExecC2C(plan, host, data, CUFFT_FORWARD), CUFFT_EXEC_FAILED);
  }
  status(cufftDestroy(plan));
  status(cufftExecC2C(plan, data, data, CUFFT_FORWARD), CUFFT_INVALID_PLAN);
}

}  // namespace

int main() {
  // Products of small primes, a large prime, and one beside a power of two.
  for (const int n : {1, 2, 3, 8, 60, 64, 67, 77, 128, 211, 268}) {
    check_complex<float>({n}, 3, 1, n % 2 == 0);
    check_complex<double>({n}, 2, 2, n % 2 != 0);
    check_real<float>({n}, n % 2 != 0);
    check_real<double>({n}, n % 2 == 0);
  }
  for (const bool in_place : {false, true}) {
    check_complex<float>({6, 10}, 2, 3, in_place);
    check_complex<double>({4, 3, 5}, 2, 1, in_place);
    check_real<float>({6, 9}, in_place);
    check_real<double>({5, 8}, in_place);
    check_real<float>({4, 3, 10}, in_place);
  }
  check_stream();
  check_wrong_calls();
  std::puts("right");
}
