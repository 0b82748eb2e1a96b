// SPDX-License-Identifier: Apache-2.0
// CUDA arrays: images in device memory whose layout programs do not know.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "runtime/api.hpp"
#include "texture/texture.hpp"

struct cudaArray {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};
  unsigned flags = 0;
  vgpu::Image image;
  bool of_mipmap = false;  // a level, which the mipmapped array owns
};

struct cudaMipmappedArray {
  std::vector<std::unique_ptr<cudaArray>> levels;
};

namespace vgpu::runtime {

// All live arrays. `known` throws Failure for other handles.
class Arrays {
 public:
  cudaArray_t keep(std::unique_ptr<cudaArray> array);
  cudaMipmappedArray_t keep(std::unique_ptr<cudaMipmappedArray> mipmap);
  cudaArray& known(cudaArray_const_t array) const;
  cudaMipmappedArray& known(cudaMipmappedArray_const_t mipmap) const;
  void remove(const cudaArray& array) { arrays_.erase(&array); }
  void remove(const cudaMipmappedArray& mipmap) { mipmaps_.erase(&mipmap); }
  void add_level(cudaArray& level) { levels_.emplace(&level, &level); }
  void remove_level(const cudaArray& level) { levels_.erase(&level); }

 private:
  std::map<const cudaArray*, std::unique_ptr<cudaArray>> arrays_;
  std::map<const cudaArray*, cudaArray*> levels_;
  std::map<const cudaMipmappedArray*, std::unique_ptr<cudaMipmappedArray>> mipmaps_;
};

// Throws Failure for formats that arrays and textures cannot have.
TexelFormat texel_format(const cudaChannelFormatDesc& desc);

// The program's texture and surface objects, with the descriptors that it created them from.
class TextureRegistry {
 public:
  struct Entry {
    cudaResourceDesc resource{};
    cudaTextureDesc texture{};
    cudaResourceViewDesc view{};
    bool has_view = false;
    bool is_surface = false;
  };

  unsigned long long add(const Entry& entry, TextureObjects::Object object);
  // Throws Failure if there is no such object of that kind.
  const Entry& known(unsigned long long handle, bool is_surface) const;
  void remove(unsigned long long handle);
  // A snapshot for launches, which later calls do not change.
  std::shared_ptr<const TextureObjects> objects() const { return objects_; }

 private:
  std::shared_ptr<const TextureObjects> objects_ = std::make_shared<const TextureObjects>();
  std::map<unsigned long long, Entry> entries_;
};

}  // namespace vgpu::runtime
