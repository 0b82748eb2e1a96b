// SPDX-License-Identifier: Apache-2.0
// The return values of cuTensorMapEncodeTiled for valid and invalid arguments, as an H200 has them
// (except for two rules of the documentation that the driver does not check: the map's own
// alignment, and the swizzle of interleave 32B), and the positions at which copies by tensor maps
// store every element, read by plain loads.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "device_array.hpp"
#include "map_copy.cuh"

namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &result));
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
  const auto expect = [&](bool valid, const std::string& what,
                          const std::function<void(Arguments&)>& change) {
    Arguments a;
    a.address = memory;
    change(a);
    CUtensorMap map;
    require(a.encode(&map) == (valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE), what.c_str());
  };
  expect(true, "as it is", [](Arguments&) {});
  for (const unsigned rank : {0u, 1u, 3u, 5u, 6u}) {
    expect(rank >= 1 && rank <= 5, "rank " + std::to_string(rank),
           [&](Arguments& a) { a.rank = rank; });
  }
  for (const int by : {8, 16, 32}) {
    expect(by % 16 == 0, "address + " + std::to_string(by),
           [&](Arguments& a) { a.address = bytes + by; });
  }
  expect(true, "address null", [](Arguments& a) { a.address = nullptr; });
  constexpr std::uint64_t kMostStride = std::uint64_t{1} << 40, kMostSize = std::uint64_t{1} << 32;
  for (const std::uint64_t stride : {std::uint64_t{0}, std::uint64_t{16}, std::uint64_t{24},
                                     std::uint64_t{112}, kMostStride - 16, kMostStride}) {
    expect(stride % 16 == 0 && stride < kMostStride, "globalStrides[0] = " + std::to_string(stride),
           [&](Arguments& a) { a.strides[0] = stride; });
  }
  expect(true, "globalStrides[1] less than [0]",
         [](Arguments& a) { a.rank = 3, a.strides[1] = 64; });
  expect(true, "globalStrides[1] no multiple of [0]",
         [](Arguments& a) { a.rank = 3, a.strides[1] = 8192 + 16; });
  for (const unsigned d : {0u, 1u}) {
    const auto named = [&](const char* argument, std::uint64_t value) {
      return std::string(argument) + "[" + std::to_string(d) + "] = " + std::to_string(value);
    };
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{1}, kMostSize, kMostSize + 1}) {
      expect(size >= 1 && size <= kMostSize, named("globalDim", size),
             [&](Arguments& a) { a.sizes[d] = size; });
    }
    for (const unsigned box : {0u, 1u, 4u, 8u, 12u, 256u, 257u, 264u}) {
      expect(box >= 1 && box <= 256 && (d > 0 || box % 8 == 0), named("boxDim", box),
             [&](Arguments& a) { a.box[d] = box; });
    }
    for (const unsigned step : {0u, 2u, 8u, 9u}) {
      expect(step >= 1 && step <= 8, named("elementStrides", step),
             [&](Arguments& a) { a.steps[d] = step; });
    }
  }
  expect(true, "box of 256 x 256", [](Arguments& a) { a.box[0] = a.box[1] = 256; });
  for (int swizzle = 0; swizzle < 4; ++swizzle) {
    for (const unsigned box : {8u, 16u, 24u, 32u, 64u, 72u}) {
      expect(swizzle == 0 || box * 2 <= 16u << swizzle,
             "swizzle " + std::to_string(swizzle) + ", boxDim[0] = " + std::to_string(box),
             [&](Arguments& a) {
               a.swizzle = static_cast<CUtensorMapSwizzle>(swizzle);
               a.box[0] = box;
             });
    }
  }
  for (int type = 0; type <= 12; ++type) {
    for (int fill = 0; fill < 2; ++fill) {
      expect(fill == 0 || type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
             "type " + std::to_string(type) + ", oobFill " + std::to_string(fill),
             [&](Arguments& a) {
               a.type = static_cast<CUtensorMapDataType>(type);
               a.fill = static_cast<CUtensorMapFloatOOBfill>(fill);
             });
    }
  }
  expect(false, "type 16", [](Arguments& a) { a.type = static_cast<CUtensorMapDataType>(16); });
  expect(false, "swizzle 7", [](Arguments& a) { a.swizzle = static_cast<CUtensorMapSwizzle>(7); });
  expect(false, "l2Promotion 4",
         [](Arguments& a) { a.promotion = static_cast<CUtensorMapL2promotion>(4); });
  expect(false, "oobFill 2",
         [](Arguments& a) { a.fill = static_cast<CUtensorMapFloatOOBfill>(2); });
  expect(false, "interleave 3",
         [](Arguments& a) { a.interleave = static_cast<CUtensorMapInterleave>(3), a.rank = 3; });
  expect(false, "interleave 16B of rank 2",
         [](Arguments& a) { a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B; });
}

// Shared memory after the copy of the box at (x, y) of `bytes` bytes: `reach` bytes, all ones
// before, read by plain loads.
__global__ void load_box(std::uint16_t* out, const __grid_constant__ CUtensorMap map, int x, int y,
                         int bytes, int reach) {
  extern __shared__ __align__(1024) std::uint16_t tile[];
  __shared__ std::uint64_t full;
  for (int i = static_cast<int>(threadIdx.x); i < reach / 2; i += static_cast<int>(blockDim.x))
    tile[i] = 0xffff;
  fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(&full, bytes);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, "
        "%4}], [%2];" ::"r"(address(tile)),
        "l"(&map), "r"(address(&full)), "r"(x), "r"(y)
        : "memory");
  }
  __syncthreads();
  wait(&full);
  for (int i = static_cast<int>(threadIdx.x); i < reach / 2; i += static_cast<int>(blockDim.x))
    out[i] = tile[i];
}

std::vector<std::uint16_t> load(const Arguments& a, int x, int y, int bytes, int reach = 0) {
  CUtensorMap map;
  require(a.encode(&map) == CUDA_SUCCESS, "a tensor map");
  reach = reach == 0 ? bytes : reach;
  const DeviceArray<std::uint16_t> out(static_cast<std::size_t>(reach / 2));
  load_box<<<1, 64, reach>>>(out.get(), map, x, y, bytes, reach);
  return out.read();
}

void swizzles(std::uint16_t* memory) {
  constexpr unsigned kRows = 32;
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
    for (const unsigned width : {8u, 16u, 24u, 32u, 64u}) {
      const unsigned span = 8u << swizzle;
      if (swizzle > 0 && width > span) continue;
      const unsigned pitch = swizzle > 0 ? span : width;
      Arguments a;
      a.address = memory;
      a.swizzle = static_cast<CUtensorMapSwizzle>(swizzle);
      a.box[0] = width;
      a.box[1] = kRows;
      std::vector<std::uint16_t> expected(pitch * kRows, 0xffff);
      for (unsigned row = 0; row < kRows; ++row) {
        for (unsigned col = 0; col < width; ++col) {
          expected[place_of(a.swizzle, width, row, col)] =
              static_cast<std::uint16_t>((16 + row) * 64 + col);
        }
      }
      require(load(a, 0, 16, static_cast<int>(width * kRows * 2),
                   static_cast<int>(pitch * kRows * 2)) == expected,
              ("swizzle " + std::to_string(swizzle) + ", " + std::to_string(width) + " elements")
                  .c_str());
    }
  }
}

// Single-precision bits through maps of each 32-bit type: those of TF32 round.
void values() {
  const std::vector<std::uint32_t> bits = {0x3f801fff, 0x3f801000, 0x3f803000, 0x00000001,
                                           0x007fffff, 0x80000400, 0x7f801234, 0x7f7fffff};
  const std::vector<std::uint32_t> rounded = {0x3f802000, 0x3f800000, 0x3f804000, 0x00000000,
                                              0x00800000, 0x80000000, 0x7fffe000, 0x7f800000};
  const DeviceArray<std::uint32_t> memory(bits);
  for (const CUtensorMapDataType type :
       {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ}) {
    Arguments a;
    a.address = memory.get();
    a.type = type;
    a.sizes[0] = a.box[0] = 8;
    a.sizes[1] = a.box[1] = 1;
    const auto box = load(a, 0, 0, 32);
    const bool rounds = type >= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    require(std::memcmp(box.data(), (rounds ? rounded : bits).data(), 32) == 0,
            ("type " + std::to_string(type)).c_str());
  }
}

}  // namespace

int main() {
  std::vector<std::uint16_t> numbers(1 << 19);
  for (std::size_t i = 0; i < 64 * 64; ++i) numbers[i] = static_cast<std::uint16_t>(i);
  const DeviceArray<std::uint16_t> memory(numbers);
  rules(memory.get());
  swizzles(memory.get());
  values();
}
