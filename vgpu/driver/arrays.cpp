// SPDX-License-Identifier: Apache-2.0
// Arrays, textures and surfaces. CUDA Driver API, "Memory Management", "Texture Object Management",
// "Surface Object Management".
#include <algorithm>
#include <iterator>

#include "driver/structures.hpp"

namespace vgpu::driver {
namespace {

struct Format {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};

constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

// Throws Failure for formats that the runtime API cannot describe by channels.
cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels) {
  const auto* const found = std::ranges::find(kFormats, format, &Format::format);
  if (found == std::end(kFormats) || (channels != 1 && channels != 2 && channels != 4)) refuse();
  const auto bits = [&](unsigned channel) { return channel < channels ? found->bits : 0; };
  return {bits(0), bits(1), bits(2), bits(3), found->kind};
}

}  // namespace

std::size_t element_bytes(CUarray array) {
  const cudaChannelFormatDesc& format = Runtime::get().arrays.known(array_of(array)).format;
  return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
}

}  // namespace vgpu::driver

using namespace vgpu::driver;

// Calls use(the format as the runtime has it).
template <class Use>
static CUresult with_format(const char* name, CUarray_format format, unsigned channels, Use use) {
  return with_context(name, [&] { return use(channels_of(format, channels)); });
}

static CUresult describe(const char* name, CUarray array, CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  return with_context(name, [&] {
    cudaChannelFormatDesc desc{};
    cudaExtent extent{};
    unsigned flags = 0;
    if (descriptor == nullptr) refuse();
    require(cudaArrayGetInfo(&desc, &extent, &flags, array_of(array)));
    const auto* const found = std::ranges::find_if(kFormats, [&](const Format& known) {
      return known.bits == desc.x && known.kind == desc.f;
    });
    if (found == std::end(kFormats)) refuse(cudaErrorNotSupported);
    const unsigned channels = 1U + (desc.y != 0) + (desc.z != 0) + (desc.w != 0);
    *descriptor = {extent.width, extent.height, extent.depth, found->format, channels, flags};
  });
}

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* wanted) {
  if (array == nullptr || wanted == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_format(
      __func__, wanted->Format, wanted->NumChannels, [&](const cudaChannelFormatDesc& desc) {
        return cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &desc,
                                 {wanted->Width, wanted->Height, wanted->Depth}, wanted->Flags);
      });
}

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* wanted) {
  if (array == nullptr || wanted == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR deep{wanted->Width,  wanted->Height,      0,
                                     wanted->Format, wanted->NumChannels, 0};
  return cuArray3DCreate_v2(array, &deep);
}

CUresult cuArrayDestroy(CUarray array) {
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return with_context(__func__, [&] { return cudaFreeArray(array_of(array)); });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray array) {
  return describe(__func__, array, descriptor);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* descriptor, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR deep{};
  const CUresult result = describe(__func__, array, descriptor != nullptr ? &deep : nullptr);
  if (result == CUDA_SUCCESS)
    *descriptor = {deep.Width, deep.Height, deep.Format, deep.NumChannels};
  return result;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* mipmap, const CUDA_ARRAY3D_DESCRIPTOR* wanted,
                                unsigned levels) {
  if (mipmap == nullptr || wanted == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return with_format(
      __func__, wanted->Format, wanted->NumChannels, [&](const cudaChannelFormatDesc& desc) {
        return cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t*>(mipmap), &desc,
                                        {wanted->Width, wanted->Height, wanted->Depth}, levels,
                                        wanted->Flags);
      });
}

VGPU_WITH_CONTEXT(cuMipmappedArrayGetLevel, cudaGetMipmappedArrayLevel, 3);

CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap) {
  if (mipmap == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return with_context(__func__, [&] {
    return cudaFreeMipmappedArray(reinterpret_cast<cudaMipmappedArray_t>(mipmap));
  });
}

// The runtime's resource; may throw Failure for its format.
static cudaResourceDesc resource_of(const CUDA_RESOURCE_DESC& given) {
  cudaResourceDesc resource{};
  resource.resType = static_cast<cudaResourceType>(static_cast<int>(given.resType));
  resource.flags = given.flags;
  switch (given.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      resource.res.array.array = array_of(given.res.array.hArray);
      return resource;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      resource.res.mipmap.mipmap =
          reinterpret_cast<cudaMipmappedArray_t>(given.res.mipmap.hMipmappedArray);
      return resource;
    case CU_RESOURCE_TYPE_LINEAR: {
      const auto& linear = given.res.linear;
      resource.res.linear = {pointer_of(linear.devPtr),
                             channels_of(linear.format, linear.numChannels), linear.sizeInBytes};
      return resource;
    }
    case CU_RESOURCE_TYPE_PITCH2D: {
      const auto& flat = given.res.pitch2D;
      resource.res.pitch2D = {pointer_of(flat.devPtr), channels_of(flat.format, flat.numChannels),
                              flat.width, flat.height, flat.pitchInBytes};
      return resource;
    }
  }
  refuse();
}

static cudaChannelFormatDesc format_in(const cudaResourceDesc& resource) {
  const Runtime& runtime = Runtime::get();
  switch (resource.resType) {
    case cudaResourceTypeArray: return runtime.arrays.known(resource.res.array.array).format;
    case cudaResourceTypeMipmappedArray:
      return runtime.arrays.known(resource.res.mipmap.mipmap).levels.front()->format;
    case cudaResourceTypeLinear: return resource.res.linear.desc;
    default: return resource.res.pitch2D.desc;
  }
}

// In the driver API integers of 8 and 16 bits are read as numbers from 0 to 1 unless a flag says
// otherwise.
static cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC& given,
                                  const cudaResourceDesc& resource) {
  cudaTextureDesc texture{};
  for (int i = 0; i < 3; ++i) {
    texture.addressMode[i] =
        static_cast<cudaTextureAddressMode>(static_cast<int>(given.addressMode[i]));
  }
  texture.filterMode = static_cast<cudaTextureFilterMode>(static_cast<int>(given.filterMode));
  const cudaChannelFormatDesc format = format_in(resource);
  const bool normal = (given.flags & CU_TRSF_READ_AS_INTEGER) == 0 &&
                      format.f != cudaChannelFormatKindFloat && format.x <= 16;
  texture.readMode = normal ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  texture.sRGB = (given.flags & CU_TRSF_SRGB) != 0;
  std::copy(std::begin(given.borderColor), std::end(given.borderColor), texture.borderColor);
  texture.normalizedCoords = (given.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  texture.maxAnisotropy = given.maxAnisotropy;
  texture.mipmapFilterMode =
      static_cast<cudaTextureFilterMode>(static_cast<int>(given.mipmapFilterMode));
  texture.mipmapLevelBias = given.mipmapLevelBias;
  texture.minMipmapLevelClamp = given.minMipmapLevelClamp;
  texture.maxMipmapLevelClamp = given.maxMipmapLevelClamp;
  texture.disableTrilinearOptimization =
      (given.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0;
  texture.seamlessCubemap = (given.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
  return texture;
}

VGPU_WITHOUT_LOCK(cuTexObjectCreate, CUtexObject* object, const CUDA_RESOURCE_DESC* resource,
                  const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  cudaResourceDesc from{};
  cudaTextureDesc how{};
  require(vgpu::runtime::query([&](Runtime&) {
    if (resource == nullptr || texture == nullptr) refuse();
    from = resource_of(*resource);
    how = texture_of(*texture, from);
  }));
  cudaResourceViewDesc seen{};
  if (view != nullptr) {
    seen = {static_cast<cudaResourceViewFormat>(static_cast<int>(view->format)),
            view->width,
            view->height,
            view->depth,
            view->firstMipmapLevel,
            view->lastMipmapLevel,
            view->firstLayer,
            view->lastLayer,
            {}};
  }
  require(cudaCreateTextureObject(object, &from, &how, view != nullptr ? &seen : nullptr));
}

VGPU_WITH_CONTEXT(cuTexObjectDestroy, cudaDestroyTextureObject, 1);

VGPU_WITHOUT_LOCK(cuSurfObjectCreate, CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  cudaResourceDesc from{};
  require(vgpu::runtime::query([&](Runtime&) {
    if (resource == nullptr) refuse();
    from = resource_of(*resource);
  }));
  require(cudaCreateSurfaceObject(object, &from));
}

VGPU_WITH_CONTEXT(cuSurfObjectDestroy, cudaDestroySurfaceObject, 1);
