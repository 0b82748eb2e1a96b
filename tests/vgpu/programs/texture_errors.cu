// SPDX-License-Identifier: Apache-2.0
// Prints the runtime's return values for valid and invalid calls on arrays, textures and surfaces.
// texture_errors.h100 is the output on an H100; the virtual GPU must print the same.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

static void answer(const char* call, cudaError_t error) {
  std::printf("%-100s %s, last %d\n", call, cudaGetErrorName(error),
              static_cast<int>(cudaGetLastError()));
}

// A macro, because the text of the call is printed.
#define CALL(...) answer(#__VA_ARGS__, __VA_ARGS__)

static void show(cudaArray_t array) {
  cudaChannelFormatDesc d{};
  cudaExtent e{};
  unsigned flags = 0;
  CALL(cudaArrayGetInfo(&d, &e, &flags, array));
  std::printf("%d %d %d %d kind %d, %zu %zu %zu, flags %u\n", d.x, d.y, d.z, d.w, d.f, e.width,
              e.height, e.depth, flags);
}

static cudaChannelFormatDesc f(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

static void arrays() {
  constexpr auto kFloat = cudaChannelFormatKindFloat;
  constexpr auto kSigned = cudaChannelFormatKindSigned;
  constexpr auto kUnsigned = cudaChannelFormatKindUnsigned;
  cudaArray_t a = nullptr;
  const auto make = [&](const char* what, const cudaChannelFormatDesc& d, cudaExtent e,
                        unsigned flags = 0) {
    a = nullptr;
    answer(what, cudaMalloc3DArray(&a, &d, e, flags));
    if (a == nullptr) return;
    show(a);
    CALL(cudaFreeArray(a));
  };
#define MAKE(...) make("make(" #__VA_ARGS__ ")", __VA_ARGS__)
  MAKE(f(32, 0, 0, 0, kFloat), {16, 8, 0});
  MAKE(f(32, 32, 0, 0, kFloat), {16, 8, 4});
  MAKE(f(32, 32, 32, 0, kFloat), {16, 8, 0});
  MAKE(f(32, 32, 32, 32, kFloat), {16, 0, 0});
  MAKE(f(32, 16, 0, 0, kFloat), {16, 8, 0});
  MAKE(f(0, 32, 0, 0, kFloat), {16, 8, 0});
  MAKE(f(0, 0, 0, 0, kFloat), {16, 8, 0});
  MAKE(f(8, 0, 0, 0, kFloat), {16, 8, 0});
  MAKE(f(16, 0, 0, 0, kFloat), {16, 8, 0});
  MAKE(f(64, 0, 0, 0, kFloat), {16, 8, 0});
  MAKE(f(64, 0, 0, 0, kSigned), {16, 8, 0});
  MAKE(f(8, 8, 0, 8, kUnsigned), {16, 8, 0});
  MAKE(f(24, 0, 0, 0, kUnsigned), {16, 8, 0});
  MAKE(f(8, 8, 8, 8, kSigned), {16, 8, 0});
  MAKE(f(8, 0, 0, 0, cudaChannelFormatKindNone), {16, 8, 0});
  MAKE(f(8, 0, 0, 0, static_cast<cudaChannelFormatKind>(77)), {16, 8, 0});
  MAKE(f(32, 0, 0, 0, kFloat), {0, 0, 0});
  MAKE(f(32, 0, 0, 0, kFloat), {0, 8, 0});
  MAKE(f(32, 0, 0, 0, kFloat), {16, 0, 4});
  MAKE(f(32, 0, 0, 0, kFloat), {16, 0, 4}, cudaArrayLayered);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 8, 4}, cudaArrayLayered);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 8, 0}, cudaArrayLayered);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 16, 6}, cudaArrayCubemap);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 8, 6}, cudaArrayCubemap);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 16, 5}, cudaArrayCubemap);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 16, 12}, cudaArrayCubemap);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 16, 12}, cudaArrayCubemap | cudaArrayLayered);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 16, 13}, cudaArrayCubemap | cudaArrayLayered);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 8, 0}, cudaArraySurfaceLoadStore);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 8, 0}, cudaArrayTextureGather);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 0, 0}, cudaArrayTextureGather);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 8, 4}, cudaArrayTextureGather);
  MAKE(f(32, 0, 0, 0, kFloat), {16, 8, 0}, 0x1000);
  MAKE(f(32, 0, 0, 0, kFloat), {131072, 0, 0});
  MAKE(f(32, 0, 0, 0, kFloat), {131073, 0, 0});
  MAKE(f(8, 0, 0, 0, kUnsigned), {131072, 2, 0});
  MAKE(f(8, 0, 0, 0, kUnsigned), {131073, 2, 0});
  MAKE(f(8, 0, 0, 0, kUnsigned), {2, 65536, 0});
  MAKE(f(8, 0, 0, 0, kUnsigned), {2, 65537, 0});
  MAKE(f(8, 0, 0, 0, kUnsigned), {16384, 2, 2});
  MAKE(f(8, 0, 0, 0, kUnsigned), {16385, 2, 2});
  MAKE(f(8, 0, 0, 0, kUnsigned), {2, 2, 16384});
  MAKE(f(8, 0, 0, 0, kUnsigned), {2, 2, 16385});
  MAKE(f(8, 0, 0, 0, kUnsigned), {32768, 0, 2048}, cudaArrayLayered);
  MAKE(f(8, 0, 0, 0, kUnsigned), {32769, 0, 2}, cudaArrayLayered);
  MAKE(f(8, 0, 0, 0, kUnsigned), {2, 0, 2049}, cudaArrayLayered);
  MAKE(f(8, 0, 0, 0, kUnsigned), {32769, 2, 2}, cudaArrayLayered);
  MAKE(f(8, 0, 0, 0, kUnsigned), {32768, 2, 0}, cudaArraySurfaceLoadStore);
  MAKE(f(8, 0, 0, 0, kUnsigned), {131073, 2, 0}, cudaArraySurfaceLoadStore);
#undef MAKE
  const cudaChannelFormatDesc d = f(32, 0, 0, 0, kFloat);
  CALL(cudaMallocArray(&a, &d, 16));
  show(a);
  CALL(cudaFreeArray(a));
  CALL(cudaFreeArray(nullptr));
  CALL(cudaMallocArray(nullptr, &d, 16));
  CALL(cudaMallocArray(&a, nullptr, 16));
  CALL(cudaMallocArray(&a, &d, 0));
  CALL(cudaMallocArray(&a, &d, 16, 8, cudaArrayLayered));
}

static void copies() {
  const cudaChannelFormatDesc d = f(32, 0, 0, 0, cudaChannelFormatKindFloat);
  constexpr auto kIn = cudaMemcpyHostToDevice;
  constexpr auto kOut = cudaMemcpyDeviceToHost;
  static float host[1024];
  cudaArray_t a = nullptr, b = nullptr, deep = nullptr;
  CALL(cudaMallocArray(&a, &d, 16, 8));
  CALL(cudaMallocArray(&b, &d, 16, 8));
  CALL(cudaMalloc3DArray(&deep, &d, {16, 8, 4}));
  CALL(cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, 8, kIn));
  CALL(cudaMemcpy2DToArray(a, 0, 0, host, 60, 64, 8, kIn));
  CALL(cudaMemcpy2DToArray(a, 4, 0, host, 64, 64, 8, kIn));
  CALL(cudaMemcpy2DToArray(a, 4, 0, host, 64, 60, 8, kIn));
  CALL(cudaMemcpy2DToArray(a, 0, 1, host, 64, 64, 8, kIn));
  CALL(cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, 9, kIn));
  CALL(cudaMemcpy2DToArray(a, 0, 0, host, 64, 0, 8, kIn));
  CALL(cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, 8, kOut));
  CALL(cudaMemcpy2DToArray(a, 0, 0, host, 64, 64, 8, cudaMemcpyDefault));
  CALL(cudaMemcpy2DToArray(nullptr, 0, 0, host, 64, 64, 8, kIn));
  CALL(cudaMemcpy2DToArray(deep, 0, 0, host, 64, 64, 8, kIn));
  CALL(cudaMemcpy2DFromArray(host, 64, a, 0, 0, 64, 8, kOut));
  CALL(cudaMemcpy2DFromArray(host, 64, a, 0, 0, 68, 8, kOut));
  CALL(cudaMemcpy2DFromArray(host, 64, a, 0, 0, 64, 8, kIn));
  CALL(cudaMemcpy2DArrayToArray(a, 0, 0, b, 0, 0, 64, 8, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy2DArrayToArray(a, 0, 0, b, 4, 0, 64, 8, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpy2DArrayToArray(a, 0, 0, b, 4, 1, 60, 7, cudaMemcpyDeviceToDevice));
  CALL(cudaMemcpyToArray(a, 0, 0, host, 512, kIn));
  CALL(cudaMemcpyToArray(a, 0, 0, host, 516, kIn));
  CALL(cudaMemcpyToArray(a, 4, 1, host, 100, kIn));
  CALL(cudaMemcpyFromArray(host, a, 4, 1, 100, kOut));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(host, 64, 16, 8);
  p.dstArray = deep;
  p.extent = make_cudaExtent(16, 8, 4);
  p.kind = kIn;
  CALL(cudaMemcpy3D(&p));
  p.extent.width = 17;
  CALL(cudaMemcpy3D(&p));
  p.extent.width = 16, p.extent.depth = 5;
  CALL(cudaMemcpy3D(&p));
  p.extent.depth = 4, p.dstPos.x = 1;
  CALL(cudaMemcpy3D(&p));
  p.dstPos.x = 0, p.dstPtr = p.srcPtr;
  CALL(cudaMemcpy3D(&p));
  p.dstPtr = {}, p.srcArray = a, p.dstArray = a, p.srcPtr = {}, p.extent = {16, 8, 1};
  p.kind = cudaMemcpyDeviceToDevice;
  CALL(cudaMemcpy3D(&p));
  p.extent = {16, 8, 0};
  CALL(cudaMemcpy3D(&p));
  CALL(cudaFreeArray(a));
  CALL(cudaFreeArray(b));
  CALL(cudaFreeArray(deep));
}

static void textures() {
  void* memory = nullptr;
  CALL(cudaMalloc(&memory, 65536));
  char* const bytes = static_cast<char*>(memory);
  cudaArray_t a = nullptr, words = nullptr;
  const cudaChannelFormatDesc d = f(32, 0, 0, 0, cudaChannelFormatKindFloat);
  const cudaChannelFormatDesc w = f(32, 0, 0, 0, cudaChannelFormatKindSigned);
  const cudaChannelFormatDesc h = f(16, 0, 0, 0, cudaChannelFormatKindUnsigned);
  CALL(cudaMallocArray(&a, &d, 16, 8, cudaArraySurfaceLoadStore));
  CALL(cudaMallocArray(&words, &w, 16, 8));
  cudaResourceDesc array{}, linear{}, pitched{};
  array.resType = cudaResourceTypeArray;
  array.res.array.array = a;
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {memory, d, 4096};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D = {memory, d, 16, 8, 512};
  const auto create = [&](const char* what, const cudaResourceDesc& r, const cudaTextureDesc& t) {
    cudaTextureObject_t object = 0;
    answer(what, cudaCreateTextureObject(&object, &r, &t, nullptr));
    if (object == 0) return;
    cudaResourceDesc resource;
    cudaTextureDesc texture;
    cudaResourceViewDesc view;
    std::memset(&texture, 0, sizeof texture);
    CALL(cudaGetTextureObjectResourceDesc(&resource, object));
    CALL(cudaGetTextureObjectTextureDesc(&texture, object));
    CALL(cudaGetTextureObjectResourceViewDesc(&view, object));
    std::printf("%d; modes %d %d %d filter %d read %d normalized %d sRGB %d\n", resource.resType,
                texture.addressMode[0], texture.addressMode[1], texture.addressMode[2],
                texture.filterMode, texture.readMode, texture.normalizedCoords, texture.sRGB);
    CALL(cudaDestroyTextureObject(object));
  };
  const auto with = [&](const char* what, cudaResourceDesc r, auto change) {
    cudaTextureDesc t{};
    change(r, t);
    create(what, r, t);
  };
#define WITH(resource, ...)                                                            \
  with(#resource " " #__VA_ARGS__, resource,                                           \
       []([[maybe_unused]] cudaResourceDesc& r, [[maybe_unused]] cudaTextureDesc& t) { \
         __VA_ARGS__;                                                                  \
       })
#define WITH_HERE(resource, ...)                                                        \
  with(#resource " " #__VA_ARGS__, resource,                                            \
       [&]([[maybe_unused]] cudaResourceDesc& r, [[maybe_unused]] cudaTextureDesc& t) { \
         __VA_ARGS__;                                                                   \
       })
  WITH(array, );
  WITH(array, t.filterMode = cudaFilterModeLinear);
  WITH(array, t.addressMode[0] = cudaAddressModeWrap);
  WITH(array, t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = cudaAddressModeMirror);
  WITH(array, t.addressMode[0] = static_cast<cudaTextureAddressMode>(9));
  WITH(array, t.filterMode = static_cast<cudaTextureFilterMode>(9));
  WITH(array, t.readMode = static_cast<cudaTextureReadMode>(9));
  WITH(array, t.readMode = cudaReadModeNormalizedFloat);
  WITH(array, t.normalizedCoords = 7);
  WITH(array, t.sRGB = 1);
  WITH(array, t.maxAnisotropy = 17);
  WITH(array, t.addressMode[0] = cudaAddressModeBorder; t.borderColor[0] = 5);
  WITH(array, r.res.array.array = nullptr);
  WITH(array, r.resType = static_cast<cudaResourceType>(8));
  WITH_HERE(array, r.res.array.array = words);
  WITH_HERE(array, r.res.array.array = words; t.filterMode = cudaFilterModeLinear);
  WITH_HERE(array, r.res.array.array = words; t.readMode = cudaReadModeNormalizedFloat);
  WITH(linear, );
  WITH(linear, t.filterMode = cudaFilterModeLinear);
  WITH(linear, t.addressMode[0] = cudaAddressModeWrap);
  WITH(linear, t.normalizedCoords = 1);
  WITH(linear, r.res.linear.sizeInBytes = 4095);
  WITH(linear, r.res.linear.sizeInBytes = std::size_t{1} << 40);
  WITH(linear, r.res.linear.devPtr = nullptr);
  WITH_HERE(linear, r.res.linear.devPtr = bytes + 4);
  WITH_HERE(linear, r.res.linear.devPtr = bytes + 16);
  WITH_HERE(linear, r.res.linear.devPtr = bytes + 256);
  WITH_HERE(linear, r.res.linear.devPtr = bytes + 512);
  WITH(linear, r.res.linear.desc.y = 16);
  WITH(linear, r.res.linear.desc = {32, 32, 32, 0, cudaChannelFormatKindFloat});
  WITH_HERE(linear, r.res.linear.desc = h; t.readMode = cudaReadModeNormalizedFloat);
  WITH(pitched, );
  WITH(pitched, t.filterMode = cudaFilterModeLinear);
  WITH(pitched, t.normalizedCoords = 1; t.addressMode[0] = cudaAddressModeWrap);
  WITH(pitched, r.res.pitch2D.pitchInBytes = 64);
  WITH(pitched, r.res.pitch2D.pitchInBytes = 48);
  WITH(pitched, r.res.pitch2D.width = 131073);
  WITH(pitched, r.res.pitch2D.height = 65001);
  WITH(pitched, r.res.pitch2D.devPtr = nullptr);
  WITH_HERE(pitched, r.res.pitch2D.devPtr = bytes + 32);
  WITH_HERE(pitched, r.res.pitch2D.desc = w; t.filterMode = cudaFilterModeLinear);
#undef WITH
#undef WITH_HERE
  cudaTextureObject_t object = 0;
  const cudaTextureDesc t{};
  CALL(cudaCreateTextureObject(nullptr, &array, &t, nullptr));
  CALL(cudaCreateTextureObject(&object, nullptr, &t, nullptr));
  CALL(cudaCreateTextureObject(&object, &array, nullptr, nullptr));
  CALL(cudaDestroyTextureObject(0));
  cudaResourceDesc resource;
  cudaTextureDesc texture;
  CALL(cudaGetTextureObjectResourceDesc(&resource, 0));
  CALL(cudaGetTextureObjectTextureDesc(&texture, 0));
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatFloat1;
  view.width = 16, view.height = 8;
  CALL(cudaCreateTextureObject(&object, &array, &t, &view));
  cudaResourceViewDesc got{};
  CALL(cudaGetTextureObjectResourceViewDesc(&got, object));
  std::printf("view %d %zu %zu %zu\n", got.format, got.width, got.height, got.depth);
  CALL(cudaDestroyTextureObject(object));
  view.format = cudaResViewFormatUnsignedInt1;
  CALL(cudaCreateTextureObject(&object, &array, &t, &view));
  view.format = cudaResViewFormatFloat2;
  CALL(cudaCreateTextureObject(&object, &array, &t, &view));
  cudaSurfaceObject_t surface = 0;
  CALL(cudaCreateSurfaceObject(&surface, &array));
  CALL(cudaGetSurfaceObjectResourceDesc(&resource, surface));
  CALL(cudaDestroySurfaceObject(surface));
  array.res.array.array = words;
  CALL(cudaCreateSurfaceObject(&surface, &array));
  CALL(cudaCreateSurfaceObject(&surface, &linear));
  CALL(cudaCreateSurfaceObject(nullptr, &array));
  CALL(cudaCreateSurfaceObject(&surface, nullptr));
  CALL(cudaDestroySurfaceObject(0));
  std::size_t most = 0;
  CALL(cudaDeviceGetTexture1DLinearMaxWidth(&most, &d, 0));
  std::printf("%zu\n", most);
  CALL(cudaDeviceGetTexture1DLinearMaxWidth(&most, &h, 0));
  std::printf("%zu\n", most);
  CALL(cudaFreeArray(a));
  CALL(cudaFreeArray(words));
  CALL(cudaFree(memory));
}

static void mipmaps() {
  const cudaChannelFormatDesc d = f(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaMipmappedArray_t m = nullptr;
  cudaArray_t level = nullptr;
  CALL(cudaMallocMipmappedArray(&m, &d, {16, 8, 0}, 3));
  for (unsigned l = 0; l < 4; ++l) {
    CALL(cudaGetMipmappedArrayLevel(&level, m, l));
    if (l < 3) show(level);
  }
  CALL(cudaFreeMipmappedArray(m));
  CALL(cudaMallocMipmappedArray(&m, &d, {16, 8, 0}, 99));
  CALL(cudaGetMipmappedArrayLevel(&level, m, 4));
  CALL(cudaGetMipmappedArrayLevel(&level, m, 5));
  CALL(cudaFreeMipmappedArray(m));
  CALL(cudaMallocMipmappedArray(&m, &d, {16, 8, 0}, 0));
  CALL(cudaFreeMipmappedArray(nullptr));
}

int main() {
  arrays();
  copies();
  textures();
  mipmaps();
}
