// SPDX-License-Identifier: Apache-2.0
// Loads, stores and reductions of surfaces, queries, and fetches from mipmapped arrays. Prints a
// hash of the results' bits for each case; surfaces.h100 has those of an H100, and the virtual GPU
// must print the same.
//   surfaces [FILE]   also writes every result to FILE
#include "textures.hpp"

using namespace textures;

namespace {

constexpr int kThreads = 512;

// Coordinates around an extent of 16 x 8 x 4 elements.
__device__ int3 around(int i) { return {i % 23 - 3, i / 23 % 11 - 1, i / 7 % 7 - 1}; }

template <class T, cudaSurfaceBoundaryMode kMode>
__global__ void load(cudaSurfaceObject_t s, T* out, int dim) {
  const int i = static_cast<int>(threadIdx.x), size = static_cast<int>(sizeof(T));
  const int3 at = around(i);
  switch (dim) {
    case 0: out[i] = surf1Dread<T>(s, at.x * size, kMode); break;
    case 1: out[i] = surf2Dread<T>(s, at.x * size, at.y, kMode); break;
    case 2: out[i] = surf3Dread<T>(s, at.x * size, at.y, at.z, kMode); break;
    case 3: out[i] = surf1DLayeredread<T>(s, at.x * size, at.z, kMode); break;
    case 4: out[i] = surf2DLayeredread<T>(s, at.x * size, at.y, at.z, kMode); break;
    default: out[i] = surfCubemapread<T>(s, at.x * size, at.y, at.z, kMode);
  }
}

template <class T, cudaSurfaceBoundaryMode kMode>
__global__ void store(cudaSurfaceObject_t s, const T* in, int dim) {
  const int i = static_cast<int>(threadIdx.x), size = static_cast<int>(sizeof(T));
  const int3 at = around(i);
  // With clamping several threads store to one element; only those inside do.
  if (kMode == cudaBoundaryModeClamp && (at.x < 0 || at.x > 15 || at.y < 0 || at.y > 7)) return;
  switch (dim) {
    case 0:
      if (i < 23) surf1Dwrite(in[i], s, at.x * size, kMode);
      break;
    case 1:
      if (i < 23 * 11) surf2Dwrite(in[i], s, at.x * size, at.y, kMode);
      break;
    case 2:
      if (i < 23 * 11) surf3Dwrite(in[i], s, at.x * size, at.y, at.y % 4, kMode);
      break;
    case 3:
      if (i < 23) surf1DLayeredwrite(in[i], s, at.x * size, 2, kMode);
      break;
    case 4:
      if (i < 23 * 11) surf2DLayeredwrite(in[i], s, at.x * size, at.y, 1, kMode);
      break;
    default:
      if (i < 23 * 11) surfCubemapwrite(in[i], s, at.x * size, at.y, 3, kMode);
  }
}

struct Shape {
  const char* name;
  cudaExtent extent;
  unsigned flags;
};
constexpr Shape kShapes[] = {{"1D", {16, 0, 0}, 0},
                             {"2D", {16, 8, 0}, 0},
                             {"3D", {16, 8, 4}, 0},
                             {"1DLayered", {16, 0, 4}, cudaArrayLayered},
                             {"2DLayered", {16, 8, 4}, cudaArrayLayered},
                             {"cube", {16, 16, 6}, cudaArrayCubemap}};

cudaSurfaceObject_t surface(const Array& array) {
  const cudaResourceDesc resource = array.resource();
  cudaSurfaceObject_t s = 0;
  require(cudaCreateSurfaceObject(&s, &resource));
  return s;
}

std::vector<std::uint8_t> contents(cudaArray_t array, const Shape& shape, std::size_t element) {
  std::vector<std::uint8_t> bytes(texels_in(shape.extent) * element);
  cudaMemcpy3DParms copy{};
  copy.srcArray = array;
  copy.extent = whole(shape.extent);
  copy.dstPtr = make_cudaPitchedPtr(bytes.data(), shape.extent.width * element, shape.extent.width,
                                    copy.extent.height);
  copy.kind = cudaMemcpyDeviceToHost;
  require(cudaMemcpy3D(&copy));
  return bytes;
}

template <class T>
void loads_and_stores(const Results& results, const Format& format) {
  for (int dim = 0; dim < 6; ++dim) {
    const Shape& shape = kShapes[dim];
    Random random(static_cast<std::uint64_t>(dim) + sizeof(T));
    const Array array(format, shape.extent, shape.flags | cudaArraySurfaceLoadStore,
                      texels(format, texels_in(shape.extent), true, random));
    const cudaSurfaceObject_t s = surface(array);
    const std::string name = std::string(shape.name) + " " + format.name();
    const DeviceArray<T> out(kThreads);
    load<T, cudaBoundaryModeZero><<<1, kThreads>>>(s, out.get(), dim);
    results.show(name + " load zero", out.read());
    load<T, cudaBoundaryModeClamp><<<1, kThreads>>>(s, out.get(), dim);
    results.show(name + " load clamp", out.read());
    const std::vector<std::uint8_t> bytes = texels(format, kThreads, true, random);
    std::vector<T> values(kThreads);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    const DeviceArray<T> in(values);
    store<T, cudaBoundaryModeZero><<<1, kThreads>>>(s, in.get(), dim);
    results.show(name + " store zero", contents(array.get(), shape, format.bytes()));
    const std::vector<T> reversed(values.rbegin(), values.rend());
    const DeviceArray<T> others(reversed);
    store<T, cudaBoundaryModeClamp><<<1, kThreads>>>(s, others.get(), dim);
    results.show(name + " store clamp", contents(array.get(), shape, format.bytes()));
    require(cudaDestroySurfaceObject(s));
  }
}

__global__ void reduce(cudaSurfaceObject_t s) {
  const int x = static_cast<int>(threadIdx.x % 16) * 4, i = static_cast<int>(threadIdx.x);
  asm volatile("sured.b.add.2d.u32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(0), "r"(i));
  asm volatile("sured.b.min.2d.u32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(1), "r"(i - 9));
  asm volatile("sured.b.max.2d.u32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(2), "r"(i - 9));
  asm volatile("sured.b.min.2d.s32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(3), "r"(i - 9));
  asm volatile("sured.b.max.2d.s32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(4), "r"(i - 9));
  asm volatile("sured.b.and.2d.b32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(5), "r"(~i));
  asm volatile("sured.b.or.2d.b32.clamp [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(6), "r"(i));
  asm volatile("sured.b.add.2d.u32.zero [%0, {%1, %2}], %3;" ::"l"(s), "r"(x - 8), "r"(7), "r"(i));
}

void reductions(const Results& results) {
  const Format format{cudaChannelFormatKindUnsigned, 32, 1};
  Random random(3);
  const Array array(format, {16, 8, 0}, cudaArraySurfaceLoadStore,
                    texels(format, 128, true, random));
  const cudaSurfaceObject_t s = surface(array);
  reduce<<<1, kThreads>>>(s);
  results.show("reductions", contents(array.get(), kShapes[1], 4));
  require(cudaDestroySurfaceObject(s));
}

__global__ void ask(cudaTextureObject_t t, cudaSurfaceObject_t s, int* out) {
  asm volatile("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
  asm volatile("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
  asm volatile("txq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
  asm volatile("suq.width.b32 %0, [%1];" : "=r"(out[3]) : "l"(s));
  asm volatile("suq.height.b32 %0, [%1];" : "=r"(out[4]) : "l"(s));
  asm volatile("suq.depth.b32 %0, [%1];" : "=r"(out[5]) : "l"(s));
}

void queries(const Results& results) {
  const Format format{cudaChannelFormatKindUnsigned, 16, 2};
  for (const Shape& shape : kShapes) {
    Random random(3);
    const Array array(format, shape.extent, shape.flags | cudaArraySurfaceLoadStore,
                      texels(format, 16 * 16 * 6, true, random));
    const TextureObject t(array.resource());
    const cudaSurfaceObject_t s = surface(array);
    const DeviceArray<int> out(6);
    ask<<<1, 1>>>(t, s, out.get());
    require(cudaDeviceSynchronize());
    const std::vector<int> answers = out.read();
    std::printf("queries %s:", shape.name);
    for (const int answer : answers) std::printf(" %d", answer);
    std::printf("\n");
    require(cudaDestroySurfaceObject(s));
  }
}

__global__ void level(cudaTextureObject_t t, const float4* at, float4* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = tex2DLod<float4>(t, at[i].x, at[i].y, at[i].z);
}

__global__ void gradient(cudaTextureObject_t t, const float4* at, float4* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = tex2DGrad<float4>(t, at[i].x, at[i].y, make_float2(at[i].z / 32, 0),
                             make_float2(0, at[i].w / 32));
}

// 32 x 16 texels and their smaller levels.
void mipmaps(const Results& results) {
  for (const int channels : {1, 4}) {
    const Format format{cudaChannelFormatKindFloat, 32, channels};
    Random random(9);
    std::vector<std::vector<std::uint8_t>> levels;
    for (unsigned l = 0; l < 6; ++l)
      levels.push_back(texels(format, texels_in({32u >> l, 16u >> l, 0}), false, random));
    const Mipmap mipmap(format, {32, 16, 0}, levels);
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      for (const auto between : {cudaFilterModePoint, cudaFilterModeLinear}) {
        for (int kind = 0; kind < 4; ++kind) {
          cudaTextureDesc how{};
          how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
          how.filterMode = filter;
          how.mipmapFilterMode = between;
          how.normalizedCoords = 1;
          how.maxMipmapLevelClamp = kind == 1 ? 3.25f : 5;
          how.minMipmapLevelClamp = kind == 1 ? 1.5f : 0;
          how.mipmapLevelBias = kind == 2 ? 0.75f : 0;
          how.maxAnisotropy = kind == 3 ? 8 : 0;
          const TextureObject t(mipmap.resource(), how);
          std::vector<float4> at;
          for (int i = 0; i < kThreads; ++i) {
            at.push_back({random.unit() * 2 - 0.5f, random.unit() * 2 - 0.5f, random.unit() * 8 - 1,
                          random.unit() * 8});
          }
          const DeviceArray<float4> in(at), out(kThreads);
          const std::string name = "mipmap " + format.name() + " " + std::to_string(filter) +
                                   std::to_string(between) + " " + std::to_string(kind);
          level<<<1, kThreads>>>(t, in.get(), out.get());
          results.show(name + " level", out.read());
          gradient<<<1, kThreads>>>(t, in.get(), out.get());
          results.show(name + " gradient", out.read());
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Results results(argc > 1 ? argv[1] : nullptr);
  loads_and_stores<unsigned char>(results, {cudaChannelFormatKindUnsigned, 8, 1});
  loads_and_stores<uchar4>(results, {cudaChannelFormatKindUnsigned, 8, 4});
  loads_and_stores<short>(results, {cudaChannelFormatKindSigned, 16, 1});
  loads_and_stores<short2>(results, {cudaChannelFormatKindSigned, 16, 2});
  loads_and_stores<float>(results, {cudaChannelFormatKindFloat, 32, 1});
  loads_and_stores<float2>(results, {cudaChannelFormatKindFloat, 32, 2});
  loads_and_stores<int4>(results, {cudaChannelFormatKindSigned, 32, 4});
  reductions(results);
  queries(results);
  mipmaps(results);
}
