// SPDX-License-Identifier: Apache-2.0
// Fetches from textures of every dimension, format, filter, address mode and kind of coordinates,
// at coordinates all over and around the texels. Prints a hash of the results' bits for each case;
// textures.h100 has those of an H100, and the virtual GPU must print the same.
//   textures [FILE]   also writes every result to FILE
#include "textures.hpp"

using namespace textures;

namespace {

enum Dim { k1D, k2D, k3D, k1DLayered, k2DLayered, kCube, kCubeLayered, kFetch, kGather, kDims };
const char* const kNames[] = {"1D",   "2D",          "3D",    "1DLayered", "2DLayered",
                              "cube", "cubeLayered", "fetch", "gather"};

// w: the layer, or the channel of a gather.
template <int kDim, class T>
__device__ T fetch(cudaTextureObject_t t, float4 at) {
  const int w = static_cast<int>(at.w);
  if constexpr (kDim == k1D) return tex1D<T>(t, at.x);
  if constexpr (kDim == k2D) return tex2D<T>(t, at.x, at.y);
  if constexpr (kDim == k3D) return tex3D<T>(t, at.x, at.y, at.z);
  if constexpr (kDim == k1DLayered) return tex1DLayered<T>(t, at.x, w);
  if constexpr (kDim == k2DLayered) return tex2DLayered<T>(t, at.x, at.y, w);
  if constexpr (kDim == kCube) return texCubemap<T>(t, at.x, at.y, at.z);
  if constexpr (kDim == kCubeLayered) return texCubemapLayered<T>(t, at.x, at.y, at.z, w);
  if constexpr (kDim == kFetch) return tex1Dfetch<T>(t, static_cast<int>(at.x));
  if constexpr (kDim == kGather) {
    if (w == 0) return tex2Dgather<T>(t, at.x, at.y, 0);
    if (w == 1) return tex2Dgather<T>(t, at.x, at.y, 1);
    if (w == 2) return tex2Dgather<T>(t, at.x, at.y, 2);
    return tex2Dgather<T>(t, at.x, at.y, 3);
  }
}

template <int kDim, class T>
__global__ void fetch_all(cudaTextureObject_t t, const float4* at, T* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = fetch<kDim, T>(t, at[i]);
}

template <class T>
std::vector<T> fetched(Dim dim, cudaTextureObject_t t, const std::vector<float4>& points) {
  const DeviceArray<float4> at(points);
  const DeviceArray<T> out(points.size());
  const int n = static_cast<int>(points.size()), blocks = (n + 127) / 128;
  switch (dim) {
    case k1D: fetch_all<k1D><<<blocks, 128>>>(t, at.get(), out.get(), n); break;
    case k2D: fetch_all<k2D><<<blocks, 128>>>(t, at.get(), out.get(), n); break;
    case k3D: fetch_all<k3D><<<blocks, 128>>>(t, at.get(), out.get(), n); break;
    case k1DLayered: fetch_all<k1DLayered><<<blocks, 128>>>(t, at.get(), out.get(), n); break;
    case k2DLayered: fetch_all<k2DLayered><<<blocks, 128>>>(t, at.get(), out.get(), n); break;
    case kCube: fetch_all<kCube><<<blocks, 128>>>(t, at.get(), out.get(), n); break;
    case kCubeLayered: fetch_all<kCubeLayered><<<blocks, 128>>>(t, at.get(), out.get(), n); break;
    case kFetch: fetch_all<kFetch><<<blocks, 128>>>(t, at.get(), out.get(), n); break;
    default: fetch_all<kGather><<<blocks, 128>>>(t, at.get(), out.get(), n);
  }
  require(cudaDeviceSynchronize());
  return out.read();
}

constexpr Format kU8{cudaChannelFormatKindUnsigned, 8, 1};
constexpr Format kU8x4{cudaChannelFormatKindUnsigned, 8, 4};
constexpr Format kF32{cudaChannelFormatKindFloat, 32, 1};
constexpr Format kF32x2{cudaChannelFormatKindFloat, 32, 2};
constexpr Format kF32x4{cudaChannelFormatKindFloat, 32, 4};

struct Case {
  Dim dim = k2D;
  Format format = kF32;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  cudaTextureAddressMode modes[3] = {cudaAddressModeClamp, cudaAddressModeClamp,
                                     cudaAddressModeClamp};
  bool normalized = false;
  cudaTextureReadMode read = cudaReadModeElementType;
  bool srgb = false, wild = false;
  cudaExtent extent{};
};

// One coordinate among `size` texels: in texels, before it is normalised.
float coordinate(int kind, float size, Random& random) {
  switch (kind % 8) {
    case 0:  // at eighths of the filter's fraction
      return (static_cast<float>(random.bits() % 4096) / 2048.0f - 0.5f) * size +
             static_cast<float>(random.bits() % 4096) / 2048.0f;
    case 1:  // at halves of a texel
      return static_cast<float>(random.bits() % 64) / 2.0f - 8.0f;
    case 2:  // near the edges
      return (random.bits() % 2 == 0 ? 0.0f : size) + random.unit() * 2.0f - 1.0f;
    case 3:  // far away
      return (random.unit() - 0.5f) * 1000.0f;
    default: return random.unit() * size * 1.5f - size * 0.25f;
  }
}

std::vector<float4> points(const Case& c, int n, Random& random) {
  const bool cube = c.dim == kCube || c.dim == kCubeLayered;
  const bool layered = c.dim == k1DLayered || c.dim == k2DLayered || c.dim == kCubeLayered;
  const float sizes[] = {static_cast<float>(c.extent.width), static_cast<float>(c.extent.height),
                         static_cast<float>(c.extent.depth)};
  const float layers = cube ? sizes[2] / 6 : sizes[2];
  std::vector<float4> result;
  for (int i = 0; i < n; ++i) {
    float at[3];
    for (int d = 0; d < 3; ++d) {
      if (cube) {
        at[d] = i % 4 == 0 ? static_cast<float>(random.bits() % 9) / 4.0f - 1.0f
                           : random.unit() * 4.0f - 2.0f;
        continue;
      }
      const float size = sizes[d] == 0.0f ? 1.0f : sizes[d];
      at[d] = coordinate(i, size, random);
      if (c.normalized) at[d] /= size;
    }
    float w = static_cast<float>(random.bits() % 4);
    if (layered) w = static_cast<float>(random.bits() % 16) / 8.0f * layers - layers / 2.0f;
    if (c.dim == kFetch && c.extent.width > 100)
      at[0] = static_cast<float>(random.bits() % 1200) - 300.0f;
    result.push_back({at[0], at[1], at[2], w});
  }
  return result;
}

// Coordinates that are no numbers or leave the range of the filter's fixed point.
std::vector<float4> odd_points() {
  constexpr float kOdd[] = {0.0f,
                            -0.0f,
                            1e-45f,
                            -1e-45f,
                            0x1p-9f,
                            -0x1p-9f,
                            0x1p-10f,
                            -0x1p-10f,
                            1e5f,
                            -1e5f,
                            0x1p23f,
                            -0x1p23f,
                            0x1p24f,
                            0x1p31f,
                            -0x1p31f,
                            0x1p32f,
                            0x1p40f,
                            -0x1p40f,
                            3e38f,
                            -3e38f,
                            __builtin_inff(),
                            -__builtin_inff(),
                            __builtin_nanf(""),
                            0.99999994f,
                            1.0f,
                            0.5f};
  std::vector<float4> result;
  for (const float x : kOdd) result.push_back({x, 0.5f, 0.5f, 0.0f});
  for (const float y : kOdd) result.push_back({0.5f, y, 0.5f, 0.0f});
  return result;
}

cudaTextureDesc description(const Case& c) {
  cudaTextureDesc desc{};
  for (int d = 0; d < 3; ++d) desc.addressMode[d] = c.modes[d];
  desc.filterMode = c.filter;
  desc.readMode = c.read;
  desc.sRGB = c.srgb ? 1 : 0;
  desc.normalizedCoords = c.normalized ? 1 : 0;
  const float border[] = {0.25f, -2.0f, 0.75f, 3.0f};
  std::memcpy(desc.borderColor, border, sizeof border);
  return desc;
}

std::string name_of(const Case& c) {
  constexpr const char* kModes[] = {"wrap", "clamp", "mirror", "border"};
  std::string name = std::string(kNames[c.dim]) + " " + c.format.name();
  name += c.filter == cudaFilterModeLinear ? " linear" : " point";
  for (int d = 0; d < 3; ++d) name += std::string(d == 0 ? " " : "/") + kModes[c.modes[d]];
  if (c.normalized) name += " normalized";
  if (c.read == cudaReadModeNormalizedFloat) name += " to float";
  if (c.srgb) name += " sRGB";
  if (c.wild) name += " wild";
  return name + " " + std::to_string(c.extent.width) + "x" + std::to_string(c.extent.height) + "x" +
         std::to_string(c.extent.depth);
}

void show(const Results& results, const Case& c, const std::string& name,
          const cudaResourceDesc& resource, const std::vector<float4>& at) {
  const TextureObject t(resource, description(c));
  if (c.read == cudaReadModeNormalizedFloat || c.format.kind == cudaChannelFormatKindFloat)
    results.show(name, fetched<float4>(c.dim, t, at));
  else if (c.format.kind == cudaChannelFormatKindSigned)
    results.show(name, fetched<int4>(c.dim, t, at));
  else
    results.show(name, fetched<uint4>(c.dim, t, at));
}

void run(const Results& results, const Case& c, int n = 1024) {
  const std::string name = name_of(c);
  Random random(name);
  unsigned flags = 0;
  if (c.dim == k1DLayered || c.dim == k2DLayered || c.dim == kCubeLayered)
    flags |= cudaArrayLayered;
  if (c.dim == kCube || c.dim == kCubeLayered) flags |= cudaArrayCubemap;
  if (c.dim == kGather) flags |= cudaArrayTextureGather;
  const Array array(c.format, c.extent, flags,
                    texels(c.format, texels_in(c.extent), c.wild, random));
  show(results, c, name, array.resource(), points(c, n, random));
  if (c.dim == k2D && c.format.name() == "f32x1" && !c.wild)
    show(results, c, name + " odd", array.resource(), odd_points());
}

void modes(const Results& results) {
  for (const bool normalized : {false, true}) {
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      for (int mode = 0; mode < 4; ++mode) {
        Case c;
        c.filter = filter;
        c.normalized = normalized;
        for (auto& m : c.modes) m = static_cast<cudaTextureAddressMode>(mode);
        c.dim = k1D, c.extent = {19, 0, 0};
        run(results, c);
        c.dim = k2D, c.extent = {16, 8, 0};
        run(results, c);
        c.extent = {21, 11, 0}, c.format = kF32x4;
        run(results, c);
        c.dim = k3D, c.extent = {9, 6, 5}, c.format = kF32;
        run(results, c);
        c.dim = k1DLayered, c.extent = {13, 0, 3};
        run(results, c);
        c.dim = k2DLayered, c.extent = {13, 7, 3}, c.format = kF32x2;
        run(results, c);
        c.dim = kGather, c.extent = {15, 9, 0}, c.format = kF32x4;
        run(results, c);
        c.format = kU8x4, c.read = cudaReadModeNormalizedFloat;
        run(results, c);
        c.dim = k2D, c.modes[1] = static_cast<cudaTextureAddressMode>((mode + 1) % 4);
        run(results, c);
      }
      for (const Dim dim : {kCube, kCubeLayered}) {
        for (const Format& format : {kF32, kU8x4}) {
          Case c;
          c.dim = dim;
          c.format = format;
          c.filter = filter;
          c.normalized = normalized;
          if (format.bits == 8) c.read = cudaReadModeNormalizedFloat;
          c.extent = {8, 8, dim == kCube ? 6u : 18u};
          run(results, c);
        }
      }
    }
  }
}

void formats(const Results& results) {
  for (const auto kind :
       {cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat}) {
    for (const int bits : {8, 16, 32}) {
      if (kind == cudaChannelFormatKindFloat && bits == 8) continue;
      for (const int channels : {1, 2, 4}) {
        Case c;
        c.format = {kind, bits, channels};
        c.extent = {17, 13, 0};
        run(results, c);
        c.modes[0] = c.modes[1] = cudaAddressModeBorder;
        run(results, c);
        c.modes[0] = c.modes[1] = cudaAddressModeClamp;
        if (kind != cudaChannelFormatKindFloat && bits == 32) continue;
        if (kind != cudaChannelFormatKindFloat) {
          c.read = cudaReadModeNormalizedFloat;
          run(results, c);
        }
        c.filter = cudaFilterModeLinear;
        run(results, c);
        c.modes[0] = c.modes[1] = cudaAddressModeBorder;
        run(results, c);
        c.modes[0] = c.modes[1] = cudaAddressModeClamp;
        c.dim = k3D, c.extent = {7, 5, 4};
        run(results, c);
        c.dim = k1D, c.extent = {37, 0, 0};
        run(results, c);
        c.wild = true;
        run(results, c);
        c.dim = k2D, c.extent = {17, 13, 0};
        run(results, c);
        if (bits != 8 || kind != cudaChannelFormatKindUnsigned || channels != 4) continue;
        c.srgb = true;
        run(results, c);
        c.filter = cudaFilterModePoint;
        run(results, c);
      }
    }
  }
}

// The filter alone: every 1/4096 of the way between two texels, and all texels of 8 bits.
void weights(const Results& results) {
  for (const Format& format : {kF32, kU8}) {
    Case c;
    c.dim = k1D;
    c.format = format;
    c.extent = {2, 0, 0};
    c.filter = cudaFilterModeLinear;
    if (format.bits == 8) c.read = cudaReadModeNormalizedFloat;
    std::vector<float4> at;
    for (int i = -64; i < 4096 + 64; ++i)
      at.push_back({0.5f + static_cast<float>(i) / 4096.0f, 0, 0, 0});
    for (int pair = 0; pair < 12; ++pair) {
      constexpr float kPairs[][2] = {{0, 1},          {1, 0},       {1, 1},
                                     {1, 3},          {-1, 1},      {1, 1e-3f},
                                     {1e10f, 1e-10f}, {0.1f, 0.7f}, {1e-39f, 1e-40f},
                                     {3e38f, 3e38f},  {1, -0.999f}, {16777215, 1}};
      constexpr std::uint8_t kBytes[][2] = {{0, 255}, {255, 0},   {255, 255}, {1, 0},
                                            {0, 1},   {1, 2},     {128, 127}, {3, 200},
                                            {17, 16}, {254, 255}, {85, 170},  {100, 101}};
      std::vector<std::uint8_t> bytes(2 * format.bytes());
      if (format.bits == 8)
        std::memcpy(bytes.data(), kBytes[pair], 2);
      else
        std::memcpy(bytes.data(), kPairs[pair], 8);
      const Array array(format, c.extent, 0, bytes);
      const std::string name = "weights " + format.name() + " " + std::to_string(pair);
      show(results, c, name, array.resource(), at);
    }
  }
  for (const bool srgb : {false, true}) {
    for (const auto kind : {cudaChannelFormatKindUnsigned, cudaChannelFormatKindSigned}) {
      if (srgb && kind == cudaChannelFormatKindSigned) continue;
      Case c;
      c.dim = k1D;
      c.format = {kind, 8, 4};
      c.read = cudaReadModeNormalizedFloat;
      c.srgb = srgb;
      c.extent = {256, 0, 0};
      std::vector<std::uint8_t> bytes;
      std::vector<float4> at;
      for (int i = 0; i < 1024; ++i) bytes.push_back(static_cast<std::uint8_t>(i / 4));
      for (int i = 0; i < 256; ++i) at.push_back({static_cast<float>(i) + 0.5f, 0, 0, 0});
      const Array array(c.format, c.extent, 0, bytes);
      show(results, c, "all values " + c.format.name() + (srgb ? " sRGB" : ""), array.resource(),
           at);
    }
  }
}

// Textures over memory: linear, and rows with a pitch.
void memory(const Results& results) {
  for (const Format& format : {kU8, kF32, kF32x4, Format{cudaChannelFormatKindSigned, 16, 2}}) {
    Case c;
    c.dim = kFetch;
    c.format = format;
    c.extent = {500, 0, 0};
    Random random(name_of(c));
    const DeviceArray<std::uint8_t> linear(texels(format, 600, false, random));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = linear.get();
    resource.res.linear.desc = format.desc();
    resource.res.linear.sizeInBytes = 500 * format.bytes();
    show(results, c, "linear " + name_of(c), resource, points(c, 1024, random));
    for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
      for (int mode = 0; mode < 4; ++mode) {
        for (const bool normalized : {false, true}) {
          c.dim = k2D;
          c.extent = {15, 10, 0};
          c.filter = filter;
          c.normalized = normalized;
          for (auto& m : c.modes) m = static_cast<cudaTextureAddressMode>(mode);
          if (format.bits < 32 && filter == cudaFilterModeLinear)
            c.read = cudaReadModeNormalizedFloat;
          void* pitched = nullptr;
          std::size_t pitch = 0;
          require(cudaMallocPitch(&pitched, &pitch, 15 * format.bytes(), 10));
          const auto bytes = texels(format, 150, false, random);
          require(cudaMemcpy2D(pitched, pitch, bytes.data(), 15 * format.bytes(),
                               15 * format.bytes(), 10, cudaMemcpyHostToDevice));
          resource = {};
          resource.resType = cudaResourceTypePitch2D;
          resource.res.pitch2D = {pitched, format.desc(), 15, 10, pitch};
          show(results, c, "pitched " + name_of(c), resource, points(c, 1024, random));
          require(cudaFree(pitched));
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Results results(argc > 1 ? argv[1] : nullptr);
  weights(results);
  modes(results);
  formats(results);
  memory(results);
}
