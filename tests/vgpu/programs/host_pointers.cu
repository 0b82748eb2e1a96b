// SPDX-License-Identifier: Apache-2.0
// Copies from and to host memory that is not mapped: an error each, and no crash.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "require.hpp"

__device__ int variable[4096];

int main() {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto map = [&](std::size_t pages, int rights) {
    void* const at = mmap(nullptr, pages * page, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(at != MAP_FAILED, "mmap");
    return static_cast<char*>(at);
  };
  char* const gone = map(1, PROT_READ | PROT_WRITE);
  munmap(gone, page);
  char* const guarded = map(1, PROT_NONE);
  char* const read_only = map(1, PROT_READ);
  char* const cut = map(3, PROT_READ | PROT_WRITE);  // the middle page is not mapped
  mprotect(cut + page, page, PROT_NONE);

  char* device;
  const std::size_t bytes = 3 * page;
  require(cudaMalloc(&device, bytes));
  require(cudaMemset(device, 1, bytes));
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  const auto refused = [](cudaError_t error, const char* what) {
    require(error == cudaErrorInvalidValue, what);
  };
  struct Bad {
    char* pointer;
    std::size_t bytes;
    bool readable;
  };
  std::vector<Bad> all = {{nullptr, 4, false},
                          {reinterpret_cast<char*>(8), 4, false},
                          {gone, 4, false},
                          {gone + page - 2, 4, false},
                          {guarded, page, false},
                          {cut + page - 4, 8, false},
                          {cut, 3 * page, false},
                          {reinterpret_cast<char*>(~std::uintptr_t{0} - 2), 16, false},
                          {reinterpret_cast<char*>(0x8000000000000000), 16, false},
                          {read_only, 16, true}};
  std::vector<char> here(bytes);
  for (const Bad& bad : all) {
    const std::size_t n = bad.bytes;
    refused(cudaMemcpy(bad.pointer, device, n, cudaMemcpyDeviceToHost), "cudaMemcpy to it");
    refused(cudaMemcpyAsync(bad.pointer, device, n, cudaMemcpyDefault, stream),
            "cudaMemcpyAsync to it");
    refused(cudaMemcpy2D(bad.pointer, n, device, n, n / 2, 2, cudaMemcpyDeviceToHost),
            "cudaMemcpy2D to it");
    refused(cudaMemcpy2DAsync(bad.pointer, n, device, n, n, 1, cudaMemcpyDeviceToHost, stream),
            "cudaMemcpy2DAsync");
    refused(cudaMemcpyFromSymbol(bad.pointer, variable, n), "cudaMemcpyFromSymbol");
    cudaMemcpy3DParms box{};
    box.srcPtr = make_cudaPitchedPtr(device, n, n, 1);
    box.dstPtr = make_cudaPitchedPtr(bad.pointer, n, n, 1);
    box.extent = make_cudaExtent(n, 1, 1);
    box.kind = cudaMemcpyDeviceToHost;
    refused(cudaMemcpy3D(&box), "cudaMemcpy3D to it");
    refused(cudaMemset(bad.pointer, 0, n), "cudaMemset");
    refused(cudaMemcpy(bad.pointer, here.data(), n, cudaMemcpyHostToHost),
            "cudaMemcpy between host memory");
    refused(cudaHostRegister(bad.pointer, n, cudaHostRegisterDefault), "cudaHostRegister");
    if (bad.readable) continue;
    refused(cudaMemcpy(device, bad.pointer, n, cudaMemcpyHostToDevice), "cudaMemcpy from it");
    refused(cudaMemcpyAsync(device, bad.pointer, n, cudaMemcpyHostToDevice, stream),
            "cudaMemcpyAsync from it");
    refused(cudaMemcpyToSymbol(variable, bad.pointer, n), "cudaMemcpyToSymbol");
    refused(cudaMemcpyToSymbolAsync(variable, bad.pointer, n, 0, cudaMemcpyHostToDevice, stream),
            "ToSymbolAsync");
  }
  // Valid uses: zero bytes, read-only sources, rows with gaps between them.
  require(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), "no bytes");
  require(cudaMemcpy(device, read_only, page, cudaMemcpyHostToDevice),
          "from memory that can only be read");
  require(cudaMemcpy2D(cut, 2 * page, device, page, page, 2, cudaMemcpyDeviceToHost),
          "rows around a gap");
  require(cut[2 * page + 5] == 1 && cut[3] == 0, "their contents");
  char* const fresh = map(1000, PROT_READ | PROT_WRITE);  // never accessed
  require(cudaMemcpy(fresh + 1, device, bytes, cudaMemcpyDeviceToHost), "to fresh memory");
  require(cudaFree(device));
}
