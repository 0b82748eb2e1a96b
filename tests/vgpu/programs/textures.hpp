// SPDX-License-Identifier: Apache-2.0
// What the tests of textures and surfaces share: numbers that every machine draws alike, texels,
// arrays, and a line of output per case with a hash of the results. With a file as its argument the
// program also writes every result there, so that differences between two machines can be found.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "device_array.hpp"

namespace textures {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  explicit Random(const std::string& name, std::uint64_t seed = 1) : Random(mixed(name, seed)) {}
  std::uint32_t bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>(state_ >> 32);
  }
  // In [0, 1), with 24 bits.
  float unit() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }

 private:
  static std::uint64_t mixed(const std::string& name, std::uint64_t seed) {
    for (const char letter : name) seed = seed * 31 + static_cast<unsigned char>(letter);
    return seed;
  }
  std::uint64_t state_;
};

// With a size of 1 where an array has none: its rows, planes and texels.
inline cudaExtent whole(const cudaExtent& extent) {
  const auto at_least_one = [](std::size_t size) { return size == 0 ? 1 : size; };
  return {at_least_one(extent.width), at_least_one(extent.height), at_least_one(extent.depth)};
}
inline std::size_t texels_in(const cudaExtent& extent) {
  const cudaExtent all = whole(extent);
  return all.width * all.height * all.depth;
}

// An array's format: "u8", "f32" ..., and the number of channels.
struct Format {
  cudaChannelFormatKind kind;
  int bits;
  int channels;

  cudaChannelFormatDesc desc() const {
    return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, kind};
  }
  std::size_t bytes() const { return static_cast<std::size_t>(bits / 8 * channels); }
  std::string name() const {
    const char letter = kind == cudaChannelFormatKindSigned     ? 's'
                        : kind == cudaChannelFormatKindUnsigned ? 'u'
                                                                : 'f';
    return letter + std::to_string(bits) + "x" + std::to_string(channels);
  }
};

// Texels: all bits random for integers; finite numbers for floating point. `wild`: any bits.
inline std::vector<std::uint8_t> texels(const Format& format, std::size_t count, bool wild,
                                        Random& random) {
  std::vector<std::uint8_t> bytes(count * format.bytes());
  const std::size_t size = static_cast<std::size_t>(format.bits / 8);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    std::uint32_t bits = random.bits();
    if (format.kind == cudaChannelFormatKindFloat && format.bits == 16) {
      bits = wild ? bits >> 16 : (bits & 0x8000u) | (0x2c00u + (bits >> 16) % 0x2000u);
    } else if (format.kind == cudaChannelFormatKindFloat && !wild) {
      const float value = static_cast<float>(bits >> 8) * 0x1p-23f - 1.0f;
      std::memcpy(&bits, &value, 4);
    }
    std::memcpy(bytes.data() + at, &bits, size);
  }
  return bytes;
}

// Prints the case's hash, and writes all values to the file of results.
class Results {
 public:
  explicit Results(const char* path) : file_(path == nullptr ? nullptr : std::fopen(path, "wb")) {}
  ~Results() {
    if (file_ != nullptr) std::fclose(file_);
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  void show(const std::string& name, const void* values, std::size_t bytes) const {
    const auto* const at = static_cast<const std::uint8_t*>(values);
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
    std::printf("%-60s %016llx\n", name.c_str(), static_cast<unsigned long long>(hash));
    if (file_ == nullptr) return;
    std::fprintf(file_, "%s\n%zu\n", name.c_str(), bytes);
    std::fwrite(values, 1, bytes, file_);
    std::fprintf(file_, "\n");
  }
  template <class T>
  void show(const std::string& name, const std::vector<T>& values) const {
    show(name, values.data(), values.size() * sizeof(T));
  }

 private:
  std::FILE* file_;
};

// An array with texels in it. `extent`: as for cudaMalloc3DArray.
class Array {
 public:
  Array(const Format& format, cudaExtent extent, unsigned flags,
        const std::vector<std::uint8_t>& bytes) {
    const cudaChannelFormatDesc desc = format.desc();
    require(cudaMalloc3DArray(&array_, &desc, extent, flags));
    cudaMemcpy3DParms copy{};
    copy.extent = whole(extent);
    copy.srcPtr =
        make_cudaPitchedPtr(const_cast<std::uint8_t*>(bytes.data()), extent.width * format.bytes(),
                            extent.width, copy.extent.height);
    copy.dstArray = array_;
    copy.kind = cudaMemcpyHostToDevice;
    require(cudaMemcpy3D(&copy));
  }
  ~Array() { cudaFreeArray(array_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  cudaArray_t get() const { return array_; }
  cudaResourceDesc resource() const {
    cudaResourceDesc desc{};
    desc.resType = cudaResourceTypeArray;
    desc.res.array.array = array_;
    return desc;
  }

 private:
  cudaArray_t array_ = nullptr;
};

// A mipmapped array with texels in each of its levels.
class Mipmap {
 public:
  Mipmap(const Format& format, cudaExtent extent,
         const std::vector<std::vector<std::uint8_t>>& levels) {
    const cudaChannelFormatDesc desc = format.desc();
    const unsigned count = static_cast<unsigned>(levels.size());
    require(cudaMallocMipmappedArray(&mipmap_, &desc, extent, count));
    for (unsigned l = 0; l < count; ++l) {
      cudaArray_t array = nullptr;
      require(cudaGetMipmappedArrayLevel(&array, mipmap_, l));
      const std::size_t row = whole({extent.width >> l, 0, 0}).width * format.bytes();
      require(cudaMemcpy2DToArray(array, 0, 0, levels[l].data(), row, row, levels[l].size() / row,
                                  cudaMemcpyHostToDevice));
    }
  }
  ~Mipmap() { cudaFreeMipmappedArray(mipmap_); }
  Mipmap(const Mipmap&) = delete;
  Mipmap& operator=(const Mipmap&) = delete;
  cudaResourceDesc resource() const {
    cudaResourceDesc desc{};
    desc.resType = cudaResourceTypeMipmappedArray;
    desc.res.mipmap.mipmap = mipmap_;
    return desc;
  }

 private:
  cudaMipmappedArray_t mipmap_ = nullptr;
};

class TextureObject {
 public:
  explicit TextureObject(const cudaResourceDesc& resource, const cudaTextureDesc& desc = {}) {
    require(cudaCreateTextureObject(&texture_, &resource, &desc, nullptr));
  }
  ~TextureObject() { cudaDestroyTextureObject(texture_); }
  TextureObject(const TextureObject&) = delete;
  TextureObject& operator=(const TextureObject&) = delete;
  operator cudaTextureObject_t() const { return texture_; }  // NOLINT: a kernel's argument

 private:
  cudaTextureObject_t texture_ = 0;
};

}  // namespace textures
