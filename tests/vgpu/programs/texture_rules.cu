// SPDX-License-Identifier: Apache-2.0
// Fetches whose results show the arithmetic of the texture unit: the weights of single texels, sums
// of random texels of every format, positions from coordinates, faces of cubes, levels of detail.
// Prints a hash of the results' bits for each case; texture_rules.h100 has those of an H100,
// and the virtual GPU must print the same. The rules in vgpu/texture were found with seed 1 alone.
//   texture_rules [SEED [FILE]]   also writes every result to FILE, and the inputs to FILE.in
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>

#include "textures.hpp"

using namespace textures;

namespace {

enum Way { k1D, k2D, k3D, kCube, kLevel, kGradient };
const char* const kNames[] = {"1D", "2D", "3D", "cube", "level", "gradient"};

struct Point {
  float x, y, z, level;
  float dx[2], dy[2];
};

__device__ float4 fetch(Way way, cudaTextureObject_t t, const Point& p) {
  switch (way) {
    case k1D: return tex1D<float4>(t, p.x);
    case k2D: return tex2D<float4>(t, p.x, p.y);
    case k3D: return tex3D<float4>(t, p.x, p.y, p.z);
    case kCube: return texCubemap<float4>(t, p.x, p.y, p.z);
    case kLevel: return tex2DLod<float4>(t, p.x, p.y, p.level);
    default:
      return tex2DGrad<float4>(t, p.x, p.y, make_float2(p.dx[0], p.dx[1]),
                               make_float2(p.dy[0], p.dy[1]));
  }
}

__global__ void fetch_all(Way way, cudaTextureObject_t t, const Point* at, float4* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = fetch(way, t, at[i]);
}

// The compiler multiplies a cube's coordinates by an approximate reciprocal of the largest one,
// which is exact for these.
bool is_exact(Way way, const Point& p) {
  return way != kCube || std::fmax(std::fmax(std::fabs(p.x), std::fabs(p.y)), std::fabs(p.z)) == 1;
}

constexpr auto kSigned = cudaChannelFormatKindSigned;
constexpr auto kUnsigned = cudaChannelFormatKindUnsigned;
constexpr auto kFloat = cudaChannelFormatKindFloat;

struct Texture {
  Way way = k2D;
  Format format{kFloat, 32, 1};
  cudaExtent extent{};
  std::vector<std::vector<std::uint8_t>> levels;
  cudaTextureDesc desc{};

  Texture(Way how, const Format& of, const cudaExtent& size)
      : way(how), format(of), extent(size), desc{} {
    desc.filterMode = desc.mipmapFilterMode = cudaFilterModeLinear;
    for (auto& mode : desc.addressMode) mode = cudaAddressModeClamp;
    if (format.kind != kFloat) desc.readMode = cudaReadModeNormalizedFloat;
    desc.maxMipmapLevelClamp = 15;
  }
  std::size_t texels(unsigned level = 0) const {
    return texels_in({extent.width >> level, extent.height >> level, extent.depth});
  }
};

// The array of a texture: with levels where their number matters.
class Image {
 public:
  explicit Image(const Texture& texture) {
    const unsigned flags = texture.way == kCube ? cudaArrayCubemap : 0;
    if (texture.levels.size() == 1)
      plain_ = std::make_unique<Array>(texture.format, texture.extent, flags, texture.levels[0]);
    else
      levels_ = std::make_unique<Mipmap>(texture.format, texture.extent, texture.levels);
  }
  cudaResourceDesc resource() const { return plain_ ? plain_->resource() : levels_->resource(); }

 private:
  std::unique_ptr<Array> plain_;
  std::unique_ptr<Mipmap> levels_;
};

class Probe {
 public:
  Probe(const Results& results, std::uint64_t seed, const char* inputs)
      : results_(results),
        seed_(seed),
        inputs_(inputs == nullptr ? nullptr : std::fopen(inputs, "wb")) {}
  ~Probe() {
    if (inputs_ != nullptr) std::fclose(inputs_);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  Random random(const std::string& name) const { return Random(name, seed_); }

  void show(const std::string& name, const Texture& texture, const std::vector<Point>& at) const {
    const Image image(texture);
    const TextureObject t(image.resource(), texture.desc);
    const DeviceArray<Point> points(at);
    const DeviceArray<float4> out(at.size());
    const int n = static_cast<int>(at.size());
    fetch_all<<<(n + 127) / 128, 128>>>(texture.way, t, points.get(), out.get(), n);
    require(cudaDeviceSynchronize());
    std::vector<float> values;
    const std::vector<float4> texels = out.read();
    for (std::size_t i = 0; i < texels.size(); ++i) {
      const float channels[] = {texels[i].x, texels[i].y, texels[i].z, texels[i].w};
      if (is_exact(texture.way, at[i]))
        values.insert(values.end(), channels, channels + texture.format.channels);
    }
    results_.show(name, values);
    note(name, texture, at);
  }

 private:
  void note(const std::string& name, const Texture& texture, const std::vector<Point>& at) const {
    if (inputs_ == nullptr) return;
    std::fprintf(inputs_, "%s\n%d %d %d %d %zu %zu %zu %zu %zu\n", name.c_str(), texture.way,
                 texture.format.kind, texture.format.bits, texture.format.channels,
                 texture.extent.width, texture.extent.height, texture.extent.depth,
                 texture.levels.size(), at.size());
    for (const auto& level : texture.levels) std::fwrite(level.data(), 1, level.size(), inputs_);
    std::fwrite(at.data(), sizeof(Point), at.size(), inputs_);
    std::fprintf(inputs_, "\n");
  }

  const Results& results_;
  std::uint64_t seed_;
  std::FILE* inputs_;
};

// Texels by their number and channel: 1 or 0.
std::vector<std::uint8_t> bits_of(const Format& format, std::size_t count,
                                  const std::function<bool(std::size_t, int)>& is_set) {
  std::vector<std::uint8_t> bytes(count * format.bytes());
  const std::size_t size = static_cast<std::size_t>(format.bits / 8);
  std::uint32_t one = format.bits == 16 ? 0x3c00 : 0x3f800000;
  if (format.kind == kUnsigned) one = (1u << format.bits) - 1;
  if (format.kind == kSigned) one = (1u << (format.bits - 1)) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    for (int c = 0; c < format.channels; ++c) {
      if (is_set(i, c))
        std::memcpy(&bytes[i * format.bytes() + static_cast<std::size_t>(c) * size], &one, size);
    }
  }
  return bytes;
}

std::vector<std::uint8_t> floats_of(const std::vector<float>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Positions at 256ths of a texel, within the centres of the outer texels.
Point between(const cudaExtent& extent, Random& random) {
  const auto one = [&](std::size_t size) {
    return 0.5f +
           static_cast<float>(random.bits() % (256 * std::max<std::size_t>(size - 1, 1))) / 256.0f;
  };
  const float x = one(extent.width), y = one(extent.height), z = one(extent.depth);
  return {x, y, z, 0, {}, {}};
}

std::vector<Point> points(int n, const std::function<Point()>& one) {
  std::vector<Point> at;
  for (int i = 0; i < n; ++i) at.push_back(one());
  return at;
}

// The weight of each texel: one channel of a texture is 1 there.
void weights(const Probe& probe) {
  for (const Format& format :
       {Format{kFloat, 32, 4}, Format{kFloat, 16, 4}, Format{kUnsigned, 8, 4},
        Format{kSigned, 8, 4}, Format{kUnsigned, 16, 4}, Format{kSigned, 16, 4}}) {
    const std::string name = "weights " + format.name();
    Random random = probe.random(name);
    Texture flat(k2D, format, {2, 2, 0});
    flat.levels = {bits_of(format, 4, [](std::size_t i, int c) { return i == std::size_t(c); })};
    probe.show(name + " 2D", flat, points(32768, [&] { return between({2, 2, 1}, random); }));
    const auto at = points(format.bits == 32 ? 65536 : 16384, [&] {
      return between({2, 2, 2}, random);
    });
    for (const std::size_t half : {0, 1}) {
      Texture solid(k3D, format, {2, 2, 2});
      solid.levels = {
          bits_of(format, 8, [&](std::size_t i, int c) { return i == std::size_t(c) + 4 * half; })};
      probe.show(name + " 3D " + std::to_string(half), solid, at);
    }
  }
}

// Of either sign, with exponents from -range to range - 1 that are equally likely.
float wide(int range, Random& random) {
  const int exponent = static_cast<int>(random.bits() % (2u * static_cast<unsigned>(range)));
  const float magnitude = std::ldexp(1 + random.unit(), exponent - range);
  return random.bits() % 2 == 0 ? magnitude : -magnitude;
}

void sums(const Probe& probe) {
  struct Kind {
    const char* name;
    Format format;
    bool wild, srgb;
    int range;
  };
  constexpr Kind kKinds[] = {
      {"near", {kFloat, 32, 1}, false, false, 0},     {"wide 4", {kFloat, 32, 1}, false, false, 4},
      {"wide 30", {kFloat, 32, 1}, false, false, 30}, {"wild", {kFloat, 32, 1}, true, false, 0},
      {"near", {kFloat, 16, 1}, false, false, 0},     {"wild", {kFloat, 16, 1}, true, false, 0},
      {"any", {kUnsigned, 8, 1}, true, false, 0},     {"any", {kSigned, 8, 1}, true, false, 0},
      {"any", {kUnsigned, 16, 1}, true, false, 0},    {"any", {kSigned, 16, 1}, true, false, 0},
      {"sRGB", {kUnsigned, 8, 4}, true, true, 0}};
  constexpr cudaExtent kExtents[] = {{256, 0, 0}, {16, 16, 0}, {8, 8, 8}};
  for (const Kind& kind : kKinds) {
    for (const Way way : {k1D, k2D, k3D}) {
      const std::string name =
          std::string("sums ") + kNames[way] + " " + kind.format.name() + " " + kind.name;
      Random random = probe.random(name);
      Texture texture(way, kind.format, kExtents[way]);
      texture.levels = {texels(kind.format, texture.texels(), kind.wild, random)};
      if (kind.range != 0) {
        std::vector<float> values;
        for (std::size_t i = 0; i < texture.texels(); ++i)
          values.push_back(wide(kind.range, random));
        texture.levels = {floats_of(values)};
      }
      texture.desc.sRGB = kind.srgb ? 1 : 0;
      probe.show(name, texture,
                 points(kind.srgb ? 8192 : 16384, [&] { return between(texture.extent, random); }));
    }
  }
}

// Texels that are their own index, so that results are positions.
void positions(const Probe& probe) {
  for (const int width : {1, 19, 100, 1000, 4096, 16384, 65536}) {
    for (const bool normalized : {false, true}) {
      for (const auto mode : {cudaAddressModeClamp, cudaAddressModeWrap, cudaAddressModeMirror}) {
        if (!normalized && mode != cudaAddressModeClamp) continue;
        for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
          const std::string name = "positions " + std::to_string(width) +
                                   (normalized ? " normalized " : " ") + std::to_string(mode) +
                                   (filter == cudaFilterModePoint ? " point" : " linear");
          Random random = probe.random(name);
          Texture texture(k1D, {kFloat, 32, 1}, {static_cast<std::size_t>(width), 0, 0});
          std::vector<float> values;
          for (int i = 0; i < width; ++i) values.push_back(static_cast<float>(i));
          texture.levels = {floats_of(values)};
          texture.desc.filterMode = filter;
          texture.desc.addressMode[0] = mode;
          texture.desc.normalizedCoords = normalized ? 1 : 0;
          const float unit = normalized ? 1.0f : static_cast<float>(width);
          int count = 0;
          probe.show(name, texture, points(4096, [&] {
                       float x = random.unit() * 2 - 0.5f;
                       if (++count % 4 == 0) x = wide(20, random);
                       if (count % 4 == 1)  // near the edge of a texel or a 256th
                         x = static_cast<float>(random.bits() % (512u * std::uint32_t(width))) /
                                 (512.0f * static_cast<float>(width)) +
                             static_cast<float>(static_cast<int>(random.bits() % 65) - 32) *
                                 0x1p-26f;
                       return Point{x * unit, 0, 0, 0, {}, {}};
                     }));
        }
      }
    }
  }
}

// Directions: with a largest component of 1, near the edges of texels, any, and odd ones.
Point direction(int kind, int size, Random& random) {
  float at[3];
  for (float& x : at) x = random.unit() * 2 - 1;
  float& most = at[random.bits() % 3];
  if (kind % 4 < 2) {
    if (kind % 4 == 1)
      for (float& x : at)
        x = static_cast<float>(random.bits() % (512u * std::uint32_t(size) + 1)) /
                (256.0f * static_cast<float>(size)) -
            1.0f + static_cast<float>(static_cast<int>(random.bits() % 17) - 8) * 0x1p-24f;
    most = random.bits() % 2 == 0 ? 1.0f : -1.0f;
  } else if (kind % 4 == 3) {
    constexpr float kOdd[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 3e38f, -3e38f, 1e-40f, -1e-40f};
    for (float& x : at) x = kOdd[random.bits() % std::size(kOdd)];
  }
  return {at[0], at[1], at[2], 0, {}, {}};
}

void cubes(const Probe& probe) {
  for (const int size : {1, 5, 8, 64, 256}) {
    for (const int how : {0, 1, 2}) {  // point, linear, linear across edges
      const std::string name = "cube " + std::to_string(size) + " " + std::to_string(how);
      Random random = probe.random(name);
      const auto edge = static_cast<std::size_t>(size);
      Texture texture(kCube, {kFloat, 32, 4}, {edge, edge, 6});
      std::vector<float> values;
      for (int i = 0; i < 6 * size * size; ++i) {
        for (const int value : {i % size, i / size % size, i / size / size, 1})
          values.push_back(static_cast<float>(value));
      }
      texture.levels = {floats_of(values)};
      texture.desc.normalizedCoords = 1;
      texture.desc.filterMode = how == 0 ? cudaFilterModePoint : cudaFilterModeLinear;
      texture.desc.seamlessCubemap = how == 2 ? 1 : 0;
      int count = 0;
      probe.show(name, texture, points(8192, [&] { return direction(count++, size, random); }));
    }
  }
  // The weight of each of 24 texels.
  for (const int seamless : {0, 1}) {
    Random random = probe.random("cube weights");
    int count = 0;
    const auto at = points(4096, [&] { return direction(count++ % 3, 2, random); });
    for (std::size_t face = 0; face < 6; ++face) {
      Texture texture(kCube, {kFloat, 32, 4}, {2, 2, 6});
      texture.levels = {bits_of(texture.format, 24, [&](std::size_t i, int c) {
        return i == 4 * face + std::size_t(c);
      })};
      texture.desc.normalizedCoords = 1;
      texture.desc.seamlessCubemap = seamless;
      probe.show("cube weights " + std::to_string(seamless) + " " + std::to_string(face), texture,
                 at);
    }
  }
}

Point footprint(int kind, Random& random) {
  Point p{random.unit(), random.unit(), 0, random.unit() * 9 - 1.5f, {}, {}};
  for (float* d : {p.dx, p.dy}) {
    d[0] = wide(4, random) / 16;
    d[1] = wide(4, random) / 16;
  }
  if (kind % 4 == 0) p.dx[1] = p.dy[0] = p.dy[1] = 0;
  if (kind % 4 == 1) p.dx[1] = p.dy[0] = 0;
  if (kind % 4 == 2) p.dy[0] = p.dy[1] = 0;
  if (kind % 8 == 4) p.level = static_cast<float>(random.bits() % 4096) / 512.0f;
  return p;
}

// Levels that hold their own number, and levels of random texels.
void levels(const Probe& probe) {
  struct Kind {
    float bias, least, most;
    int anisotropy;
  };
  constexpr Kind kKinds[] = {{0, 0, 15, 0}, {0.7f, 1.3f, 4.7f, 0}, {-0.3f, 0, 3, 1}};
  constexpr Format kFormats[] = {
      {kFloat, 32, 1}, {kFloat, 16, 1}, {kUnsigned, 8, 1}, {kSigned, 8, 1}, {kUnsigned, 16, 1}};
  for (const Way way : {kLevel, kGradient}) {
    for (const auto between_levels : {cudaFilterModePoint, cudaFilterModeLinear}) {
      const auto show = [&](const std::string& name, Texture& texture) {
        Random random = probe.random(name);
        texture.desc.mipmapFilterMode = between_levels;
        texture.desc.normalizedCoords = 1;
        int count = 0;
        probe.show(name, texture, points(4096, [&] { return footprint(count++, random); }));
      };
      const std::string start = std::string(kNames[way]) + " " + std::to_string(between_levels);
      for (const Kind& kind : kKinds) {
        Texture texture(way, {kFloat, 32, 1}, {64, 32, 0});
        for (unsigned l = 0; l < 7; ++l)
          texture.levels.push_back(
              floats_of(std::vector<float>(texture.texels(l), static_cast<float>(l))));
        texture.desc.mipmapLevelBias = kind.bias;
        texture.desc.minMipmapLevelClamp = kind.least;
        texture.desc.maxMipmapLevelClamp = kind.most;
        show(start + " number, bias " + std::to_string(kind.bias), texture);
      }
      for (const Format& format : kFormats) {
        for (const auto filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
          Texture texture(way, format, {64, 32, 0});
          const std::string name = start + " " + format.name() + " " + std::to_string(filter);
          Random random = probe.random("texels of " + name);
          for (unsigned l = 0; l < 7; ++l)
            texture.levels.push_back(texels(format, texture.texels(l), false, random));
          texture.desc.filterMode = filter;
          show(name, texture);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::string inputs = argc > 2 ? std::string(argv[2]) + ".in" : "";
  const Results results(argc > 2 ? argv[2] : nullptr);
  const Probe probe(results, seed, argc > 2 ? inputs.c_str() : nullptr);
  weights(probe);
  sums(probe);
  positions(probe);
  cubes(probe);
  levels(probe);
}
