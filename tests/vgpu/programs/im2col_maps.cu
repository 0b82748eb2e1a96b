// SPDX-License-Identifier: Apache-2.0
// Copies by tensor maps in im2col mode, of images of one to three dimensions: what loads put into
// shared memory must be the columns of a convolution, computed here from their definition (pixel p
// of a column is the one at a filter's element p places after the first, in the order of width,
// height, depth, images); stores must undo them. The rules of cuTensorMapEncodeIm2col. Ends with 1
// if anything differs; the same on hardware and on the virtual GPU.
#include <cuda.h>
#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

int failures = 0;

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  std::exit(1);
}

using Encode = decltype(&cuTensorMapEncodeIm2col);
using Offsets = std::array<int, 3>;  // width, height, depth

Encode encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &found, 12000,
                                           cudaEnableDefault, &result),
          "encoder");
  return reinterpret_cast<Encode>(found);
}

// A batch of images and the box of a filter: `images` of `sizes` pixels of `channels` channels. The
// filter's first element is `lower` pixels from a pixel, its last one reaches `upper` beyond.
struct Convolution {
  unsigned dimensions = 2;
  unsigned channels = 16, images = 3;
  std::array<unsigned, 3> sizes{7, 5, 3}, steps{1, 1, 1};
  Offsets lower{-1, -1, -1}, upper{-1, -1, -1};
  unsigned channels_per_pixel = 16, pixels_per_column = 32;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;

  unsigned rank() const { return dimensions + 2; }
  std::size_t elements() const {
    std::size_t count = std::size_t{channels} * images;
    for (unsigned d = 0; d < dimensions; ++d) count *= sizes[d];
    return count;
  }
  // Places of the filter along a dimension.
  int places(unsigned d) const {
    const int reach = static_cast<int>(sizes[d]) + upper[d] - lower[d];
    return (reach + static_cast<int>(steps[d]) - 1) / static_cast<int>(steps[d]);
  }
  CUresult encode(CUtensorMap* map, void* memory) const {
    static const Encode kEncode = encoder();
    cuuint64_t extents[5] = {channels}, strides[4] = {};
    cuuint32_t traversal[5] = {1, 1, 1, 1, 1};
    cuuint64_t bytes = channels * sizeof(std::uint16_t);
    for (unsigned d = 0; d < dimensions; ++d) {
      extents[d + 1] = sizes[d];
      traversal[d + 1] = steps[d];
      strides[d] = bytes;
      bytes *= sizes[d];
    }
    extents[dimensions + 1] = images;
    strides[dimensions] = bytes;
    return kEncode(map, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank(), memory, extents, strides,
                   lower.data(), upper.data(), channels_per_pixel, pixels_per_column, traversal,
                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                   CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  }
};

// A column begins at channel `channel` and at place number `place`; `filter`: the element of the
// filter.
struct Column {
  int channel = 0, place = 0;
  Offsets filter{};
};
struct Coordinates {
  int at[5];
  unsigned short offsets[3];
};

// The coordinates of a filter's place, without the filter's element.
Coordinates coordinates(const Convolution& c, const Column& column, int place) {
  Coordinates to{};
  to.at[0] = column.channel;
  for (unsigned d = 0; d < c.dimensions; ++d) {
    to.at[d + 1] = c.lower[d] + place % c.places(d) * static_cast<int>(c.steps[d]);
    to.offsets[d] = static_cast<unsigned short>(column.filter[d]);
    place /= c.places(d);
  }
  to.at[c.dimensions + 1] = place;
  return to;
}

// The element of the tensor that a column's pixel has; -1: outside.
long element(const Convolution& c, const Column& column, int pixel, int channel) {
  const Coordinates from = coordinates(c, column, column.place + pixel);
  long index = from.at[c.dimensions + 1];
  if (index < 0 || index >= static_cast<long>(c.images)) return -1;
  for (unsigned d = c.dimensions; d-- > 0;) {
    const int at = from.at[d + 1] + column.filter[d];
    if (at < 0 || at >= static_cast<int>(c.sizes[d])) return -1;
    index = index * static_cast<long>(c.sizes[d]) + at;
  }
  if (column.channel + channel >= static_cast<int>(c.channels)) return -1;
  return index * static_cast<long>(c.channels) + column.channel + channel;
}

__device__ unsigned address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

#define LOAD(dimensions, where, of, ...)                                                        \
  asm volatile("cp.async.bulk.tensor." dimensions                                               \
               ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {" where \
               "}], [%2], {" of "};" ::"r"(address(tile)),                                      \
               "l"(&map), "r"(address(&full)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]),        \
               __VA_ARGS__                                                                      \
               : "memory")
#define STORE(dimensions, where, ...)                                                  \
  asm volatile("cp.async.bulk.tensor." dimensions                                      \
               ".global.shared::cta.im2col_no_offs.bulk_group [%0, {" where            \
               "}], [%1];" ::"l"(&map),                                                \
               "r"(address(tile)), "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2])__VA_ARGS__ \
               : "memory")

// Loads a column to `out`, as shared memory has it, or stores `out` with no filter's element.
__global__ void copy(std::uint16_t* out, const __grid_constant__ CUtensorMap map, unsigned rank,
                     Coordinates c, int bytes, int reach, bool stores) {
  extern __shared__ __align__(1024) std::uint16_t tile[];
  __shared__ std::uint64_t full;
  const int t = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  for (int i = t; i < reach / 2; i += step) tile[i] = stores ? out[i] : 0xffff;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (stores) {
    if (t != 0) return;
    if (rank == 3)
      STORE("3d", "%2, %3, %4", );
    else if (rank == 4)
      STORE("4d", "%2, %3, %4, %5", , "r"(c.at[3]));
    else
      STORE("5d", "%2, %3, %4, %5, %6", , "r"(c.at[3]), "r"(c.at[4]));
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    return;
  }
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&full)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&full)),
                 "r"(bytes)
                 : "memory");
    if (rank == 3)
      LOAD("3d", "%3, %4, %5", "%6", "h"(c.offsets[0]));
    else if (rank == 4)
      LOAD("4d", "%3, %4, %5, %6", "%7, %8", "r"(c.at[3]), "h"(c.offsets[0]), "h"(c.offsets[1]));
    else
      LOAD("5d", "%3, %4, %5, %6, %7", "%8, %9, %10", "r"(c.at[3]), "r"(c.at[4]), "h"(c.offsets[0]),
           "h"(c.offsets[1]), "h"(c.offsets[2]));
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
  for (int i = t; i < reach / 2; i += step) out[i] = tile[i];
}

// The place of a pixel's channel in shared memory.
unsigned place_of(const Convolution& c, unsigned pixel, unsigned channel) {
  const unsigned chunks[] = {1, 2, 4, 8};
  const unsigned pitch = c.swizzle == 0 ? c.channels_per_pixel * 2 : chunks[c.swizzle] * 16;
  const unsigned byte = pixel * pitch + channel * 2;
  return (byte ^ (byte / 128 % chunks[c.swizzle] * 16)) / 2;
}

void check(const char* what, const Convolution& c, const Column& column) {
  std::uint16_t *tensor = nullptr, *out = nullptr;
  const std::size_t bytes = c.elements() * sizeof(std::uint16_t);
  const unsigned area = place_of(c, c.pixels_per_column, 0) + 512;  // the last pixel's chunks move
  const int reach = static_cast<int>(area * 2);
  require(cudaMalloc(&tensor, bytes), "cudaMalloc");
  require(cudaMalloc(&out, static_cast<std::size_t>(reach)), "cudaMalloc");
  std::vector<std::uint16_t> numbers(c.elements()), got(area);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i + 1);
  require(cudaMemcpy(tensor, numbers.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  CUtensorMap map;
  const CUresult encoded = c.encode(&map, tensor);
  int wrong = encoded == CUDA_SUCCESS ? 0 : 1, undone = 0, inside = 0;
  if (wrong == 0) {
    const int copied = static_cast<int>(c.channels_per_pixel * c.pixels_per_column * 2);
    const Coordinates at = coordinates(c, column, column.place);
    copy<<<1, 64, reach>>>(out, map, c.rank(), at, copied, reach, false);
    require(cudaMemcpy(got.data(), out, static_cast<std::size_t>(reach), cudaMemcpyDeviceToHost),
            "load");
    Column plain = column;
    plain.filter = {};
    std::vector<std::uint16_t> stored(c.elements());
    for (unsigned p = 0; p < c.pixels_per_column; ++p) {
      for (unsigned channel = 0; channel < c.channels_per_pixel; ++channel) {
        const int pixel = static_cast<int>(p), n = static_cast<int>(channel);
        const long from = element(c, column, pixel, n), to = element(c, plain, pixel, n);
        const std::uint16_t loaded = got[place_of(c, p, channel)];
        wrong += loaded != (from < 0 ? 0 : numbers[static_cast<std::size_t>(from)]) ? 1 : 0;
        inside += from < 0 ? 0 : 1;
        if (to >= 0) stored[static_cast<std::size_t>(to)] = loaded;
      }
    }
    require(cudaMemset(tensor, 0, bytes), "cudaMemset");
    copy<<<1, 64, reach>>>(out, map, c.rank(), at, copied, reach, true);
    require(cudaMemcpy(numbers.data(), tensor, bytes, cudaMemcpyDeviceToHost), "store");
    for (std::size_t i = 0; i < numbers.size(); ++i) undone += numbers[i] != stored[i] ? 1 : 0;
  }
  std::printf("%-34s %d dimensions, swizzle %d: %4d elements inside; %d of %u differ, %d stored\n",
              what, static_cast<int>(c.dimensions), static_cast<int>(c.swizzle), inside, wrong,
              c.channels_per_pixel * c.pixels_per_column, undone);
  failures += wrong != 0 || undone != 0 || inside == 0 ? 1 : 0;
  cudaFree(tensor);
  cudaFree(out);
}

void columns() {
  const CUtensorMapSwizzle swizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                         CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
  for (unsigned dimensions = 1; dimensions <= 3; ++dimensions) {
    for (const CUtensorMapSwizzle swizzle : swizzles) {
      Convolution c;
      c.dimensions = dimensions;
      c.swizzle = swizzle;
      const int first = dimensions == 3 ? c.places(0) * c.places(1) - 8 : 0;  // of images inside
      check("first element of a filter of 3", c, {0, first, {}});
      check("last element of it", c, {0, 0, {2, 2, 2}});
      check("its middle, from the 10th place on", c, {0, 10, {1, 1, 1}});
      check("beyond the last image", c, {0, 2 * c.places(0), {1, 0, 2}});
      c.steps = {2, 2, 2};
      check("every second place", c, {0, 3, {2, 1, 0}});
      c.steps = {3, 1, 2};
      check("other steps", c, {0, 0, {0, 2, 1}});
      c.steps = {1, 1, 1};
      c.lower = {0, 0, 0};
      c.upper = {-1, -2, 0};
      check("filters within the image", c, {0, 2, {1, 2, 0}});
      c.channels = 40;
      c.channels_per_pixel = 8;
      check("few channels of many", c, {16, 1, {1, 1, 0}});
      c.channels_per_pixel = 16;
      check("channels beyond the last one", c, {32, 1, {0, 1, 0}});
    }
  }
}

void rules() {
  void* memory = nullptr;
  require(cudaMalloc(&memory, 1 << 20), "cudaMalloc");
  const auto expect = [&](CUresult wanted, const char* what,
                          const std::function<void(Convolution&)>& change) {
    Convolution c;
    change(c);
    CUtensorMap map;
    const CUresult got = c.encode(&map, memory);
    if (got == wanted) return;
    ++failures;
    std::printf("%s: %d, not %d\n", what, static_cast<int>(got), static_cast<int>(wanted));
  };
  const CUresult right = CUDA_SUCCESS, wrong = CUDA_ERROR_INVALID_VALUE;
  expect(wrong, "no dimensions", [](Convolution& c) { c.dimensions = 0; });
  expect(right, "channelsPerPixel 256",
         [](Convolution& c) { c.channels = c.channels_per_pixel = 256; });
  expect(wrong, "channelsPerPixel 0", [](Convolution& c) { c.channels_per_pixel = 0; });
  expect(wrong, "channelsPerPixel 264",
         [](Convolution& c) { c.channels = c.channels_per_pixel = 264; });
  expect(wrong, "channelsPerPixel 12", [](Convolution& c) { c.channels_per_pixel = 12; });
  expect(right, "pixelsPerColumn 1024", [](Convolution& c) { c.pixels_per_column = 1024; });
  expect(wrong, "pixelsPerColumn 1025", [](Convolution& c) { c.pixels_per_column = 1025; });
  expect(wrong, "elementStrides 9", [](Convolution& c) { c.steps[0] = 9; });
  expect(wrong, "elementStrides 0", [](Convolution& c) { c.steps[1] = 0; });
  expect(wrong, "an empty box", [](Convolution& c) { c.upper[0] = c.lower[0] - 7; });
  const int ends[] = {32768, 128, 16};
  for (unsigned dimensions = 1; dimensions <= 3; ++dimensions) {
    const int end = ends[dimensions - 1];
    expect(right, "the least lower corner",
           [&](Convolution& c) { c.dimensions = dimensions, c.lower[0] = -end; });
    expect(wrong, "a lower corner below",
           [&](Convolution& c) { c.dimensions = dimensions, c.lower[0] = -end - 1; });
    expect(right, "the greatest upper corner",
           [&](Convolution& c) { c.dimensions = dimensions, c.upper[0] = end - 1; });
    expect(wrong, "an upper corner above",
           [&](Convolution& c) { c.dimensions = dimensions, c.upper[0] = end; });
  }
  cudaFree(memory);
}

}  // namespace

int main() {
  columns();
  rules();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
