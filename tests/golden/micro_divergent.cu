// SPDX-License-Identifier: Apache-2.0
// Small kernels whose lanes take many ways: whole algorithms, and loops with several exits.
#include "micro.cuh"

namespace micro {

__global__ void mandelbrot(int* x) {
  const int t = thread_number();
  const float re = static_cast<float>(t % 24) * 0.125F - 2.0F;
  const float im = static_cast<float>(t / 24) * 0.125F - 1.0F;
  float a = 0, b = 0;
  int steps = 0;
  while (steps < 100 && a * a + b * b < 4.0F) {
    const float next = a * a - b * b + re;
    b = 2.0F * a * b + im;
    a = next;
    ++steps;
  }
  x[1024 + t] = steps;
}

__global__ void collatz(int* x) {
  const int t = thread_number();
  unsigned n = static_cast<unsigned>(t) + 1, steps = 0;
  while (n != 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++steps;
  }
  x[1024 + t] = static_cast<int>(steps);
}

// The longest chain below a bound: two nested loops, the inner one with a test of its own.
__global__ void collatz_longest(int* x) {
  const int t = thread_number();
  int longest = 0;
  for (int start = t + 1; start < 600; start += 97) {
    int steps = 0;
    unsigned n = static_cast<unsigned>(start);
    while (n != 1) {
      if (n % 2 == 0) {
        n /= 2;
      } else {
        n = 3 * n + 1;
        if (n > 100000) break;
      }
      ++steps;
    }
    if (steps > longest) longest = steps;
  }
  x[1024 + t] = longest;
}

// A machine with six instructions, whose program differs per lane.
__global__ void byte_code(int* x) {
  const int t = thread_number();
  int sum = t, stack[4] = {1, 2, 3, 4};
  unsigned at = static_cast<unsigned>(t) % 7;
#pragma unroll 1
  for (int step = 0; step < 60; ++step) {
    const int op = x[at & 63] % 6;
    if (op == 5 && sum > 100) break;
    switch (op) {
      case 0:
        sum += stack[step & 3];
        ++at;
        break;
      case 1:
        stack[(step + 1) & 3] = sum;
        ++at;
        break;
      case 2: at += sum % 3 == 0 ? 2 : 1; break;
      case 3:
        if (sum > 50) sum -= 40;
        at += 3;
        break;
      case 4:
        sum ^= x[(at + 1) & 63];
        at += 2;
        break;
      default: sum = sum * 2 + 1; at += 5;
    }
  }
  x[1024 + t] = sum + stack[0] + stack[1] + stack[2] + stack[3];
}

// An inclusive scan of a block: of warps by shuffles, then of their sums by the first warp.
__global__ void block_scan(int* x) {
  const int t = thread_number();
  const auto lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  __shared__ int s[kThreads / 32];
  int sum = x[t];
  for (int d = 1; d < 32; d *= 2) {
    const int before = __shfl_up_sync(0xffffffff, sum, d);
    if (lane >= d) sum += before;
  }
  if (lane == 31) s[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int total = lane < kThreads / 32 ? s[lane] : 0;
    for (int d = 1; d < kThreads / 32; d *= 2) {
      const int before = __shfl_up_sync(0xffffffff, total, d);
      if (lane >= d) total += before;
    }
    if (lane < kThreads / 32) s[lane] = total;
  }
  __syncthreads();
  if (warp > 0) sum += s[warp - 1];
  x[1024 + t] = sum;
}

// The same in shared memory, with a number of active threads that falls.
__global__ void tree_scan(int* x) {
  const auto t = static_cast<int>(threadIdx.x);
  __shared__ int s[kThreads];
  s[t] = x[thread_number()];
  for (int d = 1; d < kThreads; d *= 2) {
    __syncthreads();
    const int at = (t + 1) * d * 2 - 1;
    if (at < kThreads) s[at] += s[at - d];
  }
  for (int d = kThreads / 4; d > 0; d /= 2) {
    __syncthreads();
    const int at = (t + 1) * d * 2 - 1;
    if (at + d < kThreads) s[at + d] += s[at];
  }
  __syncthreads();
  x[1024 + thread_number()] = s[t];
}

// Lanes of one digit find each other by votes; the first of them adds for all.
__global__ void radix_partition(int* x) {
  const int t = thread_number(), lane = t % 32;
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  const int digit = x[t] * 7 % 16;
  unsigned same = 0xffffffff;
#pragma unroll
  for (int bit = 0; bit < 4; ++bit) {
    const bool set = (digit >> bit & 1) != 0;
    const unsigned votes = __ballot_sync(0xffffffff, set);
    same &= set ? votes : ~votes;
  }
  const int first = __ffs(static_cast<int>(same)) - 1;
  int base = 0;
  if (lane == first) base = atomicAdd(&s[digit], __popc(same));
  base = __shfl_sync(0xffffffff, base, first);
  x[1024 + t] = base + __popc(same & ((1U << lane) - 1));
  __syncthreads();
  if (threadIdx.x < 16) x[2048 + blockIdx.x * 16 + threadIdx.x] = s[threadIdx.x];
}

// One digit after the other, by the lanes that have it.
__global__ void votes_in_turn(int* x) {
  const int t = thread_number();
  const int digit = x[t] * 5 % 7;
  unsigned left = __activemask();
  int rank = 0, turn = 0;
  while (true) {
    const int leader = __shfl_sync(left, digit, __ffs(static_cast<int>(left)) - 1);
    const unsigned mine = __ballot_sync(left, digit == leader);
    ++turn;
    if (digit == leader) {
      rank = __popc(mine & ((1U << t % 32) - 1));
      break;
    }
    left &= ~mine;
  }
  x[1024 + t] = rank * 100 + turn;
}

__global__ void break_of_two(int* x) {
  const int t = thread_number();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 9; ++i) {
#pragma unroll 1
    for (int j = 0; j < 9; ++j) {
      sum += x[i * 9 + j];
      if (sum % 61 == t % 61) goto found;
    }
    if (sum % 3 == t % 3) sum += 1;
  }
  sum = -sum;
found:
  x[1024 + t] = sum;
}

__global__ void continues(int* x) {
  const int t = thread_number();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 30; ++i) {
    if ((i + t) % 3 == 0) continue;
    sum += x[i];
    if ((sum ^ t) % 5 == 0) continue;
    sum ^= x[i + t];
    if (sum % 19 == 0) break;
    sum += i;
  }
  x[1024 + t] = sum;
}

__global__ void return_in_loop(int* x) {
  const int t = thread_number();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 20; ++i) {
    sum += x[i + t];
    if (sum % 17 == 3) return;
    if (sum % 13 == 5) {
      x[1024 + t] = -sum;
      return;
    }
  }
  x[1024 + t] = sum;
}

__global__ void two_tests(int* x) {
  const int t = thread_number();
  int i = 0, sum = t;
  do {
    if (x[i] % 11 == t % 11 || (sum > 500 && x[i + 1] % 3 == 0)) break;
    sum += x[i];
    ++i;
  } while (sum % 29 != t % 29 && i < 60);
  x[1024 + t] = sum + i;
}

__global__ void loop_in_branch(int* x) {
  const int t = thread_number();
  int sum = x[t];
  if (t % 3 == 0) {
#pragma unroll 1
    for (int i = 0; i < t % 10; ++i) sum += x[i] * sum;
  } else if (t % 3 == 1) {
#pragma unroll 1
    while (sum > 3) sum = sum / 2 - 1;
    if (sum == 1) sum = x[3];
  } else {
    if (t % 2 == 0) return;
    sum = -sum;
  }
  x[1024 + t] = sum;
}

// Euclid's algorithm, its loop reached again by some lanes.
__global__ void common_divisors(int* x) {
  const int t = thread_number();
  int result = 0;
#pragma unroll 1
  for (int k = 1; k <= 3; ++k) {
    int a = x[t] + 7 * k, b = x[(t * 3 + k) % 512] + 12;
    while (b != 0) {
      const int rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1) {
      result += 1;
      if (result == 2) break;
    }
    result ^= a << k;
  }
  x[1024 + t] = result;
}

__device__ __noinline__ int searched(const int* x, int key, int from, int to) {
  while (from < to) {
    const int middle = (from + to) / 2, value = x[middle];
    if (value == key) return middle;
    if (value < key) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return ~from;
}

__global__ void searches(int* x) {
  const int t = thread_number();
  int sum = 0;
  if (t % 5 != 0) sum = searched(x, t * 7 % 900, 0, 256 + t);
  if (sum < 0) sum = searched(x, -sum, 0, 1000);
  x[1024 + t] = sum;
}

// A barrier of the warp in the middle of a loop that lanes leave.
__global__ void barriers_in_loop(int* x) {
  const int t = thread_number();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 12; ++i) {
    if (i % 4 == t % 4) sum += x[i + t];
    __syncwarp();
    if (sum % 7 == 3) sum ^= x[i];
    __syncwarp();
  }
  x[1024 + t] = sum;
}

// Insertion into a sorted list in registers: many short branches.
__global__ void insertion(int* x) {
  const int t = thread_number();
  int a = 1 << 20, b = 1 << 20, c = 1 << 20;
#pragma unroll 1
  for (int i = 0; i < 25; ++i) {
    const int v = (x[i] * 37 + t * 11) % 101;
    if (v < a) {
      c = b;
      b = a;
      a = v;
    } else if (v < b) {
      c = b;
      b = v;
    } else if (v < c) {
      c = v;
    } else {
      x[2048 + t] = v;
    }
  }
  x[1024 + t] = a + 100 * b + 10000 * c;
}

// Eight queens, the first queen's place from the thread's number: a loop with a stack.
__global__ void queens(int* x) {
  const int t = thread_number();
  unsigned columns[8], down[8], up[8], open[8];
  int row = 1, solutions = 0;
  const unsigned first = 1U << t % 6;
  columns[1] = first;
  down[1] = first << 1;
  up[1] = first >> 1;
  open[1] = 0x3f & ~(columns[1] | down[1] | up[1]);
  while (row > 0) {
    if (open[row] == 0) {
      --row;
      continue;
    }
    const unsigned bit = open[row] & (0U - open[row]);
    open[row] ^= bit;
    if (row == 5) {
      ++solutions;
      continue;
    }
    columns[row + 1] = columns[row] | bit;
    down[row + 1] = (down[row] | bit) << 1;
    up[row + 1] = (up[row] | bit) >> 1;
    open[row + 1] = 0x3f & ~(columns[row + 1] | down[row + 1] | up[row + 1]);
    ++row;
  }
  x[1024 + t] = solutions;
}

// The lanes for which others wait at a BSYNC exit, at once or one after the other.
__global__ void exits_at_once(int* x) {
  const int t = thread_number(), v = x[t];
  if (v % 3 == 0) {
    x[1024 + t] = v;
  } else {
    if (v % 3 == 1) return;
    x[1536 + t] = v + x[t + 1];
    if (v >= 0) return;
  }
  x[2048 + t] = x[t] * v;
  if (v % 5 == 0) x[2560 + t] = 7;
  x[3072 + t] = v;
}

__global__ void exits_from_loop(int* x) {
  const int t = thread_number(), v = x[t];
  int sum = 0;
  if (v % 2 == 0) {
    sum = x[t + 5];
  } else {
    for (int i = 0;; ++i) {
      sum += x[(t + i) & 31];
      if (i > v % 5) return;
      x[1024 + t * 8 + i] = sum;
    }
  }
  x[8192 + t] = sum;
  if (v % 3 == 0) x[8704 + t] = sum + 1;
}

__global__ void nested_exits(int* x) {
  const int t = thread_number(), v = x[t];
  if (v % 2 == 0) {
    if (v % 4 == 0) {
      x[1024 + t] = v;
    } else {
      x[1536 + t] = v;
      if (v >= 0) return;
    }
    x[2048 + t] = v * 3;
  } else {
    x[2560 + t] = x[t + 2];
    if (v % 3 == 0) return;
    x[3072 + t] = 1;
    if (v >= 0) return;
  }
  x[3584 + t] = v;
}

// EXIT with a guard and a condition.
__global__ void exits_by_two(int* x) {
  const int t = thread_number(), v = x[t];
  if (v % 23 < 4 || v % 23 > 20) x[1024 + t] = v + x[t + 1];
  if (v % 23 >= 6 && v % 23 < 12) return;
  x[1536 + t] = v;
}

// The softmax of a row by one block. A BRA.U, which branches if all lanes do, skips the last loop.
__global__ void block_softmax(int* x) {
  __shared__ float s[kThreads], parts[kThreads / 32];
  const auto t = static_cast<int>(threadIdx.x), lane = t % 32;
  const int count = kThreads - 47 + static_cast<int>(blockIdx.x);
  float sum = 0;
  for (int i = t; i < count; i += kThreads) {
    const float value = __expf(static_cast<float>(x[i] & 7));
    s[i] = value;
    sum += value;
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
  if (lane == 0) parts[t / 32] = sum;
  __syncthreads();
  if (lane < kThreads / 32) sum = parts[lane];
  for (int distance = kThreads / 64; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  sum = __shfl_sync(~0u, sum, 0);
  const float scale = __fdividef(1.0F, sum + 1e-6F);
  for (int i = t; i < count; i += kThreads) s[i] *= scale;
  __syncthreads();
  if (t < count) x[1024 + thread_number()] = __float_as_int(s[t]);
}

std::span<const Launch> divergent_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.mandelbrot", [](int* x) { start(mandelbrot, x); }},
      {"micro.collatz", [](int* x) { start(collatz, x); }},
      {"micro.collatz_longest", [](int* x) { start(collatz_longest, x); }},
      {"micro.byte_code", [](int* x) { start(byte_code, x); }},
      {"micro.block_scan", [](int* x) { start(block_scan, x); }},
      {"micro.tree_scan", [](int* x) { start(tree_scan, x); }},
      {"micro.radix_partition", [](int* x) { start(radix_partition, x); }, false},
      {"micro.votes_in_turn", [](int* x) { start(votes_in_turn, x); }},
      {"micro.break_of_two", [](int* x) { start(break_of_two, x); }},
      {"micro.continues", [](int* x) { start(continues, x); }},
      {"micro.return_in_loop", [](int* x) { start(return_in_loop, x); }},
      {"micro.two_tests", [](int* x) { start(two_tests, x); }},
      {"micro.loop_in_branch", [](int* x) { start(loop_in_branch, x); }},
      {"micro.common_divisors", [](int* x) { start(common_divisors, x); }},
      {"micro.searches", [](int* x) { start(searches, x); }},
      {"micro.barriers_in_loop", [](int* x) { start(barriers_in_loop, x); }},
      {"micro.insertion", [](int* x) { start(insertion, x); }},
      {"micro.queens", [](int* x) { start(queens, x); }},
      {"micro.exits_at_once", [](int* x) { start(exits_at_once, x); }},
      {"micro.exits_from_loop", [](int* x) { start(exits_from_loop, x); }},
      {"micro.nested_exits", [](int* x) { start(nested_exits, x); }},
      {"micro.exits_by_two", [](int* x) { start(exits_by_two, x); }},
      {"micro.block_softmax", [](int* x) { start(block_softmax, x); }},
  };
  return kLaunches;
}

}  // namespace micro
