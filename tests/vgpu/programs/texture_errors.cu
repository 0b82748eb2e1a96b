// SPDX-License-Identifier: Apache-2.0
// The runtime's return values for valid and invalid calls on arrays, textures and surfaces, as an
// H100 has them.
#include <string>

#include "require.hpp"

static cudaChannelFormatDesc f(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

static void has(cudaArray_t array, const cudaChannelFormatDesc& desc, cudaExtent extent,
                unsigned flags, int line = __builtin_LINE()) {
  cudaChannelFormatDesc d{};
  cudaExtent e{};
  unsigned found = 0;
  succeeds(cudaArrayGetInfo(&d, &e, &found, array), line);
  require(d.x == desc.x && d.y == desc.y && d.z == desc.z && d.w == desc.w && d.f == desc.f,
          "the array's format", line);
  require(e.width == extent.width && e.height == extent.height && e.depth == extent.depth,
          "the array's extent", line);
  require(found == flags, "the array's flags", line);
}

static void makes(const cudaChannelFormatDesc& desc, cudaExtent extent, unsigned flags = 0,
                  int line = __builtin_LINE()) {
  cudaArray_t array = nullptr;
  succeeds(cudaMalloc3DArray(&array, &desc, extent, flags), line);
  has(array, desc, extent, flags, line);
  succeeds(cudaFreeArray(array), line);
}

static void refuses(cudaError_t expected, const cudaChannelFormatDesc& desc, cudaExtent extent,
                    unsigned flags = 0, int line = __builtin_LINE()) {
  cudaArray_t array = nullptr;
  fails(cudaMalloc3DArray(&array, &desc, extent, flags), expected, line);
}

static void arrays() {
  constexpr auto kFloat = cudaChannelFormatKindFloat;
  constexpr auto kSigned = cudaChannelFormatKindSigned;
  constexpr auto kUnsigned = cudaChannelFormatKindUnsigned;
  constexpr auto kValue = cudaErrorInvalidValue, kDescriptor = cudaErrorInvalidChannelDescriptor;
  makes(f(32, 0, 0, 0, kFloat), {16, 8, 0});
  makes(f(32, 32, 0, 0, kFloat), {16, 8, 4});
  refuses(kDescriptor, f(32, 32, 32, 0, kFloat), {16, 8, 0});
  makes(f(32, 32, 32, 32, kFloat), {16, 0, 0});
  refuses(kDescriptor, f(32, 16, 0, 0, kFloat), {16, 8, 0});
  refuses(kDescriptor, f(0, 32, 0, 0, kFloat), {16, 8, 0});
  refuses(kDescriptor, f(0, 0, 0, 0, kFloat), {16, 8, 0});
  refuses(kDescriptor, f(8, 0, 0, 0, kFloat), {16, 8, 0});
  makes(f(16, 0, 0, 0, kFloat), {16, 8, 0});
  refuses(kDescriptor, f(64, 0, 0, 0, kFloat), {16, 8, 0});
  refuses(kDescriptor, f(64, 0, 0, 0, kSigned), {16, 8, 0});
  refuses(kDescriptor, f(8, 8, 0, 8, kUnsigned), {16, 8, 0});
  refuses(kDescriptor, f(24, 0, 0, 0, kUnsigned), {16, 8, 0});
  makes(f(8, 8, 8, 8, kSigned), {16, 8, 0});
  refuses(kDescriptor, f(8, 0, 0, 0, cudaChannelFormatKindNone), {16, 8, 0});
  refuses(kDescriptor, f(8, 0, 0, 0, static_cast<cudaChannelFormatKind>(77)), {16, 8, 0});
  refuses(kValue, f(32, 0, 0, 0, kFloat), {0, 0, 0});
  refuses(kValue, f(32, 0, 0, 0, kFloat), {0, 8, 0});
  refuses(kValue, f(32, 0, 0, 0, kFloat), {16, 0, 4});
  makes(f(32, 0, 0, 0, kFloat), {16, 0, 4}, cudaArrayLayered);
  makes(f(32, 0, 0, 0, kFloat), {16, 8, 4}, cudaArrayLayered);
  refuses(kValue, f(32, 0, 0, 0, kFloat), {16, 8, 0}, cudaArrayLayered);
  makes(f(32, 0, 0, 0, kFloat), {16, 16, 6}, cudaArrayCubemap);
  refuses(kValue, f(32, 0, 0, 0, kFloat), {16, 8, 6}, cudaArrayCubemap);
  refuses(kValue, f(32, 0, 0, 0, kFloat), {16, 16, 5}, cudaArrayCubemap);
  refuses(kValue, f(32, 0, 0, 0, kFloat), {16, 16, 12}, cudaArrayCubemap);
  makes(f(32, 0, 0, 0, kFloat), {16, 16, 12}, cudaArrayCubemap | cudaArrayLayered);
  refuses(kValue, f(32, 0, 0, 0, kFloat), {16, 16, 13}, cudaArrayCubemap | cudaArrayLayered);
  makes(f(32, 0, 0, 0, kFloat), {16, 8, 0}, cudaArraySurfaceLoadStore);
  makes(f(32, 0, 0, 0, kFloat), {16, 8, 0}, cudaArrayTextureGather);
  refuses(kValue, f(32, 0, 0, 0, kFloat), {16, 0, 0}, cudaArrayTextureGather);
  refuses(kValue, f(32, 0, 0, 0, kFloat), {16, 8, 4}, cudaArrayTextureGather);
  refuses(kValue, f(32, 0, 0, 0, kFloat), {16, 8, 0}, 0x1000);
  makes(f(32, 0, 0, 0, kFloat), {131072, 0, 0});
  refuses(kValue, f(32, 0, 0, 0, kFloat), {131073, 0, 0});
  makes(f(8, 0, 0, 0, kUnsigned), {131072, 2, 0});
  refuses(kValue, f(8, 0, 0, 0, kUnsigned), {131073, 2, 0});
  makes(f(8, 0, 0, 0, kUnsigned), {2, 65536, 0});
  refuses(kValue, f(8, 0, 0, 0, kUnsigned), {2, 65537, 0});
  makes(f(8, 0, 0, 0, kUnsigned), {16384, 2, 2});
  refuses(kValue, f(8, 0, 0, 0, kUnsigned), {16385, 2, 2});
  makes(f(8, 0, 0, 0, kUnsigned), {2, 2, 16384});
  makes(f(8, 0, 0, 0, kUnsigned), {2, 2, 16385});
  makes(f(8, 0, 0, 0, kUnsigned), {32768, 0, 2048}, cudaArrayLayered);
  refuses(kValue, f(8, 0, 0, 0, kUnsigned), {32769, 0, 2}, cudaArrayLayered);
  refuses(kValue, f(8, 0, 0, 0, kUnsigned), {2, 0, 2049}, cudaArrayLayered);
  refuses(kValue, f(8, 0, 0, 0, kUnsigned), {32769, 2, 2}, cudaArrayLayered);
  makes(f(8, 0, 0, 0, kUnsigned), {32768, 2, 0}, cudaArraySurfaceLoadStore);
  refuses(kValue, f(8, 0, 0, 0, kUnsigned), {131073, 2, 0}, cudaArraySurfaceLoadStore);
  const cudaChannelFormatDesc d = f(32, 0, 0, 0, kFloat);
  cudaArray_t a = nullptr;
  succeeds(cudaMallocArray(&a, &d, 16));
  has(a, d, {16, 0, 0}, 0);
  succeeds(cudaFreeArray(a));
  succeeds(cudaFreeArray(nullptr));
  fails(cudaMallocArray(nullptr, &d, 16));
  fails(cudaMallocArray(&a, nullptr, 16));
  fails(cudaMallocArray(&a, &d, 0));
  fails(cudaMallocArray(&a, &d, 16, 8, cudaArrayLayered));
}

static void copies() {
  const cudaChannelFormatDesc d = f(32, 0, 0, 0, cudaChannelFormatKindFloat);
  constexpr auto kIn = cudaMemcpyHostToDevice;
  constexpr auto kOut = cudaMemcpyDeviceToHost;
  static float host[1024];
  cudaArray_t a = nullptr, b = nullptr, deep = nullptr;
  succeeds(cudaMallocArray(&a, &d, 16, 8));
  succeeds(cudaMallocArray(&b, &d, 16, 8));
  succeeds(cudaMalloc3DArray(&deep, &d, {16, 8, 4}));
  succeeds(cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, 8, kIn));
  fails(cudaMemcpy2DToArray(a, 0, 0, host, 60, 64, 8, kIn), cudaErrorInvalidPitchValue);
  fails(cudaMemcpy2DToArray(a, 4, 0, host, 64, 64, 8, kIn));
  succeeds(cudaMemcpy2DToArray(a, 4, 0, host, 64, 60, 8, kIn));
  fails(cudaMemcpy2DToArray(a, 0, 1, host, 64, 64, 8, kIn));
  fails(cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, 9, kIn));
  succeeds(cudaMemcpy2DToArray(a, 0, 0, host, 64, 0, 8, kIn));
  fails(cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, 8, kOut), cudaErrorInvalidMemcpyDirection);
  succeeds(cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, 8, cudaMemcpyDefault));
  fails(cudaMemcpy2DToArray(nullptr, 0, 0, host, 64, 64, 8, kIn), cudaErrorInvalidResourceHandle);
  succeeds(cudaMemcpy2DToArray(deep, 0, 0, host, 64, 64, 8, kIn));
  succeeds(cudaMemcpy2DFromArray(host, 64, a, 0, 0, 64, 8, kOut));
  fails(cudaMemcpy2DFromArray(host, 64, a, 0, 0, 68, 8, kOut), cudaErrorInvalidPitchValue);
  fails(cudaMemcpy2DFromArray(host, 64, a, 0, 0, 64, 8, kIn), cudaErrorInvalidMemcpyDirection);
  succeeds(cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, 64, 8, cudaMemcpyDeviceToDevice));
  fails(cudaMemcpy2DArrayToArray(a, 0, 0, b, 4, 0, 64, 8, cudaMemcpyDeviceToDevice));
  succeeds(cudaMemcpy2DArrayToArray(a, 0, 0, b, 4, 1, 60, 7, cudaMemcpyDeviceToDevice));
  succeeds(cudaMemcpyToArray(a, 0, 0, host, 512, kIn));
  fails(cudaMemcpyToArray(a, 0, 0, host, 516, kIn));
  succeeds(cudaMemcpyToArray(a, 4, 1, host, 100, kIn));
  succeeds(cudaMemcpyFromArray(host, a, 4, 1, 100, kOut));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(host, 64, 16, 8);
  p.dstArray = deep;
  p.extent = make_cudaExtent(16, 8, 4);
  p.kind = kIn;
  succeeds(cudaMemcpy3D(&p));
  p.extent.width = 17;
  fails(cudaMemcpy3D(&p));
  p.extent.width = 16, p.extent.depth = 5;
  fails(cudaMemcpy3D(&p));
  p.extent.depth = 4, p.dstPos.x = 1;
  fails(cudaMemcpy3D(&p));
  p.dstPos.x = 0, p.dstPtr = p.srcPtr;
  fails(cudaMemcpy3D(&p));
  p.dstPtr = {}, p.srcArray = a, p.dstArray = a, p.srcPtr = {}, p.extent = {16, 8, 1};
  p.kind = cudaMemcpyDeviceToDevice;
  succeeds(cudaMemcpy3D(&p));
  p.extent = {16, 8, 0};
  succeeds(cudaMemcpy3D(&p));
  succeeds(cudaFreeArray(a));
  succeeds(cudaFreeArray(b));
  succeeds(cudaFreeArray(deep));
}

static void textures() {
  void* memory = nullptr;
  succeeds(cudaMalloc(&memory, 65536));
  char* const bytes = static_cast<char*>(memory);
  cudaArray_t a = nullptr, words = nullptr;
  const cudaChannelFormatDesc d = f(32, 0, 0, 0, cudaChannelFormatKindFloat);
  const cudaChannelFormatDesc w = f(32, 0, 0, 0, cudaChannelFormatKindSigned);
  const cudaChannelFormatDesc h = f(16, 0, 0, 0, cudaChannelFormatKindUnsigned);
  succeeds(cudaMallocArray(&a, &d, 16, 8, cudaArraySurfaceLoadStore));
  succeeds(cudaMallocArray(&words, &w, 16, 8));
  cudaResourceDesc array{}, linear{}, pitched{};
  array.resType = cudaResourceTypeArray;
  array.res.array.array = a;
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {memory, d, 4096};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D = {memory, d, 16, 8, 512};
  // The modes that the object has: of addresses, of the filter, of reads, normalised, sRGB; or the
  // error.
  const auto of = [](const cudaResourceDesc& r, const cudaTextureDesc& t) -> std::string {
    cudaTextureObject_t object = 0;
    const cudaError_t error = cudaCreateTextureObject(&object, &r, &t, nullptr);
    require(cudaGetLastError(), error, "the last error");
    if (error != cudaSuccess) return cudaGetErrorName(error);
    cudaResourceDesc resource;
    cudaTextureDesc texture{};
    cudaResourceViewDesc view;
    succeeds(cudaGetTextureObjectResourceDesc(&resource, object));
    succeeds(cudaGetTextureObjectTextureDesc(&texture, object));
    succeeds(cudaGetTextureObjectResourceViewDesc(&view, object));
    require(resource.resType == r.resType, "the kind of resource");
    succeeds(cudaDestroyTextureObject(object));
    std::string modes;
    for (const int mode :
         {int{texture.addressMode[0]}, int{texture.addressMode[1]}, int{texture.addressMode[2]},
          int{texture.filterMode}, int{texture.readMode}, texture.normalizedCoords, texture.sRGB})
      modes += std::to_string(mode) + " ";
    return modes;
  };
  // Of the resource `r` and the texture `t`, after the assignments.
#define WITH(expected, resource, ...)                                                \
  {                                                                                  \
    cudaResourceDesc r = resource;                                                   \
    cudaTextureDesc t{};                                                             \
    __VA_ARGS__;                                                                     \
    const std::string found = of(r, t);                                              \
    require(found == expected, (found + " of " #resource " " #__VA_ARGS__).c_str()); \
  }
  WITH("0 0 0 0 0 0 0 ", array)
  WITH("0 0 0 1 0 0 0 ", array, t.filterMode = cudaFilterModeLinear)
  WITH("0 0 0 0 0 0 0 ", array, t.addressMode[0] = cudaAddressModeWrap)
  WITH("2 2 2 0 0 0 0 ", array,
       t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = cudaAddressModeMirror)
  WITH("cudaErrorInvalidValue", array, t.addressMode[0] = static_cast<cudaTextureAddressMode>(9))
  WITH("cudaErrorInvalidValue", array, t.filterMode = static_cast<cudaTextureFilterMode>(9))
  WITH("0 0 0 0 0 0 0 ", array, t.readMode = static_cast<cudaTextureReadMode>(9))
  WITH("cudaErrorInvalidNormSetting", array, t.readMode = cudaReadModeNormalizedFloat)
  WITH("0 0 0 0 0 1 0 ", array, t.normalizedCoords = 7)
  WITH("0 0 0 0 0 0 1 ", array, t.sRGB = 1)
  WITH("0 0 0 0 0 0 0 ", array, t.maxAnisotropy = 17)
  WITH("3 0 0 0 0 0 0 ", array, t.addressMode[0] = cudaAddressModeBorder; t.borderColor[0] = 5)
  WITH("cudaErrorInvalidResourceHandle", array, r.res.array.array = nullptr)
  WITH("cudaErrorInvalidValue", array, r.resType = static_cast<cudaResourceType>(8))
  WITH("0 0 0 0 0 0 0 ", array, r.res.array.array = words)
  WITH("cudaErrorInvalidFilterSetting", array, r.res.array.array = words;
       t.filterMode = cudaFilterModeLinear)
  WITH("cudaErrorInvalidNormSetting", array, r.res.array.array = words;
       t.readMode = cudaReadModeNormalizedFloat)
  WITH("0 0 0 0 0 0 0 ", linear)
  WITH("0 0 0 1 0 0 0 ", linear, t.filterMode = cudaFilterModeLinear)
  WITH("0 0 0 0 0 0 0 ", linear, t.addressMode[0] = cudaAddressModeWrap)
  WITH("0 0 0 0 0 1 0 ", linear, t.normalizedCoords = 1)
  WITH("0 0 0 0 0 0 0 ", linear, r.res.linear.sizeInBytes = 4095)
  WITH("cudaErrorInvalidValue", linear, r.res.linear.sizeInBytes = std::size_t{1} << 40)
  WITH("cudaErrorInvalidValue", linear, r.res.linear.devPtr = nullptr)
  WITH("cudaErrorInvalidValue", linear, r.res.linear.devPtr = bytes + 4)
  WITH("cudaErrorInvalidValue", linear, r.res.linear.devPtr = bytes + 16)
  WITH("cudaErrorInvalidValue", linear, r.res.linear.devPtr = bytes + 256)
  WITH("0 0 0 0 0 0 0 ", linear, r.res.linear.devPtr = bytes + 512)
  WITH("cudaErrorInvalidChannelDescriptor", linear, r.res.linear.desc.y = 16)
  WITH("cudaErrorInvalidChannelDescriptor", linear,
       r.res.linear.desc = {32, 32, 32, 0, cudaChannelFormatKindFloat})
  WITH("0 0 0 0 1 0 0 ", linear, r.res.linear.desc = h; t.readMode = cudaReadModeNormalizedFloat)
  WITH("0 0 0 0 0 0 0 ", pitched)
  WITH("0 0 0 1 0 0 0 ", pitched, t.filterMode = cudaFilterModeLinear)
  WITH("0 0 0 0 0 1 0 ", pitched, t.normalizedCoords = 1; t.addressMode[0] = cudaAddressModeWrap)
  WITH("0 0 0 0 0 0 0 ", pitched, r.res.pitch2D.pitchInBytes = 64)
  WITH("cudaErrorInvalidValue", pitched, r.res.pitch2D.pitchInBytes = 48)
  WITH("cudaErrorInvalidValue", pitched, r.res.pitch2D.width = 131073)
  WITH("cudaErrorInvalidValue", pitched, r.res.pitch2D.height = 65001)
  WITH("cudaErrorInvalidValue", pitched, r.res.pitch2D.devPtr = nullptr)
  WITH("cudaErrorInvalidValue", pitched, r.res.pitch2D.devPtr = bytes + 32)
  WITH("cudaErrorInvalidFilterSetting", pitched, r.res.pitch2D.desc = w;
       t.filterMode = cudaFilterModeLinear)
#undef WITH
  cudaTextureObject_t object = 0;
  const cudaTextureDesc t{};
  fails(cudaCreateTextureObject(nullptr, &array, &t, nullptr));
  fails(cudaCreateTextureObject(&object, nullptr, &t, nullptr));
  fails(cudaCreateTextureObject(&object, &array, nullptr, nullptr), cudaErrorInvalidResourceHandle);
  succeeds(cudaDestroyTextureObject(0));
  cudaResourceDesc resource;
  cudaTextureDesc texture;
  fails(cudaGetTextureObjectResourceDesc(&resource, 0));
  fails(cudaGetTextureObjectTextureDesc(&texture, 0));
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatFloat1;
  view.width = 16, view.height = 8;
  succeeds(cudaCreateTextureObject(&object, &array, &t, &view));
  cudaResourceViewDesc got{};
  succeeds(cudaGetTextureObjectResourceViewDesc(&got, object));
  require(got.format == view.format && got.width == 16 && got.height == 8 && got.depth == 0,
          "the view");
  succeeds(cudaDestroyTextureObject(object));
  view.format = cudaResViewFormatUnsignedInt1;
  succeeds(cudaCreateTextureObject(&object, &array, &t, &view));
  view.format = cudaResViewFormatFloat2;
  fails(cudaCreateTextureObject(&object, &array, &t, &view));
  cudaSurfaceObject_t surface = 0;
  succeeds(cudaCreateSurfaceObject(&surface, &array));
  succeeds(cudaGetSurfaceObjectResourceDesc(&resource, surface));
  succeeds(cudaDestroySurfaceObject(surface));
  array.res.array.array = words;
  succeeds(cudaCreateSurfaceObject(&surface, &array));
  fails(cudaCreateSurfaceObject(&surface, &linear));
  fails(cudaCreateSurfaceObject(nullptr, &array));
  fails(cudaCreateSurfaceObject(&surface, nullptr));
  succeeds(cudaDestroySurfaceObject(0));
  std::size_t most = 0;
  succeeds(cudaDeviceGetTexture1DLinearMaxWidth(&most, &d, 0));
  require(most == 1 << 30, "the most texels");
  succeeds(cudaDeviceGetTexture1DLinearMaxWidth(&most, &h, 0));
  require(most == 1 << 30, "the most texels");
  succeeds(cudaFreeArray(a));
  succeeds(cudaFreeArray(words));
  succeeds(cudaFree(memory));
}

static void mipmaps() {
  const cudaChannelFormatDesc d = f(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaMipmappedArray_t m = nullptr;
  cudaArray_t level = nullptr;
  succeeds(cudaMallocMipmappedArray(&m, &d, {16, 8, 0}, 3));
  for (unsigned l = 0; l < 3; ++l) {
    succeeds(cudaGetMipmappedArrayLevel(&level, m, l));
    has(level, d, {16u >> l, 8u >> l, 0}, 0);
  }
  fails(cudaGetMipmappedArrayLevel(&level, m, 3));
  succeeds(cudaFreeMipmappedArray(m));
  succeeds(cudaMallocMipmappedArray(&m, &d, {16, 8, 0}, 99));
  succeeds(cudaGetMipmappedArrayLevel(&level, m, 4));
  fails(cudaGetMipmappedArrayLevel(&level, m, 5));
  succeeds(cudaFreeMipmappedArray(m));
  succeeds(cudaMallocMipmappedArray(&m, &d, {16, 8, 0}, 0));
  succeeds(cudaFreeMipmappedArray(nullptr));
}

int main() {
  arrays();
  copies();
  textures();
  mipmaps();
}
