// SPDX-License-Identifier: Apache-2.0
// Results of tensor cores, bit for bit, and the addresses that wgmma reads by descriptor. The
// program prints one line per instruction and kind of input, with a hash of the result's bits for
// each seed (with --bits also the bits). tensor_cores.h200.txt has an H200's lines, written by
// bench/h200/numerics.sh; the virtual GPU must print the same.
#include "../vgpu/programs/device_array.hpp"
#include "tensor_inputs.hpp"

#include <cuda_bf16.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace tensor_inputs;

constexpr int kThreads = 128;
template <Op kOp>
constexpr int kRegisters = registers_of(kOp);

// The suffix after m64n8, and the operands after scale-d.
template <Op kOp>
struct Spelling;
template <>
struct Spelling<Op::kBf16> {
  static constexpr char kName[] = "k16.f32.bf16.bf16", kTail[] = "1, 1, 0, 0",
                        kMma[] = "k16.row.col.f32.bf16.bf16.f32";
};
template <>
struct Spelling<Op::kF16> {
  static constexpr char kName[] = "k16.f32.f16.f16", kTail[] = "1, 1, 0, 0",
                        kMma[] = "k16.row.col.f32.f16.f16.f32";
};
template <>
struct Spelling<Op::kF16ToF16> {
  static constexpr char kName[] = "k16.f16.f16.f16", kTail[] = "1, 1, 0, 0",
                        kMma[] = "k16.row.col.f16.f16.f16.f16";
};
template <>
struct Spelling<Op::kTf32> {
  static constexpr char kName[] = "k8.f32.tf32.tf32", kTail[] = "1, 1",
                        kMma[] = "k8.row.col.f32.tf32.tf32.f32";
};
template <>
struct Spelling<Op::kE4m3> {
  static constexpr char kName[] = "k32.f32.e4m3.e4m3", kTail[] = "1, 1";
};
template <>
struct Spelling<Op::kE5m2> {
  static constexpr char kName[] = "k32.f32.e5m2.e5m2", kTail[] = "1, 1";
};
template <>
struct Spelling<Op::kE4m3E5m2> {
  static constexpr char kName[] = "k32.f32.e4m3.e5m2", kTail[] = "1, 1";
};
template <>
struct Spelling<Op::kE4m3ToF16> {
  static constexpr char kName[] = "k32.f16.e4m3.e4m3", kTail[] = "1, 1";
};

__device__ u64 descriptor(const void* at, u32 leading, u32 stride) {
  const u32 start = static_cast<u32>(__cvta_generic_to_shared(at));
  return (start & 0x3FFFF) >> 4 | static_cast<u64>(leading >> 4) << 16 |
         static_cast<u64>(stride >> 4) << 32;
}

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void finish() {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// D of 8 columns += A B.
template <Op kOp>
__device__ void wgmma(u32 (&d)[4], u64 a, u64 b) {
  fence();
  if constexpr (kRegisters<kOp> == 4) {
    asm volatile(
        "{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8%6 {%0, %1, %2, "
        "%3}, %4, %5, "
        "p, %7; }"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "l"(a), "l"(b), "C"(Spelling<kOp>::kName), "C"(Spelling<kOp>::kTail)
        : "memory");
  } else {
    asm volatile(
        "{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n8%4 {%0, %1}, %2, "
        "%3, p, %5; }"
        : "+r"(d[0]), "+r"(d[1])
        : "l"(a), "l"(b), "C"(Spelling<kOp>::kName), "C"(Spelling<kOp>::kTail)
        : "memory");
  }
  finish();
  for (u32& value : d) asm volatile("" : "+r"(value)::"memory");
}

// The same by mma.sync, one warp at a time. A thread holds 32-bit words t and t + 4 of row g,
// whatever the type.
template <Op kOp>
__device__ void mma(u32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  if constexpr (kRegisters<kOp> == 4) {
    asm volatile(
        "mma.sync.aligned.m16n8%10 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
          "C"(Spelling<kOp>::kMma));
  } else {
    asm volatile("mma.sync.aligned.m16n8%8 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                   "C"(Spelling<kOp>::kMma));
  }
}

// One block per seed. Rows of A and columns of B are rows of 32 bytes along k. wgmma reads them
// without a swizzle: 8 rows of 16 bytes together, then their other halves.
template <Op kOp, bool kByWarp>
__global__ void __launch_bounds__(kThreads) product(const u8* gA, const u8* gB, u32* gD) {
  __shared__ alignas(1024) u8 a[kM * kLine], b[kN * kLine];
  const int tid = static_cast<int>(threadIdx.x), lane = tid % 32, g = lane / 4, t = lane % 4;
  gA += blockIdx.x * kM * kLine;
  gB += blockIdx.x * kN * kLine;
  gD += (blockIdx.x * kThreads + threadIdx.x) * kRegisters<kOp>;
  u32 d[4] = {};
  for (int r = 0; r < kRegisters<kOp>; ++r) d[r] = gD[r];
  if constexpr (kByWarp) {
    const auto word = [](const u8* line, int at) { return reinterpret_cast<const u32*>(line)[at]; };
    const u8 *top = gA + (tid / 32 * 16 + g) * kLine, *bottom = top + 8 * kLine,
             *column = gB + g * kLine;
    mma<kOp>(d, {word(top, t), word(bottom, t), word(top, t + 4), word(bottom, t + 4)},
             {word(column, t), word(column, t + 4)});
  } else {
    const auto place = [](int i) {
      return i / kLine / 8 * 256 + i % kLine / 16 * 128 + i / kLine % 8 * 16 + i % 16;
    };
    for (int i = tid; i < kM * kLine; i += kThreads) a[place(i)] = gA[i];
    for (int i = tid; i < kN * kLine; i += kThreads) b[place(i)] = gB[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    wgmma<kOp>(d, descriptor(a, 128, 256), descriptor(b, 128, 256));
  }
  for (int r = 0; r < kRegisters<kOp>; ++r) gD[r] = d[r];
}

// Operand addresses: m64n64k16 in bf16 on shared memory filled with small integers, by arbitrary
// descriptors.
template <int kDirections>
__global__ void __launch_bounds__(kThreads) placed(const u64* gDescriptors, float* gD) {
  extern __shared__ __align__(1024) u8 memory[];
  for (u32 i = threadIdx.x; i < kPlacedBytes / 2; i += kThreads) {
    const int number = static_cast<int>((i * 2654435761U >> 13) % 9) - 4;
    reinterpret_cast<__nv_bfloat16*>(memory)[i] = __float2bfloat16(static_cast<float>(number));
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const u64 base = descriptor(memory, 0, 0);
  const u64 a = gDescriptors[2 * blockIdx.x] + base, b = gDescriptors[2 * blockIdx.x + 1] + base;
  float d[32];
  fence();
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "
      "%20, %21, "
      "%22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, %34, %35; }"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]),
        "=f"(d[7]), "=f"(d[8]), "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]),
        "=f"(d[14]), "=f"(d[15]), "=f"(d[16]), "=f"(d[17]), "=f"(d[18]), "=f"(d[19]), "=f"(d[20]),
        "=f"(d[21]), "=f"(d[22]), "=f"(d[23]), "=f"(d[24]), "=f"(d[25]), "=f"(d[26]), "=f"(d[27]),
        "=f"(d[28]), "=f"(d[29]), "=f"(d[30]), "=f"(d[31])
      : "l"(a), "l"(b), "n"(kDirections & 1), "n"(kDirections >> 1)
      : "memory");
  finish();
  for (float& value : d) asm volatile("" : "+f"(value)::"memory");
  for (int r = 0; r < 32; ++r) gD[(blockIdx.x * kThreads + threadIdx.x) * 32 + r] = d[r];
}

u64 hash(const u32* values, std::size_t count) {  // FNV-1a over 32-bit words
  u64 state = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < count; ++i) state = (state ^ values[i]) * 0x100000001b3;
  return state;
}

// The results of consecutive seeds, `each` registers per seed.
void print(const std::string& name, const char* kind, const u32* values, std::size_t each,
           int seeds, bool bits) {
  std::printf("%s,%s", name.c_str(), kind);
  for (int seed = 0; seed < seeds; ++seed, values += each) {
    std::printf("%c%016llx", seed == 0 ? ',' : ' ',
                static_cast<unsigned long long>(hash(values, each)));
    for (std::size_t i = 0; bits && i < each; ++i) std::printf(" %08x", values[i]);
  }
  std::printf("\n");
}

template <Op kOp, bool kByWarp>
void run(int seeds, bool bits) {
  for (int kind = 0; kind < kKinds; ++kind) {
    std::vector<u8> a, b;
    std::vector<u32> d;
    for (int seed = 0; seed < seeds; ++seed) append_inputs(kOp, kind, seed, a, b, d);
    const DeviceArray<u8> gA(a), gB(b);
    const DeviceArray<u32> gD(d);
    product<kOp, kByWarp><<<seeds, kThreads>>>(gA.get(), gB.get(), gD.get());
    require(cudaGetLastError(), "launch");
    const std::vector<u32> result = gD.read();
    print(std::string(kByWarp ? "mma." : "wgmma.") + name_of(kOp), kKindNames[kind], result.data(),
          kThreads * kRegisters<kOp>, seeds, bits);
  }
}

template <int kDirections>
void run_placed(bool bits) {
  const std::vector<Placement> placements = placements_of(kDirections);
  std::vector<u64> descriptors;
  for (const Placement& p : placements) {
    descriptors.push_back(p.a);
    descriptors.push_back(p.b);
  }
  const std::size_t each = kThreads * 32;
  const DeviceArray<u64> gDescriptors(descriptors);
  const DeviceArray<float> gD(placements.size() * each);
  require(cudaFuncSetAttribute(placed<kDirections>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kPlacedBytes),
          "shared memory");
  placed<kDirections><<<static_cast<unsigned>(placements.size()), kThreads, kPlacedBytes>>>(
      gDescriptors.get(), gD.get());
  require(cudaGetLastError(), "launch");
  const std::vector<float> result = gD.read();
  for (std::size_t i = 0, next; i < placements.size(); i = next) {
    for (next = i + 1; next < placements.size() && placements[next].name == placements[i].name;)
      ++next;
    print("place", placements[i].name.c_str(),
          reinterpret_cast<const u32*>(result.data() + i * each), each, static_cast<int>(next - i),
          bits);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const bool bits = count > 1 && std::string_view(arguments[1]) == "--bits";
  const int seeds = count > 2 ? std::atoi(arguments[2]) : 16;
  run<Op::kBf16, false>(seeds, bits);
  run<Op::kF16, false>(seeds, bits);
  run<Op::kF16ToF16, false>(seeds, bits);
  run<Op::kTf32, false>(seeds, bits);
  run<Op::kE4m3, false>(seeds, bits);
  run<Op::kE5m2, false>(seeds, bits);
  run<Op::kE4m3E5m2, false>(seeds, bits);
  run<Op::kE4m3ToF16, false>(seeds, bits);
  run<Op::kBf16, true>(seeds, bits);
  run<Op::kF16, true>(seeds, bits);
  run<Op::kF16ToF16, true>(seeds, bits);
  run<Op::kTf32, true>(seeds, bits);
  run_placed<0>(bits);
  run_placed<1>(bits);
  run_placed<2>(bits);
  run_placed<3>(bits);
  return 0;
}
