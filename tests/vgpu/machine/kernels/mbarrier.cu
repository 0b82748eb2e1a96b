// SPDX-License-Identifier: Apache-2.0
// mbarriers, copies that arrive at them, setmaxnreg; and pipelines of producers and consumers with
// one defect each.

namespace {

using u32 = unsigned;
using u64 = unsigned long long;

__device__ u32 address(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}
__device__ void copy4(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(to)), "l"(from) : "memory");
}
__device__ void init(u64* b, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(b)), "r"(count) : "memory");
}
__device__ u64 arrive(u64* b) {
  u64 state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
               : "=l"(state)
               : "r"(address(b))
               : "memory");
  return state;
}
__device__ u64 arrive(u64* b, int count) {
  u64 state;
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(address(b)), "r"(count)
               : "memory");
  return state;
}
__device__ bool try_wait(u64* b, u32 parity) {
  u32 done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; "
      "}"
      : "=r"(done)
      : "r"(address(b)), "r"(parity)
      : "memory");
  return done != 0;
}
__device__ void wait(u64* b, u32 parity) {
  while (!try_wait(b, parity)) {
  }
}
__device__ bool test_wait(u64* b, u64 state) {
  u32 done;
  asm volatile(
      "{ .reg .pred p; mbarrier.test_wait.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, "
      "0, p; }"
      : "=r"(done)
      : "r"(address(b)), "l"(state)
      : "memory");
  return done != 0;
}
__device__ u32 pending(u64 state) {
  u32 count;
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
  return count;
}
__device__ void copies_arrive(u64* b) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address(b)) : "memory");
}
__device__ void start(u64* b, int count) {
  if (threadIdx.x == 0) init(b, count);
  __syncthreads();
}

}  // namespace

// Counts and phases, from the view of one thread.
extern "C" __global__ void counts(u32* out) {
  __shared__ u64 b;
  init(&b, 4);
  const u64 first = arrive(&b);
  out[0] = pending(first);
  out[1] = test_wait(&b, first);
  const u64 second = arrive(&b, 2);
  out[2] = pending(second);
  u64 dropped;
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];"
               : "=l"(dropped)
               : "r"(address(&b))
               : "memory");
  out[3] = pending(dropped);
  out[4] = test_wait(&b, first);
  out[5] = try_wait(&b, 0);
  out[6] = try_wait(&b, 1);
  u64 next;  // now of 3 arrivals
  asm volatile("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %0, [%1], 2;"
               : "=l"(next)
               : "r"(address(&b))
               : "memory");
  out[7] = pending(next);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 96;" ::"r"(address(&b))
               : "memory");
  out[8] = test_wait(&b, next);
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 32;" ::"r"(address(&b))
               : "memory");
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 100;" ::"r"(address(&b))
               : "memory");
  out[9] = test_wait(&b, next);
  asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 28;" ::"r"(address(&b)) : "memory");
  out[10] = test_wait(&b, next);
  u32 hinted;  // by generic address; with a suspend-time hint
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.b64 p, [%1], 1, 1000; selp.u32 %0, 1, 0, p; }"
      : "=r"(hinted)
      : "l"(&b)
      : "memory");
  out[11] = hinted;
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(&b)) : "memory");
  init(&b, 1);
  out[12] = try_wait(&b, 1);
}

// One kind of misuse each.
extern "C" __global__ void misuse(int how, int count) {
  __shared__ u64 b[2];
  if (how == 0) arrive(&b[0]);
  init(&b[0], how == 1 ? count : 2);
  u64 state = 0;
  switch (how) {
    case 2: arrive(&b[0], count); break;
    case 3:
      asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(&b[0])) : "memory");
      try_wait(&b[0], 0);
      break;
    case 4: init(&b[0], 2); break;
    case 5:
      asm volatile("st.shared.u32 [%0], 7;" ::"r"(address(&b[0])) : "memory");
      arrive(&b[0]);
      break;
    case 6:
      asm volatile("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %0, [%1], 2;"
                   : "=l"(state)
                   : "r"(address(&b[0]))
                   : "memory");
      break;
    case 7:
      state = arrive(&b[0]);
      arrive(&b[0]);
      arrive(&b[0], 2);
      test_wait(&b[0], state);
      break;
    case 8:
      for (int i = 0; i < 3; ++i) {
        asm volatile(
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(address(&b[0])),
            "r"(count)
            : "memory");
      }
      break;
    case 9:
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(&b[0]) + 4) : "memory");
      break;
    case 10:
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(&b[0]) + 4096)
                   : "memory");
      break;
    case 11: try_wait(&b[0], 2); break;
    case 12:
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 64;" ::"r"(address(&b[0]))
                   : "memory");
      arrive(&b[0]);
      arrive(&b[0]);
      break;
    default: break;
  }
}

// Warps that synchronise at an mbarrier: one phase each, with the states that arrive returns.
extern "C" __global__ void meet(int* out, int phases) {
  __shared__ u64 b;
  __shared__ int value[128];
  start(&b, 128);
  const unsigned t = threadIdx.x;
  int v = static_cast<int>(t);
  for (int i = 0; i < phases; ++i) {
    value[t] = v;
    u64 state = arrive(&b);
    while (!test_wait(&b, state)) {
    }
    v += value[(t + 32) % 128];
    state = arrive(&b);
    while (!test_wait(&b, state)) {
    }
  }
  out[t] = v;
}

// A missing second arrival; missing bytes.
extern "C" __global__ void never(int how) {
  __shared__ u64 b;
  start(&b, 2);
  if (how == 1) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(address(&b))
                   : "memory");
    }
    if (threadIdx.x == 32) arrive(&b);
  } else if (threadIdx.x == 0) {
    arrive(&b);
  }
  if (threadIdx.x < 64) wait(&b, 0);
  __syncthreads();
}

// One warp copies, three warps add; two stages. The value of an element identifies its source.
enum Flaw {
  kNone,
  kNoEmptyArrive,  // consumers never release the stages
  kEarlyEmpty,     // they say that they have read a stage before they have
  kNoEmptyWait,    // the producer does not ask
  kWaitBehind,     // consumers wait for the phase before
  kPlainArrive,    // the producer arrives at once, not when its copies land
  kNoFullWait,
  kNoInitBarrier,
  kWaitLate,  // consumers wait for a stage after they have read it
};
template <Flaw kFlaw>
__device__ void pipeline(int* out, const int* in, int tiles) {
  constexpr int kStages = 2, kConsumers = 3;
  __shared__ struct {
    int data[32];
    u64 full, empty;
  } s[kStages];
  const unsigned t = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int* from = in + blockIdx.x * tiles * 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      init(&s[i].full, 32);
      init(&s[i].empty, kConsumers);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (kFlaw != kNoInitBarrier) __syncthreads();
  if (warp == kConsumers) {
    for (int i = 0; i < tiles; ++i) {
      auto& stage = s[i % kStages];
      if (kFlaw != kNoEmptyWait) wait(&stage.empty, (i / kStages & 1) ^ 1);
      copy4(&stage.data[t], from + i * 32 + t);
      if (kFlaw == kPlainArrive)
        arrive(&stage.full);
      else
        copies_arrive(&stage.full);
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
  } else {
    int sum = 0;
    for (int i = 0; i < tiles; ++i) {
      auto& stage = s[i % kStages];
      const u32 parity = i / kStages & 1;
      if (kFlaw != kNoFullWait && kFlaw != kWaitLate)
        wait(&stage.full, kFlaw == kWaitBehind ? parity ^ 1 : parity);
      __syncwarp();
      if (kFlaw == kEarlyEmpty && t == 0) arrive(&stage.empty);
      sum += stage.data[(t + 7 * warp) % 32] * (i + 1);
      __syncwarp();
      if (kFlaw == kWaitLate) wait(&stage.full, parity);
      if (kFlaw != kNoEmptyArrive && kFlaw != kEarlyEmpty && t == 0) arrive(&stage.empty);
    }
    out[blockIdx.x * 96 + threadIdx.x] = sum;
  }
}
#define KERNEL(name, flaw)                                              \
  extern "C" __global__ void name(int* out, const int* in, int tiles) { \
    pipeline<flaw>(out, in, tiles);                                     \
  }
KERNEL(pipeline_right, kNone)
KERNEL(pipeline_no_empty_arrive, kNoEmptyArrive)
KERNEL(pipeline_early_empty, kEarlyEmpty)
KERNEL(pipeline_no_empty_wait, kNoEmptyWait)
KERNEL(pipeline_wait_behind, kWaitBehind)
KERNEL(pipeline_plain_arrive, kPlainArrive)
KERNEL(pipeline_no_full_wait, kNoFullWait)
KERNEL(pipeline_no_init_barrier, kNoInitBarrier)
KERNEL(pipeline_wait_late, kWaitLate)

// Copies that the phase does not expect, because each adds an arrival of its own.
extern "C" __global__ void copies_that_add(int* out, const int* in) {
  __shared__ u64 b;
  __shared__ int s[64];
  start(&b, 64);
  const unsigned t = threadIdx.x;
  copy4(&s[t], in + t);
  asm volatile("cp.async.mbarrier.arrive.b64 [%0];" ::"l"(&b) : "memory");
  arrive(&b);
  wait(&b, 0);
  out[t] = s[63 - t];
}

// Tests the barrier once and continues whatever the result; with `again`, until it has completed.
extern "C" __global__ void ask(int* out, const int* in, int again) {
  __shared__ u64 b;
  __shared__ int s[32];
  start(&b, 32);
  const unsigned t = threadIdx.x;
  copy4(&s[t], in + t);
  copies_arrive(&b);
  out[t] = try_wait(&b, 0);
  if (again != 0) wait(&b, 0);
  __syncwarp();
  out[32 + t] = s[31 - t];
}

// The warp that initialises an mbarrier uses it first; nothing orders the initialisation before the
// other warp's use.
extern "C" __global__ void made_in_secret(int* out) {
  __shared__ u64 b;
  if (threadIdx.x == 0) init(&b, 1);
  if (threadIdx.x == 0) arrive(&b);
  if (threadIdx.x >= 32) wait(&b, 0);
  out[threadIdx.x] = 1;
}

// One warpgroup releases registers, the other acquires them.
extern "C" __global__ void registers(int* out, int how) {
  const unsigned t = threadIdx.x, group = t / 128;
  if (how == 0) {
    if (group == 0)
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  } else if (how == 1) {
    if (group == 1) asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  } else if (how == 2) {
    if (t / 32 == 1)
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    else
      asm volatile("setmaxnreg.dec.sync.aligned.u32 48;");
  } else if (how == 3) {
    if (t % 32 < 16) asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  } else if (how == 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 240;");
  }
  out[t] = static_cast<int>(t);
}
