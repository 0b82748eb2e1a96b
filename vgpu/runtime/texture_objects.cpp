// SPDX-License-Identifier: Apache-2.0
#include "runtime/arrays.hpp"

#include "runtime/device_properties.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

static_assert(static_cast<int>(AddressMode::kWrap) == cudaAddressModeWrap &&
              static_cast<int>(AddressMode::kBorder) == cudaAddressModeBorder);

Image linear_image(const cudaResourceDesc& resource) {
  const auto& linear = resource.res.linear;
  Image image;
  image.format = texel_format(linear.desc);
  const std::size_t texels = linear.sizeInBytes / image.format.bytes();
  constexpr std::size_t kMost = std::size_t{1} << 30;
  if (linear.devPtr == nullptr || texels == 0 || texels > kMost) refuse();
  image.address = reinterpret_cast<std::uint64_t>(linear.devPtr);
  image.dimensions = 1;
  image.width = static_cast<std::uint32_t>(texels);
  image.pitch = image.slice = std::uint64_t{image.width} * image.format.bytes();
  return image;
}

Image pitched_image(const cudaResourceDesc& resource, const cudaDeviceProp& limits) {
  const auto& pitched = resource.res.pitch2D;
  Image image;
  image.format = texel_format(pitched.desc);
  const auto most = [&](int dimension) {
    return static_cast<std::size_t>(limits.maxTexture2DLinear[dimension]);
  };
  if (pitched.devPtr == nullptr || pitched.width == 0 || pitched.height == 0 ||
      pitched.width > most(0) || pitched.height > most(1) || pitched.pitchInBytes > most(2) ||
      pitched.pitchInBytes < pitched.width * image.format.bytes() ||
      pitched.pitchInBytes % limits.texturePitchAlignment != 0)
    refuse();
  image.address = reinterpret_cast<std::uint64_t>(pitched.devPtr);
  image.width = static_cast<std::uint32_t>(pitched.width);
  image.height = static_cast<std::uint32_t>(pitched.height);
  image.pitch = pitched.pitchInBytes;
  image.slice = image.pitch * image.height;
  return image;
}

std::vector<Image> images_of(const Runtime& runtime, const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeArray: return {runtime.arrays.known(resource.res.array.array).image};
    case cudaResourceTypeMipmappedArray: {
      std::vector<Image> images;
      for (const auto& level : runtime.arrays.known(resource.res.mipmap.mipmap).levels)
        images.push_back(level->image);
      return images;
    }
    case cudaResourceTypeLinear: {
      const auto address = reinterpret_cast<std::uintptr_t>(resource.res.linear.devPtr);
      if (address % properties_of(runtime.device()).textureAlignment != 0) refuse();
      return {linear_image(resource)};
    }
    case cudaResourceTypePitch2D: {
      const cudaDeviceProp limits = properties_of(runtime.device());
      if (reinterpret_cast<std::uintptr_t>(resource.res.pitch2D.devPtr) % limits.textureAlignment !=
          0)
        refuse();
      return {pitched_image(resource, limits)};
    }
  }
  refuse();
}

// The format and the channels of a view must have as many bits as the array's texels.
void apply_view(const cudaResourceViewDesc& view, Texture& texture) {
  constexpr struct {
    cudaResourceViewFormat first;
    TexelKind kind;
    std::uint8_t bits;
  } kFormats[] = {{cudaResViewFormatUnsignedChar1, TexelKind::kUnsigned, 8},
                  {cudaResViewFormatSignedChar1, TexelKind::kSigned, 8},
                  {cudaResViewFormatUnsignedShort1, TexelKind::kUnsigned, 16},
                  {cudaResViewFormatSignedShort1, TexelKind::kSigned, 16},
                  {cudaResViewFormatUnsignedInt1, TexelKind::kUnsigned, 32},
                  {cudaResViewFormatSignedInt1, TexelKind::kSigned, 32},
                  {cudaResViewFormatHalf1, TexelKind::kFloat, 16},
                  {cudaResViewFormatFloat1, TexelKind::kFloat, 32}};
  if (view.format == cudaResViewFormatNone) return;
  for (const auto& known : kFormats) {
    const int more = static_cast<int>(view.format) - static_cast<int>(known.first);
    if (more < 0 || more > 2) continue;
    const TexelFormat format{known.kind, known.bits, static_cast<std::uint8_t>(1 << more)};
    if (format.bytes() != texture.levels[0].format.bytes()) refuse();
    for (Image& level : texture.levels) level.format = format;
    return;
  }
  refuse(cudaErrorNotSupported, "resource views of compressed formats are not implemented");
}

Texture texture_of(const Runtime& runtime, const TextureRegistry::Entry& entry) {
  const cudaTextureDesc& desc = entry.texture;
  Texture texture;
  texture.levels = images_of(runtime, entry.resource);
  if (entry.has_view) apply_view(entry.view, texture);
  texture.linear_memory = entry.resource.resType == cudaResourceTypeLinear;
  for (std::size_t d = 0; d < 3; ++d) {
    if (desc.addressMode[d] < cudaAddressModeWrap || desc.addressMode[d] > cudaAddressModeBorder)
      refuse();
    texture.modes[d] = static_cast<AddressMode>(desc.addressMode[d]);
    texture.border[d] = desc.borderColor[d];
  }
  texture.border[3] = desc.borderColor[3];
  const TexelFormat& format = texture.levels[0].format;
  const bool integers = format.kind != TexelKind::kFloat;
  if (desc.filterMode != cudaFilterModePoint && desc.filterMode != cudaFilterModeLinear) refuse();
  texture.to_float = integers && desc.readMode == cudaReadModeNormalizedFloat;
  if (desc.readMode == cudaReadModeNormalizedFloat && format.bits == 32)
    refuse(cudaErrorInvalidNormSetting);
  texture.linear = desc.filterMode == cudaFilterModeLinear;
  if (texture.linear && integers && !texture.to_float) refuse(cudaErrorInvalidFilterSetting);
  texture.linear_levels = desc.mipmapFilterMode == cudaFilterModeLinear;
  texture.normalized = desc.normalizedCoords != 0;
  texture.srgb = desc.sRGB != 0;
  texture.cube = entry.resource.resType == cudaResourceTypeArray &&
                 (runtime.arrays.known(entry.resource.res.array.array).flags &
                  (cudaArrayCubemap | cudaArrayLayered)) == cudaArrayCubemap;
  texture.seamless = desc.seamlessCubemap != 0;
  texture.anisotropic = desc.maxAnisotropy > 1;
  texture.bias = desc.mipmapLevelBias;
  texture.least_level = desc.minMipmapLevelClamp;
  texture.most_level = desc.maxMipmapLevelClamp;
  return texture;
}

}  // namespace

unsigned long long TextureRegistry::add(const Entry& entry, TextureObjects::Object object) {
  auto changed = std::make_shared<TextureObjects>(*objects_);
  const unsigned long long handle = changed->add(std::move(object));
  objects_ = std::move(changed);
  entries_.emplace(handle, entry);
  return handle;
}

const TextureRegistry::Entry& TextureRegistry::known(unsigned long long handle,
                                                     bool is_surface) const {
  const auto found = entries_.find(handle);
  if (found == entries_.end() || found->second.is_surface != is_surface) refuse();
  return found->second;
}

void TextureRegistry::remove(unsigned long long handle) {
  auto changed = std::make_shared<TextureObjects>(*objects_);
  changed->remove(handle);
  objects_ = std::move(changed);
  entries_.erase(handle);
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

static cudaError_t destroy_object(unsigned long long object, bool is_surface) {
  return call([&](Runtime& runtime) {
    if (object == 0) return;
    runtime.textures.known(object, is_surface);
    runtime.textures.remove(object);
  });
}

static cudaError_t get_resource(cudaResourceDesc* desc, unsigned long long object,
                                bool is_surface) {
  return call_for(
      desc, [&](Runtime& runtime) { return runtime.textures.known(object, is_surface).resource; });
}

VGPU_CALL(cudaCreateTextureObject, cudaTextureObject_t* object, const cudaResourceDesc* resource,
          const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  if (object == nullptr || resource == nullptr) refuse();
  if (texture == nullptr) refuse(cudaErrorInvalidResourceHandle);
  TextureRegistry::Entry entry{*resource, *texture, {}, view != nullptr, false};
  if (view != nullptr) entry.view = *view;
  entry.texture.normalizedCoords = texture->normalizedCoords != 0 ? 1 : 0;
  if (texture->readMode != cudaReadModeNormalizedFloat)
    entry.texture.readMode = cudaReadModeElementType;
  *object = runtime.textures.add(entry, texture_of(runtime, entry));
}

VGPU_BY(cudaDestroyTextureObject, 1, destroy_object(a0, false));
VGPU_BY(cudaGetTextureObjectResourceDesc, 2, get_resource(a0, a1, false));

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* desc, cudaTextureObject_t object) {
  return call_for(desc,
                  [&](Runtime& runtime) { return runtime.textures.known(object, false).texture; });
}

VGPU_CALL(cudaGetTextureObjectResourceViewDesc, cudaResourceViewDesc* desc,
          cudaTextureObject_t object) {
  const auto& entry = runtime.textures.known(object, false);
  if (desc == nullptr) refuse();
  *desc = entry.view;  // zeros if there is none
}

VGPU_CALL(cudaCreateSurfaceObject, cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  if (object == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray)
    refuse();
  const cudaArray& array = runtime.arrays.known(resource->res.array.array);
  *object = runtime.textures.add({*resource, {}, {}, false, true}, vgpu::Surface{array.image});
}

VGPU_BY(cudaDestroySurfaceObject, 1, destroy_object(a0, true));
VGPU_BY(cudaGetSurfaceObjectResourceDesc, 2, get_resource(a0, a1, true));

VGPU_CALL(cudaDeviceGetTexture1DLinearMaxWidth, size_t* width, const cudaChannelFormatDesc* desc,
          int device) {
  if (width == nullptr || desc == nullptr) refuse();
  runtime.known_device(device);
  texel_format(*desc);
  *width = std::size_t{1} << 30;
}
