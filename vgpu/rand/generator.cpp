// SPDX-License-Identifier: Apache-2.0
// Generators. cuRAND documents that host generators produce the same numbers as device generators.
// The toolkit's host generator computes the numbers during the call, and they are copied to the
// device in stream order.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include "include/entry_points.hpp"
#include "include/vgpu/vgpu.h"
#include "rand/toolkit.hpp"

// Programs use it only as an opaque handle.
struct curandGenerator_st {
  curandGenerator_t theirs;  // the toolkit's host generator
  bool on_host;
  cudaStream_t stream;
};

// By the function of the toolkit with that name.
#define VGPU_CALL(way, function, ...) way<function>(#function, __VA_ARGS__)
#define VGPU_FORWARD(way, function, count) \
  VGPU_BY(function, count, VGPU_CALL(way, function, VGPU_ARGUMENTS_##count))

namespace {

using vgpu::say, vgpu::rand::toolkit;

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool on_host) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  int device = 0;
  if (!on_host && cudaGetDevice(&device) != cudaSuccess) return CURAND_STATUS_INITIALIZATION_FAILED;
  curandGenerator_t theirs = nullptr;
  const auto status = VGPU_CALL(toolkit, curandCreateGeneratorHost, &theirs, type);
  if (status != CURAND_STATUS_SUCCESS) return status;
  *generator = new (std::nothrow) curandGenerator_st{theirs, on_host, nullptr};
  if (*generator != nullptr) return CURAND_STATUS_SUCCESS;
  (void)VGPU_CALL(toolkit, curandDestroyGenerator, theirs);
  return CURAND_STATUS_ALLOCATION_FAILED;
}

// The arguments say where the values go.
template <auto* Function, class... Arguments>
curandStatus_t get(const char* name, Arguments... arguments) {
  const auto is_null = [](auto argument) {
    if constexpr (std::is_pointer_v<decltype(argument)>)
      return argument == nullptr;
    else
      return false;
  };
  if ((is_null(arguments) || ...)) return CURAND_STATUS_OUT_OF_RANGE;
  return toolkit<Function>(name, arguments...);
}

template <auto* Function, class... Arguments>
curandStatus_t set(const char* name, curandGenerator_t generator, Arguments... arguments) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  return toolkit<Function>(name, generator->theirs, arguments...);
}

// What a stream is to copy to the device.
struct Numbers {
  std::unique_ptr<unsigned char[]> values;
  void* to;
  std::size_t bytes;
};

void copy(void* numbers) {
  const std::unique_ptr<Numbers> mine(static_cast<Numbers*>(numbers));
  std::memcpy(mine->to, mine->values.get(), mine->bytes);
  vgpuMarkWritten(mine->to, mine->bytes);
}

curandStatus_t refuse(const char* name, const std::string& what) {
  say(fmt::format("{}: {}", name, what));
  return CURAND_STATUS_LAUNCH_FAILURE;
}

template <auto* Function, class T, class... Parameters>
curandStatus_t generate(const char* name, curandGenerator_t generator, T* out, std::size_t count,
                        Parameters... parameters) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->on_host) {
    cudaPointerAttributes memory{};
    if (cudaPointerGetAttributes(&memory, out) == cudaSuccess &&
        memory.type == cudaMemoryTypeDevice)
      return refuse(name, "the output of a host generator is in device memory");
    if (out == nullptr && count != 0) return refuse(name, "the output is a null pointer");
    return toolkit<Function>(name, generator->theirs, out, count, parameters...);
  }
  if (count > std::numeric_limits<std::size_t>::max() / sizeof(T) ||
      (count != 0 && vgpuDeviceContains(out, count * sizeof(T)) == 0))
    return refuse(name, "the output is not wholly in device memory");
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(generator->stream, &capture) != cudaSuccess)
    return CURAND_STATUS_PREEXISTING_FAILURE;
  if (capture != cudaStreamCaptureStatusNone)
    return refuse(name, "in a stream that is being captured, it is not supported");
  auto numbers =
      std::unique_ptr<Numbers>(new (std::nothrow) Numbers{nullptr, out, count * sizeof(T)});
  if (numbers != nullptr) numbers->values.reset(new (std::nothrow) unsigned char[numbers->bytes]);
  if (numbers == nullptr || numbers->values == nullptr) return CURAND_STATUS_ALLOCATION_FAILED;
  const auto status = toolkit<Function>(
      name, generator->theirs, reinterpret_cast<T*>(numbers->values.get()), count, parameters...);
  if (status == CURAND_STATUS_INTERNAL_ERROR)
    say(fmt::format("{}: the toolkit's host generators do not support it", name));
  if (status != CURAND_STATUS_SUCCESS || count == 0) return status;
  if (cudaLaunchHostFunc(generator->stream, copy, numbers.get()) != cudaSuccess)
    return CURAND_STATUS_LAUNCH_FAILURE;
  (void)numbers.release();
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

VGPU_BY(curandCreateGenerator, 2, create(a0, a1, false));
VGPU_BY(curandCreateGeneratorHost, 2, create(a0, a1, true));

curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  const auto status = VGPU_CALL(set, curandDestroyGenerator, generator);
  delete generator;
  return status;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  if (generator != nullptr && !generator->on_host) {
    if (order == CURAND_ORDERING_PSEUDO_DYNAMIC)
      say("curandSetGeneratorOrdering: CURAND_ORDERING_PSEUDO_DYNAMIC, which depends on the GPU, "
          "is not supported");
    // The two orderings are the same, and MT19937's host generator accepts only one of them.
    if (order == CURAND_ORDERING_PSEUDO_BEST) order = CURAND_ORDERING_PSEUDO_DEFAULT;
  }
  return VGPU_CALL(set, curandSetGeneratorOrdering, generator, order);
}

// The toolkit's generators make their states when they are first used.
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return generator == nullptr ? CURAND_STATUS_NOT_INITIALIZED : CURAND_STATUS_SUCCESS;
}

VGPU_FORWARD(set, curandSetPseudoRandomGeneratorSeed, 2);
VGPU_FORWARD(set, curandSetGeneratorOffset, 2);
VGPU_FORWARD(set, curandSetQuasiRandomGeneratorDimensions, 2);
VGPU_FORWARD(generate, curandGenerate, 3);
VGPU_FORWARD(generate, curandGenerateLongLong, 3);
VGPU_FORWARD(generate, curandGenerateUniform, 3);
VGPU_FORWARD(generate, curandGenerateUniformDouble, 3);
VGPU_FORWARD(generate, curandGenerateNormal, 5);
VGPU_FORWARD(generate, curandGenerateNormalDouble, 5);
VGPU_FORWARD(generate, curandGenerateLogNormal, 5);
VGPU_FORWARD(generate, curandGenerateLogNormalDouble, 5);
VGPU_FORWARD(generate, curandGeneratePoisson, 4);
VGPU_FORWARD(generate, curandGeneratePoissonMethod, 5);
VGPU_FORWARD(get, curandGetVersion, 1);
VGPU_FORWARD(get, curandGetProperty, 2);
VGPU_FORWARD(get, curandGetDirectionVectors32, 2);
VGPU_FORWARD(get, curandGetDirectionVectors64, 2);
VGPU_FORWARD(get, curandGetScrambleConstants32, 1);
VGPU_FORWARD(get, curandGetScrambleConstants64, 1);
