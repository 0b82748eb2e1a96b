// SPDX-License-Identifier: Apache-2.0
// Kernels with one fault each for the checks "init" and "race" between blocks, each with a correct
// counterpart.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <climits>

extern "C" __global__ void sum_shared(int* out, int written) {
  __shared__ int values[64];
  if (threadIdx.x < written) values[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];  // reads shared memory
}

extern "C" __global__ void missing_barrier(int* out) {
  __shared__ int values[64];
  values[threadIdx.x] = 1;
  out[threadIdx.x] = values[63 - threadIdx.x];
}

extern "C" __global__ void shared_bytes(int* out, int written) {
  __shared__ unsigned char values[64];
  if (threadIdx.x < written) values[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x];
}

extern "C" __global__ void shared_vectors(float4* out, int written) {
  __shared__ float4 values[33];
  float* const words = reinterpret_cast<float*>(values);
  for (int i = threadIdx.x; i < written; i += blockDim.x) words[i] = 1;
  __syncthreads();
  out[threadIdx.x] = values[threadIdx.x + 1];
}

// Uninitialised values without effect on the result: a sum one stage ahead of the last one,
// products of rows outside the matrix, the other half of a word.
extern "C" __global__ void read_ahead(int* out, int stages) {
  __shared__ int values[4][32];
  for (int s = 0; s < stages; ++s) values[s][threadIdx.x] = s + 1;
  __syncthreads();
  int sum = 0, next = values[0][31 - threadIdx.x];
  for (int s = 0; s < stages; ++s) {
    const int now = next;
    next = values[s + 1][31 - threadIdx.x];
    sum += now;
  }
  out[threadIdx.x] += sum;
}

extern "C" __global__ void edge_of_product(float* out, int lines, int stored) {
  __shared__ float a[32], b[32];
  if (threadIdx.x < lines) a[threadIdx.x] = b[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  for (int j = 0; j < 32; ++j) {
    const float product = a[threadIdx.x] * b[j];  // the product
    if (threadIdx.x < stored && j < stored) out[threadIdx.x * 32 + j] += product;
  }
}

extern "C" __global__ void half_of_word(unsigned short* out, int half) {
  __shared__ unsigned values[32];
  reinterpret_cast<unsigned short*>(values)[2 * threadIdx.x] = 7;
  __syncthreads();
  out[threadIdx.x] = static_cast<unsigned short>(
      reinterpret_cast<volatile unsigned*>(values)[threadIdx.x] >> (16 * half));
}

// Uninitialised values that have an effect although they are not stored.
extern "C" __global__ void unwritten_branch(int* out, int threshold) {
  __shared__ int values[64];
  values[threadIdx.x] = 1;
  __syncthreads();
  if (values[threadIdx.x + 32] > threshold) out[threadIdx.x] = 1;
}

extern "C" __global__ void unwritten_address(int* out, int mask) {
  __shared__ int values[64];
  values[threadIdx.x] = 1;
  __syncthreads();
  out[values[threadIdx.x + 32] & mask] = 1;
}

extern "C" __global__ void unwritten_count(int* out) {
  __shared__ int values[64];
  values[threadIdx.x] = 1;
  __syncthreads();
  const int count = values[threadIdx.x + 32];
  unsigned sum = 1;
  for (int i = 0; i < count; ++i) sum = sum * 3 ^ static_cast<unsigned>(i);
  out[threadIdx.x] = static_cast<int>(sum);
}

extern "C" __global__ void unwritten_largest(float* out) {
  __shared__ float values[64];
  values[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + 32]);
}

// The first read has no effect on the result, the second one has.
extern "C" __global__ void one_of_two(int* out) {
  __shared__ int values[96];
  values[threadIdx.x] = 1;
  __syncthreads();
  const int dropped = reinterpret_cast<volatile int*>(values)[threadIdx.x + 32];
  const int kept = reinterpret_cast<volatile int*>(values)[threadIdx.x + 64];  // the second read
  out[blockIdx.x * 32 + threadIdx.x] = kept + 0 * dropped;
}

// The second block reads nothing that the first one wrote.
extern "C" __global__ void shared_of_block(int* out) {
  __shared__ int values[32];
  if (blockIdx.x == 0) values[threadIdx.x] = 1;
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = values[threadIdx.x];
}

extern "C" __global__ void shared_counter(int* out, int clear) {
  __shared__ int count;
  if (clear && threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  out[threadIdx.x] = count;
}

extern "C" __global__ void copy_words(int* out, const int* in, int stride) {
  out[threadIdx.x] = in[threadIdx.x * stride];  // reads global memory
}

extern "C" __global__ void copy_first(int* out, const int* in) { out[threadIdx.x] = in[0]; }

extern "C" __global__ void copy_bytes(char* out, const char* in) {
  out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void count_global(int* counter) { atomicAdd(counter, 1); }

extern "C" __global__ void local_array(int* out, int written, int read) {
  int values[16];
  for (int i = 0; i < written; ++i) values[i * 3 % 16] = i;
  out[threadIdx.x] = values[read * 3 % 16];  // reads local memory
}

extern "C" __global__ void local_chars(int* out, int written, int read) {
  volatile char values[16];
  for (int i = 0; i < written; ++i) values[i] = static_cast<char>(i);
  out[threadIdx.x] = values[read];
}

// Loads an element of the array in any case, and uses it only if asked to.
extern "C" __global__ void local_ahead(int* out, int written, int read, int use) {
  volatile int values[16];
  for (int i = 0; i < written; ++i) values[i] = i;
  const int value = values[read];
  out[threadIdx.x] = use != 0 ? value : -1;
}

extern "C" __global__ void write_word(int* out, int stride) {
  if (threadIdx.x == 0) out[blockIdx.x * stride] = static_cast<int>(blockIdx.x);  // writes a word
}

extern "C" __global__ void write_half(short* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Reads an element that a neighbouring block writes.
extern "C" __global__ void shift_in_place(int* data, int n, int distance) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int value = i + distance < n ? data[i + distance] : 0;
  data[i] = value;
}

// Warps (agree_in_grid: blocks) write to one word and read it back. For step 0 they all write the
// same value. Only the first `writers` warps write.
extern "C" __global__ void agree_in_block(int* out, int step, int writers) {
  __shared__ int word;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&word));
  const int warp = static_cast<int>(threadIdx.x) / 32;
  int seen;
  if (warp < writers)
    asm volatile("st.shared.s32 [%0], %1;" ::"r"(at), "r"(7 + step * warp) : "memory");
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
  __syncthreads();
  out[threadIdx.x] = seen + word;
}
extern "C" __global__ void agree_in_grid(int* out, int* word, int step) {
  int seen;
  const int value = 7 + step * static_cast<int>(blockIdx.x);
  asm volatile("st.global.s32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
  asm volatile("ld.global.s32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}
// The same for stores of several words, of 8 bytes and of pairs of 16 bits. In array `differs` (1
// to 3) the values of the last lane are not equal.
extern "C" __global__ void agree_in_vectors(int4* vectors, double* doubles, ushort2* pairs,
                                            int differs) {
  const int lane = static_cast<int>(threadIdx.x);
  const int extra = lane == 31 ? static_cast<int>(blockIdx.x) : 0;
  vectors[lane] = {lane, lane + 1, lane + 2, lane + 3 + (differs == 1 ? extra : 0)};
  doubles[lane] = lane + (differs == 2 ? extra : 0);
  pairs[lane] = {static_cast<unsigned short>(lane),
                 static_cast<unsigned short>(lane + (differs == 3 ? extra : 0))};
}
// Block b reads or writes words of `data`. ranges[b]: first word, number of words, whether it
// writes, distance in words between the two half warps.
extern "C" __global__ void touch_ranges(int* data, const int4* ranges) {
  const int4 range = ranges[blockIdx.x];
  const int at = static_cast<int>(threadIdx.x);
  int* const to = data + range.x + at % 16 + at / 16 * range.w;
  int value = static_cast<int>(blockIdx.x);
  if (at >= range.y) return;
  if (range.z != 0)
    asm volatile("st.global.s32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
  else
    asm volatile("ld.global.s32 %0, [%1];" : "=r"(value) : "l"(to));
  if (value == INT_MIN) asm volatile("trap;");  // never; ptxas drops a load that nothing uses
}
// Each lane of block b reads or writes a vector twice: two words, in odd blocks four. ranges[b]:
// first vector, number of lanes, whether they write, distance in vectors between lanes.
extern "C" __global__ void touch_vectors(int* data, const int4* ranges) {
  const int4 range = ranges[blockIdx.x];
  const int words = blockIdx.x % 2 == 0 ? 2 : 4;
  const int at = static_cast<int>(threadIdx.x);
  if (at >= range.y) return;
  int* const to = data + (range.x + at * range.w) * words;
  int a = static_cast<int>(blockIdx.x), b = 0, c = 0, d = 0;
  for (int time = 0; time < 2; ++time) {
    if (range.z != 0 && words == 2)
      asm volatile("st.global.v2.s32 [%0], {%1, %2};" ::"l"(to), "r"(a), "r"(b) : "memory");
    else if (range.z != 0)
      asm volatile("st.global.v4.s32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b), "r"(c),
                   "r"(d)
                   : "memory");
    else if (words == 2)
      asm volatile("ld.global.v2.s32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(to) : "memory");
    else
      asm volatile("ld.global.v4.s32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                   : "l"(to)
                   : "memory");
    if (a == INT_MIN || b == INT_MIN || c == INT_MIN || d == INT_MIN) asm volatile("trap;");
  }
}
// The last block writes a second time.
extern "C" __global__ void agree_at_first(int* word, int last) {
  asm volatile("st.global.s32 [%0], 7;" ::"l"(word) : "memory");
  if (blockIdx.x == gridDim.x - 1)
    asm volatile("st.global.s32 [%0], %1;" ::"l"(word), "r"(last) : "memory");
}

extern "C" __global__ void add_atomically(int* sum) { atomicAdd(sum, 1); }

// The last block to arrive adds the results of the others, as in the toolkit's
// threadFenceReduction.
extern "C" __global__ void last_block_adds(int* parts, int* sum, unsigned* arrived) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = static_cast<int>(blockIdx.x);
    __threadfence();
    last = atomicInc(arrived, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) total += parts[i];
    *sum = total;
  }
}

// Two buffers of 4 KB, selected by XOR of an address: correct only if the array is aligned to 8 KB.
extern "C" __global__ void buffers_by_xor(const float4* in, float4* out) {
  __shared__ __align__(8192) float4 buffers[512];
  const unsigned first =
      static_cast<unsigned>(__cvta_generic_to_shared(buffers)) + 16 * threadIdx.x;
  const float4 v = in[threadIdx.x];
  for (unsigned at = first, k = 0; k < 2; ++k, at ^= 4096) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at), "f"(v.x), "f"(v.y), "f"(v.z),
                 "f"(v.w)
                 : "memory");
  }
  __syncthreads();
  out[threadIdx.x] = buffers[256 + threadIdx.x];
}

// Atomic operations that the hardware implements by compare-and-swap.
template <class T>
__device__ void sum_by_exchange(const T* in, T* out) {
  __shared__ T sums[3];
  if (threadIdx.x < 3) sums[threadIdx.x] = T(0.0F);
  __syncthreads();
  atomicAdd(&sums[threadIdx.x % 3], in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x < 3) out[threadIdx.x] = sums[threadIdx.x];
}
extern "C" __global__ void sum_long(const unsigned long long* in, unsigned long long* out) {
  sum_by_exchange(in, out);
}
extern "C" __global__ void sum_float(const float* in, float* out) { sum_by_exchange(in, out); }
extern "C" __global__ void sum_double(const double* in, double* out) { sum_by_exchange(in, out); }
extern "C" __global__ void sum_half(const __half* in, __half* out) { sum_by_exchange(in, out); }
extern "C" __global__ void sum_bfloat(const __nv_bfloat16* in, __nv_bfloat16* out) {
  sum_by_exchange(in, out);
}
extern "C" __global__ void swap_shorts(unsigned short* out) {
  __shared__ unsigned short places[3];
  if (threadIdx.x < 3) places[threadIdx.x] = 0;
  __syncthreads();
  atomicCAS(&places[threadIdx.x % 3], static_cast<unsigned short>(threadIdx.x / 3),
            static_cast<unsigned short>(threadIdx.x / 3 + 1));
  __syncthreads();
  if (threadIdx.x < 3) out[threadIdx.x] = places[threadIdx.x] != 0;
}

// Increments half i.
extern "C" __global__ void count_half(__half* counts, int i) {
  atomicAdd(&counts[i], __float2half(1.0F));
}
extern "C" __global__ void swap_short(unsigned short* data, int i) { atomicCAS(&data[i], 0, 7); }

// The compared value was loaded before a barrier, or another word is compared: such loads count as
// ordinary ones.
extern "C" __global__ void load_and_add(float* out, int from) {
  __shared__ float sums[2];
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  const float seen = sums[from];
  atomicAdd(&sums[1], 1.0F);
  out[threadIdx.x] = seen;
}
extern "C" __global__ void load_and_exchange(int* out, int from) {
  __shared__ int words[2];
  if (threadIdx.x < 2) words[threadIdx.x] = 0;
  __syncthreads();
  out[threadIdx.x] = atomicCAS(&words[1], words[from], static_cast<int>(threadIdx.x));
}

// Warp 0 gives data to warp 1 through a flag that is changed by atomics, or released and acquired.
// `far`: the flag in global memory. flaw 1: the writer has no fence; 2: the reader has none.
extern "C" __global__ void hand_over(int* out, int* flag, int far, int qualified, int flaw) {
  __shared__ int data[32], near;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) near = *flag = 0;
  __syncthreads();
  int* const at = far != 0 ? flag : &near;
  if (threadIdx.x < 32) {
    data[lane] = lane * lane;
    __syncwarp();
    if (lane == 0 && qualified != 0) {
      asm volatile("st.release.cta.s32 [%0], 1;" ::"l"(at) : "memory");
    } else if (lane == 0) {
      if (flaw != 1) __threadfence_block();
      atomicExch(at, 1);
    }
  } else {
    int seen = 0;
    do {
      if (qualified != 0)
        asm volatile("ld.acquire.cta.s32 %0, [%1];" : "=r"(seen) : "l"(at) : "memory");
      else
        seen = atomicAdd(at, 0);
    } while (seen == 0);
    if (qualified == 0 && flaw != 2) __threadfence_block();
    out[lane] = data[lane];
  }
}

// Two warps of a block use one row of words: how 0, the second reads what the first writes; 1, it
// writes what the first reads; 2, it writes another value; 3, it writes the same; 4, both add; 5,
// both add atomically. between: 0, nothing; 1, a barrier; 2, a named barrier.
extern "C" __global__ void share_words(int* data, int how, int between) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  int* const at = data + lane;
  int value = 7;
  const auto step = [&](bool writes, int stored) {
    if (writes)
      asm volatile("st.global.s32 [%0], %1;" ::"l"(at), "r"(stored) : "memory");
    else
      asm volatile("ld.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  };
  const auto use = [&] {
    if (how < 4) step(warp == 0 ? how != 1 : how != 0, how == 2 ? 7 + warp : 7);
    if (how == 4) *at += 1;
    if (how == 5) atomicAdd(at, 1);
  };
  if (warp == 0) use();
  if (between == 1) __syncthreads();
  if (between == 2) asm volatile("barrier.sync 1, 64;" ::: "memory");
  if (warp == 1) use();
  if (value == INT_MIN) asm volatile("trap;");
}

// In each phase warp w of a block reads or writes the words that ranges says: first, number,
// whether it writes. Barriers are between phases.
extern "C" __global__ void touch_in_phases(int* data, const int4* ranges, int phases) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  for (int phase = 0; phase < phases; ++phase) {
    const int4 range = ranges[phase * warps + warp];
    for (int i = lane; i < range.y; i += 32) {
      int* const to = data + range.x + i;
      int value = phase * warps + warp;
      if (range.z != 0)
        asm volatile("st.global.s32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
      else
        asm volatile("ld.global.s32 %0, [%1];" : "=r"(value) : "l"(to) : "memory");
      if (value == INT_MIN) asm volatile("trap;");
    }
    __syncthreads();
  }
}

// Warp 0 gives words in global memory to warp 1 through a flag in shared memory.
extern "C" __global__ void hand_over_words(int* data, int fenced) {
  __shared__ int flag;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    data[lane] = lane;
    if (fenced != 0) __threadfence_block();
    __syncwarp();
    if (lane == 0) atomicExch(&flag, 1);
  } else {
    while (atomicAdd(&flag, 0) == 0) continue;
    if (fenced != 0) __threadfence_block();
    data[lane] += 1;
  }
}

#if __CUDA_ARCH__ >= 800
// Warp 1 overwrites words when the asynchronous copies by warp 0 have read them.
extern "C" __global__ void copy_and_overwrite(int* data, int* out) {
  __shared__ int words[32];
  __shared__ unsigned long long arrived;
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&arrived));
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(barrier));
  __syncthreads();
  if (threadIdx.x < 32) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(words + lane));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(data + lane) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
  } else {
    unsigned done = 0;
    while (done == 0) {
      asm volatile(
          "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; "
          "}"
          : "=r"(done)
          : "r"(barrier)
          : "memory");
    }
    out[lane] = words[lane];
    data[lane] = -1;
  }
}
#endif
