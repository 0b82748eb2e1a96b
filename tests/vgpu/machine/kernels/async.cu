// SPDX-License-Identifier: Apache-2.0
// cp.async in every form, and pipelines with one defect each: every defect other than kNone must be
// found.

namespace {

__device__ unsigned address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ void copy4(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(to)), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
__device__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace

// 16, 8 and 4 bytes per thread; the first `part` bytes of a 16-byte copy; nothing where ignored.
extern "C" __global__ void copy_sizes(int4* out, const int4* in, int part) {
  __shared__ int4 s[5][32];
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 0; i < 5; ++i) s[i][t] = {-1, -1, -1, -1};
  __syncwarp();
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&s[0][t])), "l"(in + t)
               : "memory");
  asm volatile(
      "cp.async.ca.shared::cta.global.L2::128B [%0+8], [%1+8], 8;" ::"r"(address(&s[1][t])),
      "l"(in + t)
      : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(&s[2][t])), "l"(in + t)
               : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(address(&s[3][t])),
               "l"(in + t), "r"(part)
               : "memory");
  asm volatile(
      "{ .reg .pred p; .reg .b64 hint; setp.lt.s32 p, %2, 16; "
      "createpolicy.fractional.L2::evict_last.b64 "
      "hint, 1.0;"
      "cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 16, p, hint; }" ::"r"(
          address(&s[4][t])),
      "l"(in + t), "r"(t)
      : "memory");
  wait_all();
  for (int i = 0; i < 5; ++i) out[i * 32 + t] = s[i][t];
}

// The second warp reads s[places], while the lanes from `from` on of the first warp copy to s.
extern "C" __global__ void read_early(int* out, const int* in, const int* places, int from) {
  __shared__ int s[32];
  const int t = static_cast<int>(threadIdx.x);
  if (t >= 32) {
    out[t - 32] = s[places[t - 32]];
    return;
  }
  if (t >= from) copy4(s + t, in + t);
  wait_all();
}

// Lanes that read nothing may have any source address.
extern "C" __global__ void copy_nothing(int* out, const int* in) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  const int bytes = t < 8 ? 4 : 0;
  const int* from = t < 8 ? in + t : nullptr;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address(&s[t])), "l"(from),
               "r"(bytes)
               : "memory");
  wait_all();
  out[t] = s[t];
}

// Groups complete in order: counts how many of four tiles have been copied after each wait, with
// the previous contents before.
extern "C" __global__ void copy_groups(int* out, const int* in) {
  __shared__ int s[4][32];
  const unsigned t = threadIdx.x;
  for (int i = 0; i < 4; ++i) s[i][t] = -1;
  for (int i = 0; i < 3; ++i) {
    copy4(&s[i][t], in + i * 32 + t);
    commit();
  }
  commit();  // an empty group
  copy4(&s[3][t], in + 96 + t);
  const auto show = [&](int row) {
    for (int i = 0; i < 4; ++i) out[(row * 4 + i) * 32 + t] = s[i][t];
  };
  wait<3>();
  show(0);
  wait<2>();
  show(1);
  wait<0>();
  show(2);
  wait_all();
  show(3);
}

// Lanes with separate groups.
extern "C" __global__ void copy_divided(int* out, const int* in) {
  __shared__ int s[2][32];
  const unsigned t = threadIdx.x;
  s[0][t] = s[1][t] = -1;
  if (t % 2 == 0) {
    copy4(&s[0][t], in + t);
    commit();
  }
  copy4(&s[1][t], in + 32 + t);
  commit();
  wait<1>();
  out[t] = s[0][t];  // complete: it belongs to the older of two groups
  wait<0>();
  out[32 + t] = s[1][t];
}

extern "C" __global__ void copy_at(const char* in, int to, long long from, int bytes) {
  extern __shared__ char s[];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(address(s) + to),
               "l"(in + from), "r"(bytes)
               : "memory");
  wait_all();
}

// A ring of three stages; each thread copies one element per tile and adds elements that another
// warp has copied.
enum Flaw { kNone, kNoWait, kLateWait, kNoBarrier, kEarlyCopy, kReadOfNext };
template <Flaw kFlaw>
__device__ void ring(int* out, const int* in, int tiles) {
  constexpr int kStages = 3, kSize = 128;
  __shared__ int s[kStages][kSize];
  const int t = static_cast<int>(threadIdx.x);
  const int* from = in + blockIdx.x * tiles * kSize;
  for (int i = 0; i < kStages - 1; ++i) {
    if (i < tiles) copy4(&s[i][t], from + i * kSize + t);
    commit();
  }
  int sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (kFlaw == kLateWait)
      wait<kStages - 1>();
    else if (kFlaw != kNoWait)
      wait<kStages - 2>();
    if (kFlaw == kEarlyCopy && i + 2 < tiles)
      copy4(&s[(i + 2) % kStages][t], from + (i + 2) * kSize + t);
    if (kFlaw != kNoBarrier) __syncthreads();
    if (kFlaw != kEarlyCopy && i + 2 < tiles)
      copy4(&s[(i + 2) % kStages][t], from + (i + 2) * kSize + t);
    commit();
    constexpr int next = kFlaw == kReadOfNext ? 1 : 0;
    sum += s[(i + next) % kStages][(t + 32) % kSize] * (i + 1);  // another thread's
  }
  out[blockIdx.x * kSize + t] = sum;
}
#define KERNEL(name, flaw)                                              \
  extern "C" __global__ void name(int* out, const int* in, int tiles) { \
    ring<flaw>(out, in, tiles);                                         \
  }
KERNEL(ring_right, kNone)
KERNEL(ring_no_wait, kNoWait)
KERNEL(ring_late_wait, kLateWait)
KERNEL(ring_no_barrier, kNoBarrier)
KERNEL(ring_early_copy, kEarlyCopy)
KERNEL(ring_next, kReadOfNext)

// A thread's own copy: read without a wait; overwritten by the copy; overwritten by a store.
extern "C" __global__ void own_copy(int* out, const int* in, int how) {
  __shared__ int s[32];
  const unsigned t = threadIdx.x;
  copy4(&s[t], in + t);
  if (how == 0) wait_all();
  if (how == 1) s[t] = 5;  // a store that the copy may overwrite
  out[t] = s[t];           // the copy may not have landed
}
