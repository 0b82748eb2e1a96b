// SPDX-License-Identifier: Apache-2.0
// Access to __device__ and __constant__ variables by the address of their host shadow variable.
#include <fmt/format.h>

#include "runtime/copies.hpp"
#include "runtime/graph/capture.hpp"

using namespace vgpu::runtime;

namespace {

vgpu::Symbol find(Runtime& runtime, const void* host_variable) {
  const Variable* variable = runtime.modules.variable(host_variable);
  if (variable == nullptr) refuse(cudaErrorInvalidSymbol);
  auto& module = variable->binary->module(runtime.device(), runtime.memory, runtime.settings.engine,
                                          "variable " + variable->name);
  const auto symbol = module.find_symbol(variable->name);
  if (!symbol) {
    refuse(cudaErrorInvalidSymbol, fmt::format("the PTX has no variable {}", variable->name));
  }
  return *symbol;
}

// Checks that the bytes [offset, offset + bytes) are inside the variable.
void* slice(const vgpu::Symbol& symbol, std::size_t offset, std::size_t bytes) {
  if (offset > symbol.bytes || bytes > symbol.bytes - offset) refuse();
  return static_cast<std::byte*>(symbol.address) + offset;
}

}  // namespace

void* vgpu::runtime::symbol_slice(Runtime& runtime, const void* host_variable, std::size_t offset,
                                  std::size_t bytes) {
  return slice(find(runtime, host_variable), offset, bytes);
}

static void copy_to(Runtime& runtime, cudaStream_t stream, const void* symbol, const void* from,
                    std::size_t bytes, std::size_t offset, cudaMemcpyKind kind, bool blocking) {
  if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    refuse(cudaErrorInvalidMemcpyDirection);
  void* to = symbol_slice(runtime, symbol, offset, bytes);
  copy_in_stream(runtime, stream, "cudaMemcpyToSymbol",
                 copy_work(to, bytes, from, bytes, bytes, 1, kind), blocking);
}

static void copy_from(Runtime& runtime, cudaStream_t stream, void* to, const void* symbol,
                      std::size_t bytes, std::size_t offset, cudaMemcpyKind kind, bool blocking) {
  if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
      kind != cudaMemcpyDefault)
    refuse(cudaErrorInvalidMemcpyDirection);
  const void* from = symbol_slice(runtime, symbol, offset, bytes);
  copy_in_stream(runtime, stream, "cudaMemcpyFromSymbol",
                 copy_work(to, bytes, from, bytes, bytes, 1, kind), blocking);
}

VGPU_CALL_PTDS(cudaMemcpyToSymbol, const void* symbol, const void* from, size_t bytes,
               size_t offset, cudaMemcpyKind kind) {
  refuse_in_captured_default(runtime);
  copy_to(runtime, kDefaultStream, symbol, from, bytes, offset, kind, true);
}

VGPU_CALL_PTSZ(cudaMemcpyToSymbolAsync, const void* symbol, const void* from, size_t bytes,
               size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  copy_to(runtime, stream, symbol, from, bytes, offset, kind, false);
}

VGPU_CALL_PTDS(cudaMemcpyFromSymbol, void* to, const void* symbol, size_t bytes, size_t offset,
               cudaMemcpyKind kind) {
  refuse_in_captured_default(runtime);
  copy_from(runtime, kDefaultStream, to, symbol, bytes, offset, kind, true);
}

VGPU_CALL_PTSZ(cudaMemcpyFromSymbolAsync, void* to, const void* symbol, size_t bytes, size_t offset,
               cudaMemcpyKind kind, cudaStream_t stream) {
  copy_from(runtime, stream, to, symbol, bytes, offset, kind, false);
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return call_for(address, [&](Runtime& runtime) { return find(runtime, symbol).address; });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return call_for(bytes, [&](Runtime& runtime) { return find(runtime, symbol).bytes; });
}
