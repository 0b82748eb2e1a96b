// SPDX-License-Identifier: Apache-2.0
// Prints the return values of cuTensorMapEncodeTiled for valid and invalid arguments (except for
// two rules of the documentation that the driver does not check: the map's own alignment, and the
// swizzle of interleave 32B), and the positions at which copies by tensor maps store every element,
// read by plain loads. tensor_maps.h200 is the output on an H200; the virtual GPU must print the
// same.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "require.hpp"

namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &result),
          "encoder");
  return reinterpret_cast<Encode>(found);
}

// The arguments of one call; valid until something is changed.
struct Arguments {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
  unsigned rank = 2;
  void* address = nullptr;
  std::uint64_t sizes[5] = {64, 64, 4, 4, 4}, strides[4] = {128, 8192, 32768, 131072};
  unsigned box[5] = {16, 8, 1, 1, 1}, steps[5] = {1, 1, 1, 1, 1};
  CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;

  CUresult encode(CUtensorMap* map) const {
    static const Encode kEncode = encoder();
    return kEncode(map, type, rank, address, reinterpret_cast<const cuuint64_t*>(sizes),
                   reinterpret_cast<const cuuint64_t*>(strides), box, steps, interleave, swizzle,
                   promotion, fill);
  }
};

void rules(void* memory) {
  char* const bytes = static_cast<char*>(memory);
  const auto show = [&](const char* what, const std::function<void(Arguments&)>& change) {
    Arguments a;
    a.address = memory;
    change(a);
    CUtensorMap map;
    std::printf("%-46s %d\n", what, static_cast<int>(a.encode(&map)));
  };
  show("as it is", [](Arguments&) {});
  for (unsigned rank : {0u, 1u, 3u, 5u, 6u})
    show(("rank " + std::to_string(rank)).c_str(), [&](Arguments& a) { a.rank = rank; });
  for (int by : {8, 16, 32}) {
    show(("address + " + std::to_string(by)).c_str(),
         [&](Arguments& a) { a.address = bytes + by; });
  }
  show("address null", [](Arguments& a) { a.address = nullptr; });
  for (std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 1}) {
    show(("globalDim[0] = " + std::to_string(size)).c_str(),
         [&](Arguments& a) { a.sizes[0] = size; });
    show(("globalDim[1] = " + std::to_string(size)).c_str(),
         [&](Arguments& a) { a.sizes[1] = size; });
  }
  for (std::uint64_t stride :
       {std::uint64_t{0}, std::uint64_t{16}, std::uint64_t{24}, std::uint64_t{112},
        (std::uint64_t{1} << 40) - 16, std::uint64_t{1} << 40}) {
    show(("globalStrides[0] = " + std::to_string(stride)).c_str(),
         [&](Arguments& a) { a.strides[0] = stride; });
  }
  show("globalStrides[1] less than [0]", [](Arguments& a) { a.rank = 3, a.strides[1] = 64; });
  show("globalStrides[1] no multiple of [0]",
       [](Arguments& a) { a.rank = 3, a.strides[1] = 8192 + 16; });
  for (unsigned box : {0u, 1u, 4u, 8u, 12u, 256u, 257u, 264u}) {
    show(("boxDim[0] = " + std::to_string(box)).c_str(), [&](Arguments& a) { a.box[0] = box; });
    show(("boxDim[1] = " + std::to_string(box)).c_str(), [&](Arguments& a) { a.box[1] = box; });
  }
  show("box of 256 x 256", [](Arguments& a) { a.box[0] = a.box[1] = 256; });
  for (unsigned step : {0u, 2u, 8u, 9u}) {
    show(("elementStrides[0] = " + std::to_string(step)).c_str(),
         [&](Arguments& a) { a.steps[0] = step; });
    show(("elementStrides[1] = " + std::to_string(step)).c_str(),
         [&](Arguments& a) { a.steps[1] = step; });
  }
  for (int swizzle = 0; swizzle < 4; ++swizzle) {
    for (unsigned box : {8u, 16u, 24u, 32u, 64u, 72u}) {
      show(("swizzle " + std::to_string(swizzle) + ", boxDim[0] = " + std::to_string(box)).c_str(),
           [&](Arguments& a) {
             a.swizzle = static_cast<CUtensorMapSwizzle>(swizzle);
             a.box[0] = box;
           });
    }
  }
  for (int type = 0; type <= 12; ++type) {
    for (int fill = 0; fill < 2; ++fill) {
      show(("type " + std::to_string(type) + ", oobFill " + std::to_string(fill)).c_str(),
           [&](Arguments& a) {
             a.type = static_cast<CUtensorMapDataType>(type);
             a.fill = static_cast<CUtensorMapFloatOOBfill>(fill);
           });
    }
  }
  show("type 16", [](Arguments& a) { a.type = static_cast<CUtensorMapDataType>(16); });
  show("swizzle 7", [](Arguments& a) { a.swizzle = static_cast<CUtensorMapSwizzle>(7); });
  show("l2Promotion 4", [](Arguments& a) { a.promotion = static_cast<CUtensorMapL2promotion>(4); });
  show("oobFill 2", [](Arguments& a) { a.fill = static_cast<CUtensorMapFloatOOBfill>(2); });
  show("interleave 3",
       [](Arguments& a) { a.interleave = static_cast<CUtensorMapInterleave>(3), a.rank = 3; });
  show("interleave 16B of rank 2",
       [](Arguments& a) { a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
}

__device__ unsigned address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

// Shared memory after the copy of the box at (x, y) of `bytes` bytes: `reach` bytes, all ones
// before, read by plain loads.
__global__ void load_box(std::uint16_t* out, const __grid_constant__ CUtensorMap map, int x, int y,
                         int bytes, int reach) {
  extern __shared__ __align__(1024) std::uint16_t tile[];
  __shared__ std::uint64_t full;
  for (int i = static_cast<int>(threadIdx.x); i < reach / 2; i += static_cast<int>(blockDim.x))
    tile[i] = 0xffff;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&full)),
                 "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, "
        "%4}], [%2];" ::"r"(address(tile)),
        "l"(&map), "r"(address(&full)), "r"(x), "r"(y)
        : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, "
        "p; }"
        : "=r"(done)
        : "r"(address(&full))
        : "memory");
  }
  for (int i = static_cast<int>(threadIdx.x); i < reach / 2; i += static_cast<int>(blockDim.x))
    out[i] = tile[i];
}

std::vector<std::uint16_t> load(const Arguments& a, int x, int y, int bytes, int reach = 0) {
  CUtensorMap map;
  if (a.encode(&map) != CUDA_SUCCESS) return {};
  reach = reach == 0 ? bytes : reach;
  std::uint16_t* out = nullptr;
  require(cudaMalloc(&out, static_cast<std::size_t>(reach)), "cudaMalloc");
  load_box<<<1, 64, reach>>>(out, map, x, y, bytes, reach);
  std::vector<std::uint16_t> box(static_cast<std::size_t>(reach / 2));
  require(cudaMemcpy(box.data(), out, static_cast<std::size_t>(reach), cudaMemcpyDeviceToHost),
          "load_box");
  cudaFree(out);
  return box;
}

// Every element must be where the formula says: rows one after the other, with a swizzle at a
// distance of its span; the number of a 16-byte chunk in the span XOR the number of its 128 bytes.
void swizzles(std::uint16_t* memory) {
  constexpr unsigned kRows = 32;
  const unsigned chunks[] = {1, 2, 4, 8};
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
    const unsigned span = chunks[swizzle] * 16;
    for (unsigned width : {8u, 16u, 24u, 32u, 64u}) {
      if (swizzle > 0 && width * 2 > span) continue;
      const unsigned pitch = swizzle > 0 ? span : width * 2;
      Arguments a;
      a.address = memory;
      a.swizzle = static_cast<CUtensorMapSwizzle>(swizzle);
      a.box[0] = width;
      a.box[1] = kRows;
      const auto box =
          load(a, 0, 16, static_cast<int>(width * kRows * 2), static_cast<int>(pitch * kRows));
      std::vector<std::uint16_t> expected(box.size(), 0xffff);
      for (unsigned row = 0; row < kRows; ++row) {
        for (unsigned col = 0; col < width; ++col) {
          const unsigned byte = row * pitch + col * 2;
          expected[(byte ^ (byte / 128 % chunks[swizzle] * 16)) / 2] =
              static_cast<std::uint16_t>((16 + row) * 64 + col);
        }
      }
      int wrong = 0;
      for (std::size_t i = 0; i < box.size(); ++i) wrong += box[i] != expected[i] ? 1 : 0;
      std::printf(
          "swizzle %u, lines of %3u bytes: %d of %zu elements are not where they should be; chunks",
          swizzle, width * 2, wrong, box.size());
      for (std::size_t i = 0; i < 16; ++i)
        std::printf(" %d", static_cast<int>(static_cast<std::int16_t>(box[i * 8])));
      std::printf("\n");
    }
  }
}

// Single-precision bits through maps of each 32-bit type.
void values() {
  const std::uint32_t bits[] = {0x3f801fff, 0x3f801000, 0x3f803000, 0x00000001,
                                0x007fffff, 0x80000400, 0x7f801234, 0x7f7fffff};
  void* memory = nullptr;
  require(cudaMalloc(&memory, 4096), "cudaMalloc");
  require(cudaMemcpy(memory, bits, sizeof bits, cudaMemcpyHostToDevice), "cudaMemcpy");
  for (int type : {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
                   CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ}) {
    Arguments a;
    a.address = memory;
    a.type = static_cast<CUtensorMapDataType>(type);
    a.sizes[0] = 8;
    a.sizes[1] = 1;
    a.box[0] = 8;
    a.box[1] = 1;
    const auto box = load(a, 0, 0, 32);
    std::printf("type %2d loads", type);
    for (unsigned i = 0; i + 1 < box.size(); i += 2)
      std::printf(" %04x%04x", static_cast<unsigned>(box[i + 1]), static_cast<unsigned>(box[i]));
    std::printf("\n");
  }
  cudaFree(memory);
}

}  // namespace

int main() {
  std::vector<std::uint16_t> numbers(64 * 64);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i);
  std::uint16_t* memory = nullptr;
  require(cudaMalloc(&memory, 1 << 20), "cudaMalloc");
  require(cudaMemset(memory, 0, 1 << 20), "cudaMemset");
  require(cudaMemcpy(memory, numbers.data(), numbers.size() * 2, cudaMemcpyHostToDevice),
          "cudaMemcpy");
  rules(memory);
  swizzles(memory);
  values();
  cudaFree(memory);
}
