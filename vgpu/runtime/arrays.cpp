// SPDX-License-Identifier: Apache-2.0
#include "runtime/arrays.hpp"

#include <algorithm>
#include <bit>

#include "runtime/allocations.hpp"
#include "runtime/device_properties.hpp"
#include "runtime/graph/capture.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

constexpr std::uint64_t kAlignment = 512;  // of a mipmapped array's levels

std::uint32_t at_least_one(std::size_t size) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(size, 1));
}

bool is_layered(unsigned flags) { return (flags & (cudaArrayLayered | cudaArrayCubemap)) != 0; }

Image image_of(const TexelFormat& format, const cudaExtent& extent, unsigned flags) {
  Image image;
  image.format = format;
  image.dimensions = extent.height == 0 ? 1 : extent.depth != 0 && !is_layered(flags) ? 3 : 2;
  image.width = static_cast<std::uint32_t>(extent.width);
  image.height = at_least_one(extent.height);
  (is_layered(flags) ? image.layers : image.depth) = at_least_one(extent.depth);
  image.pitch = std::uint64_t{image.width} * format.bytes();
  image.slice = image.pitch * image.height;
  return image;
}

// The greatest extent of an array of these flags and dimensions.
cudaExtent largest(const cudaDeviceProp& p, const cudaExtent& extent, unsigned flags) {
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const bool layered = (flags & cudaArrayLayered) != 0;
  if ((flags & cudaArrayCubemap) != 0) {
    const std::size_t width = size(layered ? p.maxTextureCubemapLayered[0] : p.maxTextureCubemap);
    return {width, width, layered ? size(p.maxTextureCubemapLayered[1]) : 6};
  }
  if (layered && extent.height == 0)
    return {size(p.maxTexture1DLayered[0]), 0, size(p.maxTexture1DLayered[1])};
  if (layered) {
    return {size(p.maxTexture2DLayered[0]), size(p.maxTexture2DLayered[1]),
            size(p.maxTexture2DLayered[2])};
  }
  if (extent.height == 0) return {size(p.maxTexture1D), 0, 0};
  const bool deep = extent.depth > size(p.maxTexture3D[2]);
  const auto& most = deep ? p.maxTexture3DAlt : p.maxTexture3D;
  if (extent.depth != 0) return {size(most[0]), size(most[1]), size(most[2])};
  if ((flags & cudaArrayTextureGather) != 0)
    return {size(p.maxTexture2DGather[0]), size(p.maxTexture2DGather[1]), 0};
  return {size(p.maxTexture2D[0]), size(p.maxTexture2D[1]), 0};
}

// The rules of cudaMalloc3DArray's documentation.
void check_extent(const Runtime& runtime, const cudaExtent& extent, unsigned flags) {
  constexpr unsigned kKnown = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                              cudaArrayTextureGather | cudaArrayColorAttachment;
  const bool layered = (flags & cudaArrayLayered) != 0, cube = (flags & cudaArrayCubemap) != 0;
  constexpr unsigned kRefused = cudaArraySparse | cudaArrayDeferredMapping;
  if ((flags & kRefused) != 0)
    refuse(cudaErrorNotSupported, "sparse and deferred CUDA arrays are not implemented");
  if ((flags & ~kKnown) != 0) refuse();
  if (extent.width == 0 || (layered && extent.depth == 0)) refuse();
  if (!layered && extent.height == 0 && extent.depth != 0) refuse();
  if (cube && (extent.width != extent.height || extent.depth == 0 || extent.depth % 6 != 0 ||
               (!layered && extent.depth != 6)))
    refuse();
  if ((flags & cudaArrayTextureGather) != 0 && (extent.height == 0 || extent.depth != 0)) refuse();
  const cudaExtent most = largest(properties_of(runtime.device()), extent, flags);
  if (extent.width > most.width || extent.height > most.height || extent.depth > most.depth)
    refuse();
}

std::unique_ptr<cudaArray> described(const cudaChannelFormatDesc& desc, const TexelFormat& format,
                                     const cudaExtent& extent, unsigned flags) {
  auto array = std::make_unique<cudaArray>();
  array->format = desc;
  array->extent = extent;
  array->flags = flags;
  array->image = image_of(format, extent, flags);
  return array;
}

void allocate_array(Runtime& runtime, cudaArray_t* into, const cudaChannelFormatDesc* desc,
                    const cudaExtent& extent, unsigned flags, const void* caller) {
  refuse_in_capture(runtime);
  if (into == nullptr || desc == nullptr) refuse();
  const TexelFormat format = texel_format(*desc);
  check_extent(runtime, extent, flags);
  auto array = described(*desc, format, extent, flags);
  void* memory = nullptr;
  allocate(runtime, &memory, array->image.bytes(), Origin::kDevice, 0, caller);
  array->image.address = reinterpret_cast<std::uint64_t>(memory);
  *into = runtime.arrays.keep(std::move(array));
}

cudaExtent level_extent(const cudaExtent& base, unsigned flags, unsigned level) {
  const auto half = [&](std::size_t size) {
    return size == 0 ? 0 : std::max<std::size_t>(size >> level, 1);
  };
  return {half(base.width), half(base.height), is_layered(flags) ? base.depth : half(base.depth)};
}

void allocate_mipmap(Runtime& runtime, cudaMipmappedArray_t* into,
                     const cudaChannelFormatDesc* desc, const cudaExtent& extent, unsigned levels,
                     unsigned flags, const void* caller) {
  refuse_in_capture(runtime);
  if (into == nullptr || desc == nullptr) refuse();
  const TexelFormat format = texel_format(*desc);
  check_extent(runtime, extent, flags);
  std::size_t most = std::max(extent.width, extent.height);
  if (!is_layered(flags)) most = std::max(most, extent.depth);
  levels = std::clamp<unsigned>(levels, 1, static_cast<unsigned>(std::bit_width(most)));
  auto mipmap = std::make_unique<cudaMipmappedArray>();
  std::uint64_t bytes = 0;
  for (unsigned level = 0; level < levels; ++level) {
    auto array = described(*desc, format, level_extent(extent, flags, level), flags);
    array->of_mipmap = true;
    array->image.address = bytes;
    bytes += (array->image.bytes() + kAlignment - 1) / kAlignment * kAlignment;
    mipmap->levels.push_back(std::move(array));
  }
  void* memory = nullptr;
  allocate(runtime, &memory, bytes, Origin::kDevice, 0, caller);
  for (const auto& level : mipmap->levels) {
    level->image.address += reinterpret_cast<std::uint64_t>(memory);
    runtime.arrays.add_level(*level);
  }
  *into = runtime.arrays.keep(std::move(mipmap));
}

// Waits until no kernel uses the image, then frees its memory.
void free_image(Runtime& runtime, const char* function, const Image& image) {
  await(runtime, all_tasks(runtime));
  release(runtime, function, reinterpret_cast<void*>(image.address), false);
}

}  // namespace

TexelFormat texel_format(const cudaChannelFormatDesc& desc) {
  const int bits[] = {desc.x, desc.y, desc.z, desc.w};
  TexelFormat format;
  format.channels = static_cast<std::uint8_t>(std::find(bits, bits + 4, 0) - bits);
  const bool even = std::all_of(bits, bits + format.channels, [&](int b) { return b == desc.x; }) &&
                    std::all_of(bits + format.channels, bits + 4, [](int b) { return b == 0; });
  const bool real = desc.f == cudaChannelFormatKindFloat;
  if (!even || format.channels == 0 || format.channels == 3 ||
      (desc.x != 32 && desc.x != 16 && (desc.x != 8 || real)))
    refuse(cudaErrorInvalidChannelDescriptor);
  switch (desc.f) {
    case cudaChannelFormatKindSigned: format.kind = TexelKind::kSigned; break;
    case cudaChannelFormatKindUnsigned: format.kind = TexelKind::kUnsigned; break;
    case cudaChannelFormatKindFloat: format.kind = TexelKind::kFloat; break;
    default: refuse(cudaErrorInvalidChannelDescriptor);
  }
  format.bits = static_cast<std::uint8_t>(desc.x);
  return format;
}

cudaArray_t Arrays::keep(std::unique_ptr<cudaArray> array) {
  cudaArray* const handle = array.get();
  arrays_.emplace(handle, std::move(array));
  return handle;
}

cudaMipmappedArray_t Arrays::keep(std::unique_ptr<cudaMipmappedArray> mipmap) {
  cudaMipmappedArray* const handle = mipmap.get();
  mipmaps_.emplace(handle, std::move(mipmap));
  return handle;
}

cudaArray& Arrays::known(cudaArray_const_t array) const {
  if (const auto found = arrays_.find(array); found != arrays_.end()) return *found->second;
  if (const auto found = levels_.find(array); found != levels_.end()) return *found->second;
  refuse(cudaErrorInvalidResourceHandle);
}

cudaMipmappedArray& Arrays::known(cudaMipmappedArray_const_t mipmap) const {
  if (const auto found = mipmaps_.find(mipmap); found != mipmaps_.end()) return *found->second;
  refuse(cudaErrorInvalidResourceHandle);
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width,
                            size_t height, unsigned flags) {
  const void* caller = __builtin_return_address(0);
  return call([&](Runtime& runtime) {
    allocate_array(runtime, array, desc, {width, height, 0}, flags, caller);
  });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* desc,
                              cudaExtent extent, unsigned flags) {
  const void* caller = __builtin_return_address(0);
  return call(
      [&](Runtime& runtime) { allocate_array(runtime, array, desc, extent, flags, caller); });
}

VGPU_CALL(cudaFreeArray, cudaArray_t array) {
  refuse_in_capture(runtime);
  if (array == nullptr) return;
  const cudaArray& known = runtime.arrays.known(array);
  if (known.of_mipmap) refuse();
  const vgpu::Image image = known.image;
  runtime.arrays.remove(known);
  free_image(runtime, "cudaFreeArray", image);
}

VGPU_CALL(cudaArrayGetInfo, cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned* flags,
          cudaArray_t array) {
  const cudaArray& known = runtime.arrays.known(array);
  if (desc != nullptr) *desc = known.format;
  if (extent != nullptr) *extent = known.extent;
  if (flags != nullptr) *flags = known.flags;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* desc, cudaArray_const_t array) {
  return call_for(desc, [&](Runtime& runtime) { return runtime.arrays.known(array).format; });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmap,
                                     const cudaChannelFormatDesc* desc, cudaExtent extent,
                                     unsigned levels, unsigned flags) {
  const void* caller = __builtin_return_address(0);
  return call([&](Runtime& runtime) {
    allocate_mipmap(runtime, mipmap, desc, extent, levels, flags, caller);
  });
}

VGPU_CALL(cudaGetMipmappedArrayLevel, cudaArray_t* level, cudaMipmappedArray_const_t mipmap,
          unsigned number) {
  const cudaMipmappedArray& known = runtime.arrays.known(mipmap);
  if (level == nullptr || number >= known.levels.size()) refuse();
  *level = known.levels[number].get();
}

VGPU_CALL(cudaFreeMipmappedArray, cudaMipmappedArray_t mipmap) {
  refuse_in_capture(runtime);
  if (mipmap == nullptr) return;
  const cudaMipmappedArray& known = runtime.arrays.known(mipmap);
  const vgpu::Image image = known.levels[0]->image;
  for (const auto& level : known.levels) runtime.arrays.remove_level(*level);
  runtime.arrays.remove(known);
  free_image(runtime, "cudaFreeMipmappedArray", image);
}
