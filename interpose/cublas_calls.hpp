// SPDX-License-Identifier: Apache-2.0
// What the interposed functions of cuBLAS and cuBLASLt share: the rules for taking a call, a handle
// of libladder per handle of cuBLAS, the next library's functions, the report.
#pragma once
#include <cublas_v2.h>
#include <dlfcn.h>
#include <ladder/gemm.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>

namespace ladder::interpose {

// One product as the program asked for it, column-major.
struct Product {
  const char* function;
  ladder_gemm_call call;
  ladder_pointer_mode pointer_mode = LADDER_POINTER_MODE_HOST;
  bool is_pedantic = false;  // IEEE and nothing else
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;

  explicit Product(const char* name);
};

// The status, if libladder computes the product; none, if the call is to be forwarded. `owner`: the
// handle of cuBLAS, null for cuBLASLt.
std::optional<cublasStatus_t> attempt(const void* owner, const Product& product);
// While it lives, this thread is within a forwarded call: what cuBLAS calls itself is its own.
class Forwarding {
 public:
  Forwarding();
  ~Forwarding();
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;
};
// Counts a call that is forwarded for a reason that attempt() does not see.
void forwarded(const char* function, const std::string& why);
void forget(const void* owner);

// The workspace that the program gave to a handle of cuBLAS.
struct Workspace {
  void* memory = nullptr;
  std::size_t bytes = 0;
};
void keep_workspace(const void* owner, const Workspace& workspace);
Workspace workspace_of(const void* owner);

// A function of the library that would have been called: of the next in the program's order, else
// of `library`, which the program may have loaded for itself alone. Null if there is none.
void* next_address(const char* name, const char* library);

}  // namespace ladder::interpose

// The next library's function of the same name.
#define LADDER_NEXT(name, library)                                                          \
  ([] {                                                                                     \
    static const auto found =                                                               \
        reinterpret_cast<decltype(&name)>(ladder::interpose::next_address(#name, library)); \
    return found;                                                                           \
  }())
