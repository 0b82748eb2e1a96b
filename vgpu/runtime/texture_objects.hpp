// SPDX-License-Identifier: Apache-2.0
// The program's texture and surface objects, with the descriptors that it created them from.
#pragma once
#include <map>
#include <memory>

#include "runtime/api.hpp"
#include "texture/texture.hpp"

namespace vgpu::runtime {

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
  // What launches see: later changes do not change it.
  std::shared_ptr<const TextureObjects> objects() const { return objects_; }

 private:
  std::shared_ptr<const TextureObjects> objects_ = std::make_shared<const TextureObjects>();
  std::map<unsigned long long, Entry> entries_;
};

}  // namespace vgpu::runtime
