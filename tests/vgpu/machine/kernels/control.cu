// SPDX-License-Identifier: Apache-2.0
// Divergence: loops of different length, nested branches, early exits, switches, calls.

extern "C" __global__ void collatz(const unsigned* start, unsigned* steps) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned n = start[i], count = 0;
  while (n != 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++count;
  }
  steps[i] = count;
}

extern "C" __global__ void nested(const int* in, int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int sum = 0;
  for (int k = 0; k < in[i] % 7; ++k) {
    if ((i + k) % 3 == 0) {
      for (int j = 0; j < k; ++j) {
        if (j == 3) break;
        sum += j * i;
      }
    } else if ((i + k) % 3 == 1) {
      if (k == 4) continue;
      sum -= k;
    } else {
      sum ^= k;
      if (sum > 3000) return;
    }
    sum += 1000;
  }
  out[i] = sum;
}

extern "C" __global__ void choose(const int* in, int* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int v = in[i];
  switch (v & 15) {
    case 0: v += 5; break;
    case 1: v *= 3; break;
    case 2: v ^= 0x55; [[fallthrough]];
    case 3: v -= 7; break;
    case 4: v = -v; break;
    case 5: v <<= 2; break;
    case 6: v >>= 1; break;
    case 7: v |= 0x100; break;
    case 8: v = v * v; break;
    case 9: v = 1; break;
    case 10: v = ~v; break;
    case 11: v += i; break;
    default: v = 0;
  }
  out[i] = v;
}

// A table for brx.idx, whatever the compiler makes of a switch.
extern "C" __global__ void jump(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned v;
  asm volatile(
      "{\n"
      "  table: .branchtargets A, B, C, D;\n"
      "  brx.idx %1, table;\n"
      "  A: mov.u32 %0, 10; bra.uni E;\n"
      "  B: mov.u32 %0, 21; bra.uni E;\n"
      "  C: mov.u32 %0, 32; bra.uni E;\n"
      "  D: mov.u32 %0, 43;\n"
      "  E:\n"
      "}\n"
      : "=r"(v)
      : "r"(in[i]));
  out[i] = v;
}

__device__ __noinline__ unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recursive(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = fibonacci(in[i]);
}

// Recursion with an array in each activation.
__device__ __noinline__ int permutations(int n, int depth) {
  int seen[8];
  for (int k = 0; k < n; ++k) seen[k] = k * depth;
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += seen[(k + depth) % n] + permutations(n - 1, depth + 1);
  return sum;
}
extern "C" __global__ void recursive_array(int* out) {
  out[threadIdx.x] = permutations(static_cast<int>(threadIdx.x % 6), 1);
}

struct Pair {
  double value;
  int count;
  char name[3];
};
__device__ __noinline__ Pair twice(Pair p, int by) {
  p.value *= 2;
  p.count += by;
  p.name[2] = static_cast<char>(p.name[0] + p.name[1]);
  return p;
}
extern "C" __global__ void structs(Pair* pairs) {
  Pair p = pairs[threadIdx.x];
  if (threadIdx.x % 3 != 0) p = twice(p, static_cast<int>(threadIdx.x));
  pairs[threadIdx.x] = p;
}

__device__ int add_one(int v) { return v + 1; }
__device__ int square(int v) { return v * v; }
__device__ int negate(int v) { return -v; }
using Function = int (*)(int);
__device__ Function functions[] = {add_one, square, negate};
extern "C" __global__ void pointers(const int* in, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = functions[in[i] % 3](in[i]);
}
extern "C" __global__ void bad_pointer(const Function* f, int* out) { out[threadIdx.x] = (*f)(1); }

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius;
  __device__ explicit Disc(float r) : radius(r) {}
  __device__ float area() const override { return 3 * radius * radius; }
};
extern "C" __global__ void virtual_calls(float* out) {
  const Square s(static_cast<float>(threadIdx.x));
  const Disc d(static_cast<float>(threadIdx.x));
  const Shape* const shape = threadIdx.x % 2 == 0 ? static_cast<const Shape*>(&s) : &d;
  out[threadIdx.x] = shape->area();
}

extern "C" __global__ void spin_within_warp(int* lock, int* counter) {
  // Each lane of a warp takes the lock once.
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *counter += 1;
  __threadfence();
  atomicExch(lock, 0);
}

// A rotated word plus another, and an address of 64 bits: LEA.HI of machine code.
extern "C" __global__ void add_rotated(const unsigned* in, const unsigned* other, unsigned* out) {
  const unsigned i = threadIdx.x, a = in[i], b = other[i];
  out[i] = __funnelshift_l(a, a, 7) + b;
  out[32 + i] = __funnelshift_l(b, b, 31) - a;
  out[64 + i] = __funnelshift_l(a, b, 12) + a;
  const long long far = (static_cast<long long>(static_cast<int>(a)) << 3) + 5;
  out[96 + i] = static_cast<unsigned>(far >> 32) + static_cast<unsigned>(far);
}
