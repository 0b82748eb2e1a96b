// SPDX-License-Identifier: Apache-2.0
// Copies by tensor maps in im2col mode, of images of one to three dimensions: what loads put into
// shared memory must be the columns of a convolution, computed here from their definition (pixel p
// of a column is the one at a filter's element p places after the first, in the order of width,
// height, depth, images); stores, which need a box inside the image, must undo them. The rules of
// cuTensorMapEncodeIm2col and of the instructions, as an H100 has them.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "map_copy.cuh"
#include "require.hpp"

namespace {

using Encode = decltype(&cuTensorMapEncodeIm2col);
using Offsets = std::array<int, 3>;  // width, height, depth

Encode encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &found, 12000,
                                           cudaEnableDefault, &result));
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
  CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT16;  // of 16 bits

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
    return kEncode(map, type, rank(), memory, extents, strides, lower.data(), upper.data(),
                   channels_per_pixel, pixels_per_column, traversal, CU_TENSOR_MAP_INTERLEAVE_NONE,
                   swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  }
  // A store needs the box inside the image.
  bool can_store() const {
    for (unsigned d = 0; d < dimensions; ++d)
      if (lower[d] < 0 || upper[d] > 0) return false;
    return true;
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
  fence_proxy();
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
    expect(&full, bytes);
    if (rank == 3)
      LOAD("3d", "%3, %4, %5", "%6", "h"(c.offsets[0]));
    else if (rank == 4)
      LOAD("4d", "%3, %4, %5, %6", "%7, %8", "r"(c.at[3]), "h"(c.offsets[0]), "h"(c.offsets[1]));
    else
      LOAD("5d", "%3, %4, %5, %6, %7", "%8, %9, %10", "r"(c.at[3]), "r"(c.at[4]), "h"(c.offsets[0]),
           "h"(c.offsets[1]), "h"(c.offsets[2]));
  }
  __syncthreads();
  wait(&full);
  for (int i = t; i < reach / 2; i += step) out[i] = tile[i];
}

// The place of a pixel's channel in shared memory.
unsigned place_of(const Convolution& c, unsigned pixel, unsigned channel) {
  return place_of(c.swizzle, c.channels_per_pixel, pixel, channel);
}

// The tensor and its map, and a place for the contents of shared memory, on the device.
struct Memory {
  explicit Memory(const Convolution& c)
      : numbers(c.elements()), area(place_of(c, c.pixels_per_column, 0) + 512) {
    require(cudaMalloc(&tensor, bytes()));
    require(cudaMalloc(&out, reach()));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i + 1);
    require(cudaMemcpy(tensor, numbers.data(), bytes(), cudaMemcpyHostToDevice));
    require(c.encode(&map, tensor) == CUDA_SUCCESS, "a tensor map");
  }
  ~Memory() {
    cudaFree(tensor);
    cudaFree(out);
  }
  std::size_t bytes() const { return numbers.size() * sizeof(std::uint16_t); }
  std::size_t reach() const { return area * sizeof(std::uint16_t); }
  void launch(const Convolution& c, const Coordinates& at, bool stores) {
    const int copied = static_cast<int>(c.channels_per_pixel * c.pixels_per_column * 2);
    copy<<<1, 64, reach()>>>(out, map, c.rank(), at, copied, static_cast<int>(reach()), stores);
  }

  std::vector<std::uint16_t> numbers;
  unsigned area;  // the last pixel's chunks move
  std::uint16_t *tensor = nullptr, *out = nullptr;
  CUtensorMap map;
};

// A load of a column, and a store of what it loaded where that is possible.
void check(const char* what, const Convolution& c, const Column& column) {
  const auto name = std::string(what) + ", " + std::to_string(c.dimensions) +
                    " dimensions, swizzle " + std::to_string(c.swizzle);
  Memory memory(c);
  std::vector<std::uint16_t> loaded(memory.area, 0xffff), got(memory.area), stored(c.elements());
  int inside = 0;
  for (unsigned p = 0; p < c.pixels_per_column; ++p) {
    for (unsigned channel = 0; channel < c.channels_per_pixel; ++channel) {
      const auto of = [&](const Column& x) {
        return element(c, x, static_cast<int>(p), static_cast<int>(channel));
      };
      const long from = of(column), to = of({column.channel, column.place, {}});
      std::uint16_t& value = loaded[place_of(c, p, channel)];
      value = from < 0 ? 0 : memory.numbers[static_cast<std::size_t>(from)];
      if (to >= 0) stored[static_cast<std::size_t>(to)] = value;
      inside += from < 0 ? 0 : 1;
    }
  }
  const Coordinates at = coordinates(c, column, column.place);
  memory.launch(c, at, false);
  require(cudaMemcpy(got.data(), memory.out, memory.reach(), cudaMemcpyDeviceToHost));
  require(inside > 0 && got == loaded, name.c_str());
  if (!c.can_store()) return;
  require(cudaMemset(memory.tensor, 0, memory.bytes()));
  memory.launch(c, at, true);
  require(cudaMemcpy(memory.numbers.data(), memory.tensor, memory.bytes(), cudaMemcpyDeviceToHost));
  require(memory.numbers == stored, ("a store: " + name).c_str());
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
      c.steps = {2, 1, 1};
      check("every second of them", c, {0, 1, {1, 0, 0}});
      c.steps = {1, 1, 1};
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
  require(cudaMalloc(&memory, 1 << 20));
  const auto expect = [&](CUresult wanted, const char* what,
                          const std::function<void(Convolution&)>& change) {
    Convolution c;
    change(c);
    CUtensorMap map;
    require(c.encode(&map, memory) == wanted, what);
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

// A copy at coordinates ends with this error, in a process of its own.
void ending(cudaError_t error, const char* what, const Convolution& c, const Coordinates& at,
            bool stores) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Memory memory(c);
    memory.launch(c, at, stores);
    _exit(cudaDeviceSynchronize() == error ? 0 : 1);
  }
  int status = 0;
  require(child > 0 && waitpid(child, &status, 0) == child && status == 0, what);
}

// Before this process uses CUDA.
void endings() {
  Convolution c;
  constexpr cudaError_t kGood = cudaSuccess, kIllegal = cudaErrorIllegalInstruction;
  for (const int x : {-2, -1, 5, 6}) {
    const std::string what = "a column that begins at " + std::to_string(x) + " of -1 to 5";
    ending(x < -1 || x > 5 ? kIllegal : kGood, what.c_str(), c, {{0, x, 0, 0}, {}}, false);
  }
  ending(kIllegal, "a column that begins at 4 of -1 to 3", c, {{0, 0, 4, 0}, {}}, false);
  ending(kGood, "image -1", c, {{0, 0, 0, -1}, {}}, false);
  ending(kGood, "image 3 of 3", c, {{0, 0, 0, 3}, {}}, false);
  ending(kGood, "channel -8", c, {{-8, 0, 0, 0}, {}}, false);
  ending(kIllegal, "channel 4", c, {{4, 0, 0, 0}, {}}, false);
  ending(kIllegal, "store of a box that begins at -1", c, {{0, 0, 0, 0}, {}}, true);
  c.lower = c.upper = {0, 0, 0};
  ending(kGood, "store of a box of the image", c, {{0, 0, 0, 0}, {}}, true);
  ending(kIllegal, "store of a column that begins at 7 of 0 to 6", c, {{0, 7, 0, 0}, {}}, true);
  ending(kIllegal, "store of channel -8", c, {{-8, 0, 0, 0}, {}}, true);
  ending(kGood, "store of channel 16 of 16", c, {{16, 0, 0, 0}, {}}, true);
  c.upper = {1, 0, 0};
  ending(kIllegal, "store of a box that ends beyond the image", c, {{0, 0, 0, 0}, {}}, true);
}

// What loads put outside the image where NaN is asked for.
void fills() {
  for (const CUtensorMapDataType type :
       {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16}) {
    Convolution c;
    c.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    c.type = type;
    Memory memory(c);
    std::uint16_t first = 0;
    memory.launch(c, coordinates(c, {}, 0), false);
    require(cudaMemcpy(&first, memory.out, sizeof(first), cudaMemcpyDeviceToHost));
    require(first == 0x7ff7, "outside the image");
  }
}

}  // namespace

int main() {
  endings();
  columns();
  fills();
  rules();
}
