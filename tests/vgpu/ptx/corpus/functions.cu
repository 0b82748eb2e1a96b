// SPDX-License-Identifier: Apache-2.0
// Calls of every kind: not inlined, recursive, through pointers and virtual tables, printf, assert,
// trap, aliases.
#include <cassert>
#include <cstdio>

__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

struct Pair {
  double first;
  int second;
};
__device__ __noinline__ Pair make_pair(double a, int b) { return {a * 2, b + 1}; }
__device__ __noinline__ double sum_pair(Pair p, float weight) {
  return p.first * weight + p.second;
}

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Box : Shape {
  float side = 2;
  __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
  float radius = 1;
  __device__ float area() const override { return 3 * radius * radius; }
};

template <class Operation>
__device__ __noinline__ int apply(Operation operation, int a, int b) {
  return operation(a, b);
}
__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
using Binary = int (*)(int, int);
__device__ Binary operations[] = {add, subtract};
static __device__ __noinline__ void stop() { __trap(); }

__global__ void direct(float* out, int n) {
  out[threadIdx.x] = square(out[threadIdx.x]) + static_cast<float>(factorial(n));
  const Pair p = make_pair(out[0], n);
  out[1] = static_cast<float>(sum_pair(p, out[2]));
  if (n < 0) stop();
}
__global__ void indirect(int* out, int n) {
  out[0] =
      operations[n & 1](out[1], out[2]) + apply([n](int a, int b) { return a * n + b; }, 3, out[3]);
}
__global__ void dispatch(float* out, int n) {
  Box box;
  Disc disc;
  const Shape* shapes[2] = {&box, &disc};
  out[0] = shapes[n & 1]->area();
}
__global__ void complain(const int* in, int n) {
  assert(n > 0 && "a message");
  printf("%d of %s: %f\n", in[threadIdx.x], "many", 1.5);
}
