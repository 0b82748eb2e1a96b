// SPDX-License-Identifier: Apache-2.0
// Copies to and from CUDA arrays. An array is copied as the pitched memory that holds it.

#include <algorithm>

#include "runtime/copies.hpp"

namespace vgpu::runtime {
namespace {

// Throws Failure if the box leaves the image. `row`: the image's width in the units of at.x and
// extent.width, elements or bytes.
void check_inside(const Image& image, std::uint64_t row, const cudaPos& at,
                  const cudaExtent& extent) {
  const auto inside = [](std::size_t first, std::size_t count, std::uint64_t size) {
    return first <= size && count <= size - first;
  };
  if (!inside(at.x, extent.width, row) || !inside(at.y, extent.height, image.height) ||
      !inside(at.z, extent.depth, std::uint64_t{image.depth} * image.layers))
    refuse();
}

cudaPitchedPtr memory_of(const Image& image) {
  return {reinterpret_cast<void*>(image.address), image.pitch,
          std::size_t{image.width} * image.format.bytes(), image.height};
}

// Replaces an array by its memory, and elements by bytes. Returns the bytes of an element.
std::size_t lay_bare(const Runtime& runtime, cudaArray_t& array, cudaPos& at,
                     cudaPitchedPtr& memory, const cudaExtent& extent) {
  if (memory.ptr != nullptr) refuse();
  const Image& image = runtime.arrays.known(array).image;
  const std::size_t bytes = image.format.bytes();
  check_inside(image, image.width, at, extent);
  memory = memory_of(image);
  at.x *= bytes;
  array = nullptr;
  return bytes;
}

bool is_from_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

bool is_to_device(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
         kind == cudaMemcpyDefault;
}

}  // namespace

cudaMemcpy3DParms without_arrays(const Runtime& runtime, const cudaMemcpy3DParms& what) {
  cudaMemcpy3DParms plain = what;
  const auto whole_rows = [](const cudaPitchedPtr& memory, const cudaPos& at, std::size_t width) {
    return at.x + width <= memory.pitch || memory.pitch == 0;
  };
  std::size_t bytes = 1;
  if (what.srcArray != nullptr) {
    if (!is_from_device(what.kind)) refuse(cudaErrorInvalidMemcpyDirection);
    bytes = lay_bare(runtime, plain.srcArray, plain.srcPos, plain.srcPtr, what.extent);
  }
  if (what.dstArray != nullptr) {
    if (!is_to_device(what.kind)) refuse(cudaErrorInvalidMemcpyDirection);
    const std::size_t to =
        lay_bare(runtime, plain.dstArray, plain.dstPos, plain.dstPtr, what.extent);
    if (what.srcArray != nullptr && to != bytes) refuse();
    bytes = to;
  }
  plain.extent.width *= bytes;
  const bool one_row = what.extent.height == 1 && what.extent.depth == 1;
  if (!one_row && (!whole_rows(plain.srcPtr, plain.srcPos, plain.extent.width) ||
                   !whole_rows(plain.dstPtr, plain.dstPos, plain.extent.width)))
    refuse(cudaErrorInvalidPitchValue);
  return plain;
}

cudaPitchedPtr memory_of_array(const Runtime& runtime, cudaArray_const_t array, const cudaPos& at,
                               const cudaExtent& extent) {
  const Image& image = runtime.arrays.known(array).image;
  check_inside(image, std::uint64_t{image.width} * image.format.bytes(), at, extent);
  return memory_of(image);
}

namespace {

// The start of a rectangle in an array. As in cudaMemcpy2DToArray, x is in bytes.
struct Part {
  cudaArray_const_t array;
  std::size_t x, y;
};

// One side of a copy: the array, or the memory that holds it where the copy divides elements.
struct ArraySide {
  cudaArray_t array = nullptr;
  cudaPos at{};
  cudaPitchedPtr memory{};
  cudaExtent extent{};
};

bool divides_elements(const Runtime& runtime, const Part& part, std::size_t width) {
  const std::size_t bytes = runtime.arrays.known(part.array).image.format.bytes();
  return part.x % bytes != 0 || width % bytes != 0;
}

ArraySide side_of(const Runtime& runtime, const Part& part, std::size_t width, std::size_t height,
                  bool in_bytes) {
  if (!in_bytes) {
    const std::size_t bytes = runtime.arrays.known(part.array).image.format.bytes();
    return {const_cast<cudaArray_t>(part.array),
            {part.x / bytes, part.y, 0},
            {},
            {width / bytes, height, 1}};
  }
  ArraySide side{nullptr, {part.x, part.y, 0}, {}, {width, height, 1}};
  side.memory = memory_of_array(runtime, part.array, side.at, side.extent);
  return side;
}

cudaMemcpy3DParms to_array(const Runtime& runtime, const Part& to, const void* from,
                           std::size_t pitch, std::size_t width, std::size_t height,
                           cudaMemcpyKind kind) {
  const ArraySide side = side_of(runtime, to, width, height, divides_elements(runtime, to, width));
  if (height > 1 && width > pitch) refuse(cudaErrorInvalidPitchValue);
  return {nullptr,     {},      {const_cast<void*>(from), pitch, width, height},
          side.array,  side.at, side.memory,
          side.extent, kind};
}

cudaMemcpy3DParms from_array(const Runtime& runtime, void* to, std::size_t pitch, const Part& from,
                             std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const ArraySide side =
      side_of(runtime, from, width, height, divides_elements(runtime, from, width));
  if (height > 1 && width > pitch) refuse(cudaErrorInvalidPitchValue);
  return {side.array,  side.at, side.memory, nullptr, {}, {to, pitch, width, height},
          side.extent, kind};
}

// cudaMemcpyToArray and its relatives continue in the next row. Calls `copy` with the row, the
// position in it, the bytes before and the bytes in it.
template <class Copy>
void by_rows(const Runtime& runtime, const Part& part, std::size_t count, Copy copy) {
  const Image image = runtime.arrays.known(part.array).image;
  const std::size_t row_bytes = std::size_t{image.width} * image.format.bytes();
  std::size_t x = part.x, done = 0;
  for (std::size_t y = part.y; done < count; ++y, x = 0) {
    if (x > row_bytes || y >= image.height) refuse();
    const std::size_t bytes = std::min(count - done, row_bytes - x);
    copy(Part{part.array, x, y}, done, bytes);
    done += bytes;
  }
}

void copy_bytes_to(Runtime& runtime, cudaStream_t stream, const char* function, Part to,
                   const void* from, std::size_t count, cudaMemcpyKind kind, bool blocking) {
  by_rows(runtime, to, count, [&](const Part& row, std::size_t done, std::size_t bytes) {
    const auto* const at = static_cast<const std::byte*>(from) + done;
    copy_in_stream(runtime, stream, function, {to_array(runtime, row, at, bytes, bytes, 1, kind)},
                   blocking);
  });
}

void copy_bytes_from(Runtime& runtime, cudaStream_t stream, const char* function, void* to,
                     Part from, std::size_t count, cudaMemcpyKind kind, bool blocking) {
  by_rows(runtime, from, count, [&](const Part& row, std::size_t done, std::size_t bytes) {
    auto* const at = static_cast<std::byte*>(to) + done;
    copy_in_stream(runtime, stream, function, {from_array(runtime, at, bytes, row, bytes, 1, kind)},
                   blocking);
  });
}

}  // namespace
}  // namespace vgpu::runtime

using namespace vgpu::runtime;

VGPU_COPY_TWINS(cudaMemcpy2DToArray,
                to_array(runtime, {to, x, y}, from, pitch, width, height, kind), cudaArray_t to,
                size_t x, size_t y, const void* from, size_t pitch, size_t width, size_t height,
                cudaMemcpyKind kind);

VGPU_COPY_TWINS(cudaMemcpy2DFromArray,
                from_array(runtime, to, pitch, {from, x, y}, width, height, kind), void* to,
                size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                size_t height, cudaMemcpyKind kind);

VGPU_CALL_PTDS(cudaMemcpy2DArrayToArray, cudaArray_t to, size_t to_x, size_t to_y,
               cudaArray_const_t from, size_t from_x, size_t from_y, size_t width, size_t height,
               cudaMemcpyKind kind) {
  const Part source{from, from_x, from_y}, target{to, to_x, to_y};
  const bool in_bytes =
      divides_elements(runtime, source, width) || divides_elements(runtime, target, width);
  const ArraySide a = side_of(runtime, source, width, height, in_bytes);
  const ArraySide b = side_of(runtime, target, width, height, in_bytes);
  copy_at_once(runtime, "cudaMemcpy2DArrayToArray",
               {{a.array, a.at, a.memory, b.array, b.at, b.memory, a.extent, kind}});
}

// CUDA deprecates the rest.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

VGPU_CALL_PTDS(cudaMemcpyToArray, cudaArray_t to, size_t x, size_t y, const void* from,
               size_t count, cudaMemcpyKind kind) {
  copy_bytes_to(runtime, kDefaultStream, "cudaMemcpyToArray", {to, x, y}, from, count, kind, true);
}

VGPU_CALL_PTSZ(cudaMemcpyToArrayAsync, cudaArray_t to, size_t x, size_t y, const void* from,
               size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  copy_bytes_to(runtime, stream, "cudaMemcpyToArrayAsync", {to, x, y}, from, count, kind, false);
}

VGPU_CALL_PTDS(cudaMemcpyFromArray, void* to, cudaArray_const_t from, size_t x, size_t y,
               size_t count, cudaMemcpyKind kind) {
  copy_bytes_from(runtime, kDefaultStream, "cudaMemcpyFromArray", to, {from, x, y}, count, kind,
                  true);
}

VGPU_CALL_PTSZ(cudaMemcpyFromArrayAsync, void* to, cudaArray_const_t from, size_t x, size_t y,
               size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  copy_bytes_from(runtime, stream, "cudaMemcpyFromArrayAsync", to, {from, x, y}, count, kind,
                  false);
}

VGPU_CALL_PTDS(cudaMemcpyArrayToArray, cudaArray_t to, size_t to_x, size_t to_y,
               cudaArray_const_t from, size_t from_x, size_t from_y, size_t count,
               cudaMemcpyKind kind) {
  std::vector<std::byte> bytes(count);
  if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
    refuse(cudaErrorInvalidMemcpyDirection);
  copy_bytes_from(runtime, kDefaultStream, "cudaMemcpyArrayToArray", bytes.data(),
                  {from, from_x, from_y}, count, cudaMemcpyDeviceToHost, true);
  copy_bytes_to(runtime, kDefaultStream, "cudaMemcpyArrayToArray", {to, to_x, to_y}, bytes.data(),
                count, cudaMemcpyHostToDevice, true);
}

#pragma GCC diagnostic pop
