// SPDX-License-Identifier: Apache-2.0
// Products, and loads, of which some lanes use the results: in a block that ptxas predicates, in
// one that it branches around, in one that leads to where other ways meet, under a predicate, in a
// loop. The assembly keeps the compiler above ptxas from moving them. Thread i < n stores.

namespace {

constexpr int kRow = 64;  // threads

__device__ float scaled(float value, float factor) {
  float result;
  asm volatile("mul.rn.f32 %0, %1, %2;" : "=f"(result) : "f"(value), "f"(factor));
  return result;
}

template <int kOffset>
__device__ void store(float* at, float value) {
  asm volatile("st.global.f32 [%0+%2], %1;" : : "l"(at), "f"(value), "n"(kOffset) : "memory");
}

template <int kCount>
struct Values {
  __device__ Values(const float* in, float factor) {
    for (int k = 0; k < kCount; ++k) value[k] = in[k * kRow + threadIdx.x];
    for (int k = 0; k < kCount; ++k) value[k] = scaled(value[k], factor);
  }
  template <int k = 0>
  __device__ void store_all(float* at) const {
    if constexpr (k < kCount) {
      store<k * kRow * 4>(at, value[k]);
      store_all<k + 1>(at);
    }
  }
  float value[kCount];
};

template <int kCount>
__device__ void in_branch(const float* in, float* out, float factor, int n) {
  const Values<kCount> values(in, factor);
  float* const at = out + threadIdx.x;
  if (static_cast<int>(threadIdx.x) < n) values.store_all(at);
  store<0>(at + kCount * kRow, 1);
}

}  // namespace

extern "C" __global__ void small_branch(const float* in, float* out, float factor, int n) {
  in_branch<2>(in, out, factor, n);
}

extern "C" __global__ void large_branch(const float* in, float* out, float factor, int n) {
  in_branch<16>(in, out, factor, n);
}

extern "C" __global__ void before_return(const float* in, float* out, float factor, int n) {
  const Values<16> values(in, factor);
  if (static_cast<int>(threadIdx.x) < n) values.store_all(out + threadIdx.x);
}

// The branch meets another one.
extern "C" __global__ void far_branch(const float* in, float* out, float factor, int n) {
  float* const at = out + threadIdx.x;
  if (n == 77) {
    store<0>(at, 2);
  } else {
    const Values<4> values(in, factor);
    if (static_cast<int>(threadIdx.x) < n) values.store_all(at);
  }
  store<0>(at + 4 * kRow, 1);
}

extern "C" __global__ void under_predicate(const float* in, float* out, float factor, int n) {
  const Values<2> values(in, factor);
  float* const at = out + threadIdx.x;
  asm volatile(
      "{\n.reg .pred stores;\nsetp.lt.s32 stores, %0, %1;\n@stores st.global.f32 [%2], %3;\n"
      "@stores st.global.f32 [%2+256], %4;\n}"
      :
      : "r"(static_cast<int>(threadIdx.x)), "r"(n), "l"(at), "f"(values.value[0]),
        "f"(values.value[1])
      : "memory");
  store<0>(at + 2 * kRow, 1);
}

// A sum that each iteration uses.
extern "C" __global__ void after_loop(const float* in, float* out, float factor, int n) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 16; ++k)
    asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(sum) : "f"(in[k * kRow]), "f"(factor));
  float* const at = out + threadIdx.x;
  if (static_cast<int>(threadIdx.x) < n) store<0>(at, sum);
  store<256>(at, 1);
}

// Products whose products and conversions the branch uses.
extern "C" __global__ void chain(const float* in, float* out, float factor, int n) {
  Values<16> values(in, factor);
  for (float& value : values.value) value = scaled(scaled(value, factor), factor);
  if (static_cast<int>(threadIdx.x) < n) values.store_all(out + threadIdx.x);
  store<0>(out + 16 * kRow + threadIdx.x, 1);
}
