// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/graph.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

struct UserObject {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  unsigned count = 0;
};

std::map<cudaUserObject_t, std::unique_ptr<UserObject>>& objects() {
  static auto* const all = new std::map<cudaUserObject_t, std::unique_ptr<UserObject>>;
  return *all;
}

}  // namespace

bool retain_user_object(cudaUserObject_t handle, unsigned count) {
  const auto found = objects().find(handle);
  if (found == objects().end() || count == 0) return false;
  found->second->count += count;
  return true;
}

bool release_user_object(cudaUserObject_t handle, unsigned count) {
  const auto found = objects().find(handle);
  if (found == objects().end() || count == 0 || count > found->second->count) return false;
  found->second->count -= count;
  if (found->second->count != 0) return true;
  const auto object = std::move(found->second);
  objects().erase(found);
  // the destructor must not call the runtime, according to the CUDA manual
  object->destroy(object->pointer);
  return true;
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags) {
  return call([&](Runtime&) {
    if (object == nullptr || destroy == nullptr || count == 0 ||
        flags != cudaUserObjectNoDestructorSync)
      refuse();
    auto made = std::make_unique<UserObject>(UserObject{pointer, destroy, count});
    *object = reinterpret_cast<cudaUserObject_t>(made.get());
    objects()[*object] = std::move(made);
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return call([&](Runtime&) {
    return retain_user_object(object, count) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return call([&](Runtime&) {
    return release_user_object(object, count) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return call([&](Runtime& runtime) {
    Graph* found = runtime.graphs.find(graph);
    if (found == nullptr || (flags & ~static_cast<unsigned>(cudaGraphUserObjectMove)) != 0)
      refuse();
    if (flags != cudaGraphUserObjectMove && !retain_user_object(object, count)) refuse();
    found->objects.insert(found->objects.end(), count, object);
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return call([&](Runtime& runtime) {
    Graph* found = runtime.graphs.find(graph);
    if (found == nullptr || std::ranges::count(found->objects, object) < count)
      return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; ++i) {
      found->objects.erase(std::ranges::find(found->objects, object));
    }
    return release_user_object(object, count) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
