// SPDX-License-Identifier: Apache-2.0
// The driver API's declarations, all versions of each function under the name of its symbol
// (cuMemAlloc_v2), and the wrappers in which the entry points run. Most entry points call the
// runtime API's function of the same meaning: the handles of streams, events, graphs, pools,
// kernels and libraries are the same objects, and the error codes are the same numbers.
#pragma once
#define __CUDA_API_VERSION_INTERNAL  // NOLINT(bugprone-reserved-identifier): cuda.h's name
#pragma GCC visibility push(default)
#include <cuda.h>
// cudaProfiler.h declares them; not every toolkit has it.
extern "C" {
CUresult cuProfilerStart();
CUresult cuProfilerStop();
}
#pragma GCC visibility pop

#include <string_view>
#include <tuple>
#include <type_traits>

#include "runtime/runtime.hpp"

namespace vgpu::driver {

using runtime::Failure;
using runtime::refuse;
using runtime::Runtime;

// The driver's code for an error of the runtime. Most are the same number.
CUresult result_of(cudaError_t error);
inline CUresult result_of(CUresult result) { return result; }

// What a function that needs a current context returns instead of running; CUDA_SUCCESS if it may
// run.
CUresult missing_context();

// During its lifetime, messages name the driver's function, and the runtime API neither makes a
// context current nor keeps a last error.
class Entry {
 public:
  explicit Entry(const char* name);
  ~Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  std::string_view outer_;
  cudaError_t last_error_;
};

// Runs an entry point that needs the driver initialised, or a current context besides. `body`
// returns cudaError_t, CUresult or nothing, and may throw Failure.
template <class Body>
CUresult with_driver(const char* name, Body body) {
  if (!Runtime::get().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const Entry entry(name);
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return CUDA_SUCCESS;
    } else {
      return result_of(body());
    }
  } catch (const Failure& failure) {
    return result_of(runtime::finish(failure));
  }
}

template <class Body>
CUresult with_context(const char* name, Body body) {
  if (const CUresult missing = missing_context(); missing != CUDA_SUCCESS) return missing;
  return with_driver(name, body);
}

// The same for a body that works on the runtime's state, `body(Runtime&)`, under its lock.
template <class Body>
CUresult in_driver(const char* name, Body body) {
  return with_driver(name, [&] { return runtime::query(body); });
}

template <class Body>
CUresult in_context(const char* name, Body body) {
  return with_context(name, [&] { return runtime::call(body); });
}

template <class Body>
CUresult without_lock(const char* name, Body body) {
  return with_context(name, [&] { body(Runtime::get()); });
}

template <class Body>
CUresult without_context(const char* name, Body body) {
  return with_driver(name, [&] { body(Runtime::get()); });
}

inline void* pointer_of(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}
inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

// Both APIs have structures and enumerations of the same meaning with the same layout.
template <class To, class From>
To* same(From* from) {
  static_assert(sizeof(To) == sizeof(From) && alignof(To) == alignof(From));
  return reinterpret_cast<To*>(from);
}

// An argument of the driver's function as the runtime's function has it. Handles are pointers to
// types without a definition, or the runtime has no type for what they point to.
template <class To, class From>
To as_argument(From from) {
  using Pointed = std::remove_pointer_t<To>;
  if constexpr (std::is_same_v<To, From>)
    return from;
  else if constexpr (std::is_pointer_v<To> && std::is_integral_v<From>)
    return static_cast<To>(pointer_of(from));
  else if constexpr (std::is_class_v<To>)
    return *same<const To>(&from);
  else if constexpr (!std::is_pointer_v<To>)
    return static_cast<To>(from);
  else if constexpr (std::is_object_v<Pointed> && requires { sizeof(Pointed) + sizeof(*from); })
    return same<Pointed>(from);
  else
    return reinterpret_cast<To>(from);
}
template <class... To, class... From>
cudaError_t forward(cudaError_t (*function)(To...), const std::tuple<From...>& arguments) {
  return std::apply([&](From... given) { return function(as_argument<To>(given)...); }, arguments);
}

inline bool is_known(CUsharedconfig config) {
  return config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
         config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
}

template <class T, class U>
void store(T* out, U value) {
  if (out == nullptr) refuse();
  *out = static_cast<T>(value);
}

// Throws Failure for an error that the runtime's function has returned.
inline void require(cudaError_t error) {
  if (error != cudaSuccess) refuse(error);
}

}  // namespace vgpu::driver

// Defines the driver's function `name` of `count` parameters by the runtime's function that has the
// same ones.
#define VGPU_FORWARD(within, name, function, count)                                \
  CUresult name(VGPU_PARAMETERS_##count(name)) {                                   \
    return within(__func__, [&] {                                                  \
      return vgpu::driver::forward(&function, std::tuple{VGPU_ARGUMENTS_##count}); \
    });                                                                            \
  }                                                                                \
  static_assert(true)
#define VGPU_WITH_DRIVER(name, function, count) VGPU_FORWARD(with_driver, name, function, count)
#define VGPU_WITH_CONTEXT(name, function, count) VGPU_FORWARD(with_context, name, function, count)
// ... also with the default stream of the calling thread.
#define VGPU_IN_STREAM(name, function, count) \
  VGPU_WITH_CONTEXT(name, function, count);   \
  VGPU_TWIN(name, _ptsz, count)
// Defines the driver's function `name` by its body (VGPU_ENTRY), which works on the runtime's state
// under its lock, or without the lock calls other entry points or reads what never changes.
#define VGPU_IN_DRIVER(name, ...) \
  VGPU_ENTRY(vgpu::driver::in_driver, name __VA_OPT__(, ) __VA_ARGS__)
#define VGPU_IN_CONTEXT(name, ...) \
  VGPU_ENTRY(vgpu::driver::in_context, name __VA_OPT__(, ) __VA_ARGS__)
#define VGPU_IN_CONTEXT_PTSZ(name, ...)            \
  VGPU_TWIN(name, _ptsz, VGPU_COUNT(__VA_ARGS__)); \
  VGPU_IN_CONTEXT(name, __VA_ARGS__)
#define VGPU_WITHOUT_LOCK(name, ...) \
  VGPU_ENTRY(vgpu::driver::without_lock, name __VA_OPT__(, ) __VA_ARGS__)
#define VGPU_WITHOUT_CONTEXT(name, ...) \
  VGPU_ENTRY(vgpu::driver::without_context, name __VA_OPT__(, ) __VA_ARGS__)
#define VGPU_WITHOUT_LOCK_PTSZ(name, ...)          \
  VGPU_TWIN(name, _ptsz, VGPU_COUNT(__VA_ARGS__)); \
  VGPU_WITHOUT_LOCK(name, __VA_ARGS__)
#define VGPU_WITHOUT_LOCK_PTDS(name, ...)          \
  VGPU_TWIN(name, _ptds, VGPU_COUNT(__VA_ARGS__)); \
  VGPU_WITHOUT_LOCK(name, __VA_ARGS__)
