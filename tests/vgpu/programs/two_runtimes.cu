// SPDX-License-Identifier: Apache-2.0
// A program and a library that each bring a runtime: pointers, streams and errors are of one
// device. two_runtimes [LIBRARY TIMES]: loads the library now, and again after it was unloaded.
#include <dlfcn.h>

#include "require.hpp"

__global__ void count(int* data) { data[threadIdx.x] = threadIdx.x; }

template <class Function>
Function* find(void* library, const char* name) {
  void* const address = dlsym(library, name);
  require(address != nullptr, name);
  return reinterpret_cast<Function*>(address);
}

void use(void* library) {
  constexpr int kCount = 32;
  int host[kCount];
  int* const device = find<int*(int)>(library, "library_allocate")(kCount);
  require(device != nullptr, "memory from the library's runtime");
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  count<<<1, kCount, 0, stream>>>(device);
  require(
      find<cudaError_t(int*, int, cudaStream_t)>(library, "library_scale")(device, kCount, stream),
      "the library's kernel");
  require(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
  require(cudaStreamSynchronize(stream));
  for (int i = 0; i < kCount; ++i) require(host[i] == 2 * i, "an element that both computed");
  require(cudaStreamDestroy(stream));
  require(find<cudaError_t()>(library, "library_free")(), "cudaFree");
}

int main(int argc, char** argv) {
  if (argc < 3) use(RTLD_DEFAULT);
  for (int times = argc < 3 ? 0 : std::atoi(argv[2]); times > 0; --times) {
    void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    require(library != nullptr, "the library is loaded");
    use(library);
    dlclose(library);
  }
}
