// SPDX-License-Identifier: Apache-2.0
// What one instruction of a warp takes of the virtual GPU, by classes: nanoseconds of processor
// time, the least of five launches of one warp. Each row is a loop of 32 such instructions, most in
// four chains; iadd3, isetp_sel, fsetp_fsel and imad_wide (a 64-bit sum) are of two instructions,
// dmnmx, ldl, lds8 and ldc of some more, and give the time of all. `classes PART` measures the rows
// whose names have that part. From machine code of sm_90.
//
//   build/bin/vgpu --no-reuse -- build/bin/classes
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <cuda_runtime.h>

namespace {

// R: the constraint of the operands %0 (the chain), %1 and %2.
#define CHAIN(name, T, R, code)                                                         \
  __global__ void name(T* out, int n, T s) {                                            \
    T a[4];                                                                             \
    for (int k = 0; k < 4; ++k) a[k] = s + static_cast<T>(threadIdx.x + k);             \
    const T b = a[1] * s, c = b * s;                                                    \
    for (int i = 0; i < n; ++i) {                                                       \
      _Pragma("unroll 32") for (int j = 0; j < 32;                                      \
                                ++j) asm volatile(code : "+" R(a[j & 3]) : R(b), R(c)); \
    }                                                                                   \
    out[threadIdx.x] = a[0] + a[1] + a[2] + a[3];                                       \
  }

CHAIN(iadd3, int, "r", "{.reg .s32 t; add.s32 t, %0, %1; add.s32 %0, t, %2;}")  // two
CHAIN(imad, int, "r", "mad.lo.s32 %0, %0, %1, %2;")
CHAIN(lop3, int, "r", "lop3.b32 %0, %0, %1, %2, 0xca;")
CHAIN(shf, int, "r", "shf.l.wrap.b32 %0, %0, %1, 7;")
CHAIN(vimnmx3, int, "r", "{.reg .s32 t; min.s32 t, %0, %1; min.s32 %0, t, %2;}")
CHAIN(isetp_sel, int, "r",
      "{.reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %2, %1, p;}")  // two instructions
CHAIN(imad_wide, unsigned long long, "l", "add.s64 %0, %0, %1;")         // two
CHAIN(ffma, float, "f", "fma.rn.f32 %0, %0, %1, %2;")
CHAIN(ffma_ftz, float, "f", "fma.rn.ftz.f32 %0, %0, %1, %2;")
CHAIN(fmul_ftz, float, "f", "mul.rn.ftz.f32 %0, %0, %1;")
CHAIN(fsetp_fsel, float, "f", "{.reg .pred p; setp.lt.f32 p, %0, %1; selp.f32 %0, %2, %1, p;}")
CHAIN(dfma, double, "d", "fma.rn.f64 %0, %0, %1, %2;")
CHAIN(dfma_minus, double, "d", "{.reg .f64 t; neg.f64 t, %1; fma.rn.f64 %0, %0, t, %2;}")
CHAIN(dadd, double, "d", "add.rn.f64 %0, %0, %1;")
CHAIN(hfma2, int, "r", "fma.rn.f16x2 %0, %0, %1, %2;")
CHAIN(hadd2, int, "r", "add.rn.f16x2 %0, %0, %1;")
CHAIN(prmt, int, "r", "prmt.b32 %0, %0, %1, %2;")
CHAIN(shfl, int, "r", "shfl.sync.idx.b32 %0, %0, %1, 31, -1;")
CHAIN(mufu64, double, "d", "rcp.approx.ftz.f64 %0, %0;")
CHAIN(dmnmx, double, "d", "min.f64 %0, %0, %1;")  // with the selection of the result

// Products of f16 matrices of 16 x 16 and 16 x 8.
__global__ void hmma(float* out, int n, float s) {
  float c[4] = {s, s, s, s};
  const int a = static_cast<int>(threadIdx.x) * 257, b = a + 3;
  for (int i = 0; i < n; ++i) {
#pragma unroll 32
    for (int j = 0; j < 32; ++j) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %5, %5}, "
          "{%4, %5}, {%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a), "r"(b));
    }
  }
  out[threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}

// Loads from a thread's own array, each lane elsewhere, with the computation of the index.
__global__ void ldl(int* out, int n, int s) {
  int elements[64];
  for (int k = 0; k < 64; ++k) elements[k] = s * k;
  int place = static_cast<int>(threadIdx.x);
  for (int i = 0; i < n; ++i) {
#pragma unroll 32
    for (int j = 0; j < 32; ++j) place = elements[(place + j) & 63];
  }
  out[threadIdx.x] = place;
}

// Loads of bytes of shared memory, and of constants of a computed index, with its computation.
__global__ void lds8(int* out, int n, int s) {
  __shared__ unsigned char bytes[1024];
  for (unsigned k = threadIdx.x; k < sizeof bytes; k += 32)
    bytes[k] = static_cast<unsigned char>(s);
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < n; ++i) {
#pragma unroll 32
    for (int j = 0; j < 32; ++j)
      sum += static_cast<volatile unsigned char*>(bytes)[threadIdx.x + 32 * j];
  }
  out[threadIdx.x] = sum;
}
__constant__ int constants[64];
__global__ void ldc(int* out, int n, int s) {
  int place = s;
  for (int i = 0; i < n; ++i) {
#pragma unroll 32
    for (int j = 0; j < 32; ++j) place = constants[(place + j + i) & 63];
  }
  out[threadIdx.x] = place;
}

double now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class T>
void measure(const char* part, const char* name, void (*kernel)(T*, int, T)) {
  if (std::strstr(name, part) == nullptr) return;
  constexpr int kLoops = 2000, kTimes = 5;
  T* out = nullptr;
  cudaMalloc(&out, 32 * sizeof(T));
  double least = 1e9;
  for (int time = 0; time <= kTimes; ++time) {
    const double start = now();
    kernel<<<1, 32>>>(out, kLoops, static_cast<T>(3));
    cudaDeviceSynchronize();
    if (time > 0) least = std::min(least, now() - start);
  }
  std::printf("%-10s %6.1f ns\n", name, least * 1e9 / (32.0 * kLoops));
  cudaFree(out);
}

}  // namespace

int main(int count, char** arguments) {
  const char* const part = count > 1 ? arguments[1] : "";
#define MEASURE(name) measure(part, #name, &name);
  MEASURE(iadd3)
  MEASURE(imad)
  MEASURE(lop3)
  MEASURE(shf)
  MEASURE(vimnmx3)
  MEASURE(isetp_sel)
  MEASURE(imad_wide)
  MEASURE(ffma)
  MEASURE(ffma_ftz)
  MEASURE(fmul_ftz)
  MEASURE(fsetp_fsel)
  MEASURE(dfma)
  MEASURE(dfma_minus)
  MEASURE(dadd)
  MEASURE(hfma2)
  MEASURE(hadd2)
  MEASURE(prmt)
  MEASURE(shfl)
  MEASURE(mufu64)
  MEASURE(dmnmx)
  MEASURE(hmma)
  MEASURE(ldl)
  MEASURE(lds8)
  MEASURE(ldc)
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
