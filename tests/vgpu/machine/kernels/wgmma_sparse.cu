// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async.sp with n = 16. Shared memory, descriptors and registers come from the test.

namespace {

using u32 = unsigned;
using u64 = unsigned long long;

struct Arguments {
  const u32* image;
  u32 bytes;
  u64 a, b;
  u32 adds;
  const u32 *d, *of_a, *metadata;
  u32* out;
};

template <int kSums, class F>
__device__ void run(const Arguments& from, F multiply) {
  extern __shared__ __align__(1024) u32 image[];
  for (u32 i = threadIdx.x; i < from.bytes / 4; i += 128) image[i] = from.image[i];
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  const u64 base = static_cast<u32>(__cvta_generic_to_shared(image)) >> 4;
  u32 d[kSums], a[4];
  for (int i = 0; i < kSums; ++i) d[i] = from.d[threadIdx.x * kSums + i];
  for (int i = 0; i < 4; ++i) a[i] = from.of_a[threadIdx.x * 4 + i];
  const u32 metadata = from.metadata[threadIdx.x];
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  multiply(d, a, from.a + base, from.b + base, metadata, from.adds);
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < kSums; ++i) from.out[threadIdx.x * kSums + i] = d[i];
}

}  // namespace

#define GROUP_KERNEL(name, sums, text, of_a, options)                                            \
  extern "C" __global__ void __launch_bounds__(128)                                              \
      name(const u32* image, u32 bytes, u64 first, u64 second, u32 scale, const u32* before,     \
           const u32* factors, const u32* chunks, u32* out) {                                    \
    run<sums>({image, bytes, first, second, scale, before, factors, chunks, out},                \
              [](auto& d, auto& a, u64 da, u64 db, u32 e, u32 adds) {                            \
                asm volatile("{ .reg .pred p; setp.ne.u32 p, %" #sums ", 0; " text options "; }" \
                             : GROUP_SUMS_##sums                                                 \
                             : "r"(adds), "l"(db), "r"(e), of_a);                                \
              });                                                                                \
  }
#define GROUP_SUMS_4 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define GROUP_SUMS_8 GROUP_SUMS_4, "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
#define BY_DESCRIPTOR "l"(da)
#define IN_REGISTERS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define OP(types) "wgmma.mma_async.sp.sync.aligned.m64n16" types

GROUP_KERNEL(f16_shared_1, 8,
             OP("k32.f32.f16.f16") " {%0,%1,%2,%3,%4,%5,%6,%7}, %11, %9, %10, 1, p", BY_DESCRIPTOR,
             ", 1, 1, 0, 0")
GROUP_KERNEL(f16_registers_0, 4,
             OP("k32.f16.f16.f16") " {%0,%1,%2,%3}, {%7,%8,%9,%10}, %5, %6, 0, p", IN_REGISTERS,
             ", 1, 1, 0")
GROUP_KERNEL(bf16_registers_1, 8,
             OP("k32.f32.bf16.bf16") " {%0,%1,%2,%3,%4,%5,%6,%7}, {%11,%12,%13,%14}, %9, %10, 1, p",
             IN_REGISTERS, ", -1, 1, 0")
GROUP_KERNEL(tf32_shared_0, 8,
             OP("k16.f32.tf32.tf32") " {%0,%1,%2,%3,%4,%5,%6,%7}, %11, %9, %10, 0, p",
             BY_DESCRIPTOR, ", 1, 1")
GROUP_KERNEL(bytes_registers_0, 8,
             OP("k64.f32.e4m3.e5m2") " {%0,%1,%2,%3,%4,%5,%6,%7}, {%11,%12,%13,%14}, %9, %10, 0, p",
             IN_REGISTERS, ", 1, 1")
GROUP_KERNEL(integers_shared_0, 8,
             OP("k64.satfinite.s32.s8.u8") " {%0,%1,%2,%3,%4,%5,%6,%7}, %11, %9, %10, 0, p",
             BY_DESCRIPTOR, "")
