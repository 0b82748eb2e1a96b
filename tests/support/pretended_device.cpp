// SPDX-License-Identifier: Apache-2.0
#include "support/pretended_device.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

namespace ladder {

PretendedDevice pretended;

}  // namespace ladder

extern "C" cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  using Function = cudaError_t(int*, cudaDeviceAttr, int);
  static auto* const of_runtime =
      reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "cudaDeviceGetAttribute"));
  const cudaError_t error = of_runtime(value, attribute, device);
  const auto& [sms, l2_bytes] = ladder::pretended;
  if (attribute == cudaDevAttrMultiProcessorCount && sms != 0) *value = sms;
  if (attribute == cudaDevAttrL2CacheSize && l2_bytes != 0) *value = l2_bytes;
  return error;
}
