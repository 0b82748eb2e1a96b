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

VGPU_CALL(cudaUserObjectCreate, cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
          unsigned count, unsigned flags) {
  if (object == nullptr || destroy == nullptr || count == 0 ||
      flags != cudaUserObjectNoDestructorSync)
    refuse();
  auto made = std::make_unique<UserObject>(UserObject{pointer, destroy, count});
  *object = reinterpret_cast<cudaUserObject_t>(made.get());
  objects()[*object] = std::move(made);
}

VGPU_CALL(cudaUserObjectRetain, cudaUserObject_t object, unsigned count) {
  if (!retain_user_object(object, count)) refuse();
}

VGPU_CALL(cudaUserObjectRelease, cudaUserObject_t object, unsigned count) {
  if (!release_user_object(object, count)) refuse();
}

VGPU_CALL(cudaGraphRetainUserObject, cudaGraph_t graph, cudaUserObject_t object, unsigned count,
          unsigned flags) {
  Graph* found = runtime.graphs.find(graph);
  if (found == nullptr || (flags & ~static_cast<unsigned>(cudaGraphUserObjectMove)) != 0) refuse();
  if (flags != cudaGraphUserObjectMove && !retain_user_object(object, count)) refuse();
  found->objects.insert(found->objects.end(), count, object);
}

VGPU_CALL(cudaGraphReleaseUserObject, cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  auto& objects_of = runtime.graphs.known(graph).objects;
  if (std::ranges::count(objects_of, object) < count) refuse();
  for (unsigned i = 0; i < count; ++i) objects_of.erase(std::ranges::find(objects_of, object));
  if (!release_user_object(object, count)) refuse();
}
