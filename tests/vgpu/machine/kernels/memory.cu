// SPDX-License-Identifier: Apache-2.0
// State spaces, access sizes, variables of the module.

__constant__ float coefficients[4] = {1.5F, -2.0F, 0.25F, 8.0F};
__constant__ int table[64];
__device__ int counter = 42;
__device__ const char* const words[] = {"one", "two", "three"};
__device__ int* self = &counter;

extern "C" __global__ void constants(float* out, int* looked_up) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = coefficients[i % 4] * static_cast<float>(i);
  looked_up[i] = table[(i * 5) % 64];
}

// Through a generic address of constant memory.
extern "C" __global__ void constant_by_address(const int* other, int use, int* out) {
  const int* const from = use != 0 ? table : other;
  out[threadIdx.x] = from[threadIdx.x];
}

// What the driver says of a launch.
extern "C" __global__ void launch_values(unsigned* out) {
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out[0]));
  asm("mov.u32 %0, %%total_smem_size;" : "=r"(out[1]));
  asm("mov.u32 %0, %%nsmid;" : "=r"(out[2]));
  unsigned long long grid;
  asm("mov.u64 %0, %%gridid;" : "=l"(grid));
  out[3] = static_cast<unsigned>(grid);
}

extern "C" __global__ void permuted(const int* one, const int2* two, const int4* four, int* out) {
  const int i = static_cast<int>(threadIdx.x), from = i * 37 % 32;
  const int a = one[from];
  const int2 b = two[from];
  const int4 c = four[from];
  int* const to = out + 7 * i;
  to[0] = a, to[1] = b.x, to[2] = b.y, to[3] = c.x, to[4] = c.y, to[5] = c.z, to[6] = c.w;
}

extern "C" __global__ void variables(int* out) {
  out[0] = counter;
  out[1] = static_cast<int>(words[2][4]);
  *self = 43;
  out[2] = counter;
}

template <class T>
__device__ void widen(const void* in, void* out) {
  const int i = static_cast<int>(threadIdx.x);
  static_cast<T*>(out)[i] = static_cast<T>(static_cast<const T*>(in)[i] + static_cast<T>(1));
}
extern "C" __global__ void sizes(const void* in, void* out, int which) {
  switch (which) {
    case 0: widen<signed char>(in, out); break;
    case 1: widen<unsigned char>(in, out); break;
    case 2: widen<short>(in, out); break;
    case 3: widen<unsigned short>(in, out); break;
    case 4: widen<int>(in, out); break;
    case 5: widen<long long>(in, out); break;
    case 6: widen<double>(in, out); break;
    default: widen<float>(in, out);
  }
}

extern "C" __global__ void vectors(const float4* in4, const int2* in2, const short4* in8,
                                   const double2* in16, float4* out4, int2* out2, short4* out8,
                                   double2* out16) {
  const int i = static_cast<int>(threadIdx.x);
  const float4 a = in4[i];
  out4[i] = make_float4(a.w, a.z, a.y, a.x);
  const int2 b = in2[i];
  out2[i] = make_int2(b.y, b.x);
  const short4 c = in8[i];
  out8[i] = make_short4(c.y, c.x, c.w, c.z);
  const double2 d = in16[i];
  out16[i] = make_double2(d.y, d.x);
}

// Local memory: an index that the compiler cannot know, different in every lane.
extern "C" __global__ void local_array(const int* index, int* out) {
  int values[16];
  const int i = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 16; ++k) values[k] = k * i;
  values[index[i] & 15] = -1;
  int sum = 0;
  for (int k = 0; k < 16; ++k) sum += values[(k + index[i]) & 15] * (k + 1);
  out[i] = sum;
}
// The same index in all lanes.
extern "C" __global__ void local_rows(const int* order, long long* out) {
  signed char bytes[16];
  unsigned char unsigned_bytes[16];
  short halves[16];
  const int i = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 16; ++k) {
    bytes[order[k]] = static_cast<signed char>(k * 29 + i);
    unsigned_bytes[order[k]] = static_cast<unsigned char>(k * 31 - i);
    halves[order[k]] = static_cast<short>(k * 3001 - i * 7);
  }
  long long sum = 0;
  for (int k = 0; k < 16; ++k)
    sum = sum * 3 + bytes[order[15 - k]] - unsigned_bytes[order[k]] + halves[order[k * 5 & 15]];
  out[i] = sum;
}
extern "C" __global__ void local_bytes(const int* index, long long* out) {
  union {
    unsigned char bytes[32];
    long long words[4];
  } u;
  const int i = static_cast<int>(threadIdx.x);
  for (int k = 0; k < 32; ++k) u.bytes[(k + index[i]) & 31] = static_cast<unsigned char>(k * 7 + i);
  out[i] = u.words[index[i] & 3];
}

__device__ __noinline__ int read(const int* p) { return *p; }
extern "C" __global__ void generic_pointers(const int* in, int* out) {
  __shared__ int shared[64];
  int local[4];
  const int i = static_cast<int>(threadIdx.x);
  shared[i] = 100 + i;
  for (int k = 0; k < 4; ++k) local[k] = 1000 * k + i;
  __syncthreads();
  const int* p = in + i;
  if (i % 3 == 1) p = &shared[(i + 1) % 64];
  if (i % 3 == 2) p = &local[i % 4];
  out[i] = read(p);
  out[64 + i] = (__isShared(p) ? 1 : 0) + (__isLocal(p) ? 2 : 0) + (__isGlobal(p) ? 4 : 0);
}

struct Big {
  int values[40];
  double scale;
};
extern "C" __global__ void parameters(Big big, char c, short s, double* out, const int* index) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = big.values[index[i]] * big.scale + c + s;
}

__device__ __noinline__ int pick(Big b, int i) { return b.values[i]; }
extern "C" __global__ void function_parameters(Big big, int* out) {
  const int i = static_cast<int>(threadIdx.x);
  Big mine = big;
  for (int k = 0; k < 40; ++k) mine.values[k] += i;
  out[i] = pick(mine, i % 40) * 1000 + pick(big, (i + 1) % 40);
}

extern "C" __global__ void copy_2d(const float* in, float* out, int width, int height) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < width && y < height) out[y * width + x] = in[y * width + x] + 1;
}

extern "C" __global__ void two_shared(float* out) {
  __shared__ double wide[8];
  __shared__ char narrow[3];
  extern __shared__ float dynamic[];
  const int i = static_cast<int>(threadIdx.x);
  if (i < 8) wide[i] = i;
  if (i < 3) narrow[i] = static_cast<char>(i);
  dynamic[i] = static_cast<float>(i) * 0.5F;
  __syncthreads();
  out[i] = static_cast<float>(wide[i % 8]) + narrow[i % 3] + dynamic[(i + 1) % blockDim.x];
}
