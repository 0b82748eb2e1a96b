// SPDX-License-Identifier: Apache-2.0
#include "library/checked.hpp"

#include <cuda_runtime_api.h>
#include <pthread.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "gemm/call.hpp"

namespace ladder::api {
namespace {

// What programs were compiled with: members are only appended.
static_assert(sizeof(ladder_gemm_call) == 232 && offsetof(ladder_gemm_call, batch_count) == 120 &&
                  offsetof(ladder_gemm_call, epilogue) == 176 && sizeof(ladder_epilogue) == 56 &&
                  sizeof(ladder_gemm_plan) == 864 && offsetof(ladder_gemm_plan, kernel) == 32,
              "the binary interface");

constexpr std::pair<ladder_precision, Precision> kPrecisions[] = {
    {LADDER_PRECISION_IEEE, Precision::kIeee},     {LADDER_PRECISION_AUTO, Precision::kAuto},
    {LADDER_PRECISION_TF32, Precision::kTf32},     {LADDER_PRECISION_TF32X3, Precision::kTf32x3},
    {LADDER_PRECISION_BF16X3, Precision::kBf16x3}, {LADDER_PRECISION_BF16X6, Precision::kBf16x6},
    {LADDER_PRECISION_BF16X9, Precision::kBf16x9}, {LADDER_PRECISION_FP16X3, Precision::kFp16x3}};

Outcome between(const char* name, long long value, long long most) {
  return value >= 0 && value <= most ? Outcome{} : no_enumerator(name, value);
}

Outcome check_enumerators(const ladder_gemm_call& call) {
  if (Outcome o = between("layout", call.layout, LADDER_COL_MAJOR); !o) return o;
  if (Outcome o = between("op_a", call.op_a, LADDER_OP_C); !o) return o;
  if (Outcome o = between("op_b", call.op_b, LADDER_OP_C); !o) return o;
  if (Outcome o = between("precision", call.precision, LADDER_PRECISION_FP16X3); !o) return o;
  const ladder_epilogue& e = call.epilogue;
  if (Outcome o = between("epilogue.activation", e.activation, LADDER_ACTIVATION_GELU_TANH); !o)
    return o;
  if (Outcome o = between("epilogue.bias_kind", e.bias_kind, LADDER_BIAS_PER_COLUMN); !o) return o;
  constexpr std::uint32_t kFlags = LADDER_DETERMINISTIC | LADDER_BATCH_INVARIANT;
  if ((call.flags & ~kFlags) == 0) return {};
  return invalid("flags: " + std::to_string(call.flags) + " has bits that gemm.h does not name");
}

// The addresses of one of A, B and C, if the host knows them.
template <class T>
Outcome check_place(const char* name, const StridedBatch<T>& matrices, bool arrays_on_device,
                    std::int64_t count) {
  if (matrices.of == nullptr) return checked_matrix(name, matrices.g).status();
  for (std::int64_t i = 0; !arrays_on_device && i < count; ++i) {
    const std::string pointer = std::string(name) + "_pointers[" + std::to_string(i) + "]";
    if (const auto found = checked_matrix(pointer.c_str(), matrices.of[i]); !found)
      return found.status();
  }
  return {};
}

// Where memory is that both sides can name: true for the device.
Outcome on_device(const char* name, const void* at, bool& is) {
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, at);
  is = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return cuda_outcome(name, error);
}

// The addresses of this thread's stack: host memory, without a query of the runtime.
struct Stack {
  Stack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* lowest = nullptr;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) != 0) bytes = 0;
    low = reinterpret_cast<std::uintptr_t>(lowest);
    pthread_attr_destroy(&attributes);
  }
  bool holds(const void* at) const { return reinterpret_cast<std::uintptr_t>(at) - low < bytes; }
  std::uintptr_t low = 0;
  std::size_t bytes = 0;
};

Outcome check_scalar(const char* name, const float* given, ladder_pointer_mode mode, float& value,
                     const float*& on_the_device) {
  if (given == nullptr) return invalid(std::string(name) + ": null");
  if (mode == LADDER_POINTER_MODE_DEVICE) {
    on_the_device = given;
    return checked_matrix(name, given).status();
  }
  static thread_local const Stack stack;
  cudaPointerAttributes attributes{};
  if (!stack.holds(given)) {
    if (Outcome o = cuda_outcome(name, cudaPointerGetAttributes(&attributes, given)); !o) return o;
  }
  if (attributes.type == cudaMemoryTypeDevice)
    return invalid(std::string(name) +
                   ": is in device memory, but the pointer mode is LADDER_POINTER_MODE_HOST");
  value = *given;
  return {};
}

Outcome check_arrays(const ladder_gemm_call& call, const Checked& x, bool& arrays,
                     bool& on_the_device) {
  arrays = call.c_pointers != nullptr || call.a_pointers != nullptr || call.b_pointers != nullptr;
  if (!arrays || x.is_empty()) return {};
  if (call.a != nullptr || call.b != nullptr || call.c != nullptr)
    return invalid("a, b, c: null where arrays of pointers are given");
  const std::pair<const char*, const void*> all[] = {{"c_pointers", call.c_pointers},
                                                     {"a_pointers", call.a_pointers},
                                                     {"b_pointers", call.b_pointers}};
  for (const auto& [name, at] : all) {
    if (at == nullptr && (at == call.c_pointers || x.reads()))
      return invalid(std::string(name) + ": null, but the call uses it");
    if (at == nullptr) continue;
    bool is = false;
    if (Outcome o = on_device(name, at, is); !o) return o;
    if (at == call.c_pointers) on_the_device = is;
    if (is != on_the_device)
      return invalid(std::string(name) + ": lies on the " + (is ? "device" : "host") +
                     ", but c_pointers on the " + (is ? "host" : "device"));
  }
  return {};
}

Outcome check_epilogue(const ladder_gemm_call& call, Checked& x, std::int64_t c_elements) {
  const ladder_epilogue& e = call.epilogue;
  if (e.bias_kind == LADDER_BIAS_NONE && e.bias != nullptr)
    return invalid("epilogue.bias: given, but epilogue.bias_kind is LADDER_BIAS_NONE");
  if (Status s = check_stride("epilogue.bias_stride", e.bias_stride, x.count); !s) return s;
  if (Status s = check_stride("epilogue.residual_stride", e.residual_stride, x.count); !s) return s;
  FinishJob& f = x.epilogue;
  f.activation = static_cast<Activation>(e.activation);
  f.scale = e.scale;
  x.has_epilogue = e.activation != LADDER_ACTIVATION_NONE || e.scale != 1.0F ||
                   e.bias_kind != LADDER_BIAS_NONE || e.residual != nullptr;
  if (x.is_empty()) return {};
  if (e.bias_kind != LADDER_BIAS_NONE) {
    if (const auto found = checked_matrix("epilogue.bias", e.bias); !found) return found.status();
    f.bias = e.bias;
    f.bias_of_column = e.bias_kind == LADDER_BIAS_PER_COLUMN;
    f.bias_stride = e.bias_stride;
  }
  if (e.residual == nullptr) return {};
  if (const auto found = checked_matrix("epilogue.residual", e.residual); !found)
    return found.status();
  const bool rows = call.layout == LADDER_ROW_MAJOR;
  const std::int64_t least = std::max<std::int64_t>(1, rows ? call.n : call.m);
  if (e.ld_residual < least)
    return invalid("epilogue.ld_residual: at least " + std::to_string(least) + ", not " +
                   std::to_string(e.ld_residual));
  const std::int64_t lines = rows ? call.m : call.n;
  if (e.ld_residual > std::numeric_limits<std::int64_t>::max() / 8 / lines)
    return invalid("epilogue.ld_residual: the matrix does not fit in 63 bits of bytes");
  f.residual = {e.residual, nullptr, e.residual_stride, e.ld_residual, 1};
  if (call.c != nullptr) {
    const auto first = reinterpret_cast<std::uintptr_t>(e.residual),
               c_first = reinterpret_cast<std::uintptr_t>(call.c);
    const auto bytes = [](std::int64_t elements) {
      return static_cast<std::uintptr_t>(elements) * 4;
    };
    const std::int64_t elements =
        (x.count - 1) * e.residual_stride + (lines - 1) * e.ld_residual + (rows ? call.n : call.m);
    if (first < c_first + bytes((x.count - 1) * call.stride_c + c_elements) &&
        c_first < first + bytes(elements))
      return invalid("epilogue.residual: overlaps c");
  }
  return {};
}

Op op_of(ladder_op op) { return op == LADDER_OP_N ? Op::kNone : Op::kTranspose; }

// Exchanges the sides: C' = B' A'.
void make_row_major(Checked& x) {
  const auto [p, swapped] = as_row_major(x.p);
  x.p = p;
  if (!swapped) return;
  std::swap(x.a, x.b);
  x.epilogue.bias_of_column = !x.epilogue.bias_of_column;
}

}  // namespace

ladder_precision to_api(Precision precision) {
  for (const auto& [of_api, known] : kPrecisions) {
    if (known == precision) return of_api;
  }
  return LADDER_PRECISION_DEFAULT;
}

Outcome check(const ladder_context& handle, const ladder_gemm_call* given, Checked& x) {
  if (Outcome o = check_device(handle); !o) return o;
  if (given == nullptr) return invalid("call: null");
  if (given->struct_size != sizeof(ladder_gemm_call))
    return invalid("struct_size: " + std::to_string(given->struct_size) +
                   " bytes, this library takes " + std::to_string(sizeof(ladder_gemm_call)) +
                   "; ladder_gemm_call_init() sets it");
  const ladder_gemm_call& call = *given;
  if (Outcome o = check_enumerators(call); !o) return o;
  const ladder_precision precision =
      call.precision == LADDER_PRECISION_DEFAULT ? handle.precision : call.precision;
  for (const auto& [of_api, known] : kPrecisions) {
    if (of_api == precision) x.precision = known;
  }
  x.batch_invariant = (call.flags & LADDER_BATCH_INVARIANT) != 0;
  x.p = {.m = call.m,
         .n = call.n,
         .k = call.k,
         .lda = call.lda,
         .ldb = call.ldb,
         .ldc = call.ldc,
         .op_a = op_of(call.op_a),
         .op_b = op_of(call.op_b),
         .layout = call.layout == LADDER_ROW_MAJOR ? Layout::kRowMajor : Layout::kColMajor};
  if (Status s = validate(x.p); !s) return s;
  if (call.batch_count < 0)
    return invalid("batch_count: at least 0, not " + std::to_string(call.batch_count));
  x.count = call.batch_count;
  const ladder_pointer_mode mode = handle.pointer_mode;
  if (Outcome o = check_scalar("alpha", call.alpha, mode, x.by.alpha, x.by.g_alpha); !o) return o;
  if (Outcome o = check_scalar("beta", call.beta, mode, x.by.beta, x.by.g_beta); !o) return o;
  if (mode == LADDER_POINTER_MODE_HOST) x.p.alpha = x.by.alpha, x.p.beta = x.by.beta;

  bool arrays = false;
  if (Outcome o = check_arrays(call, x, arrays, x.arrays_on_device); !o) return o;
  x.a = {call.a, call.a_pointers, arrays ? 0 : call.stride_a};
  x.b = {call.b, call.b_pointers, arrays ? 0 : call.stride_b};
  x.c = {call.c, call.c_pointers, arrays ? 0 : call.stride_c};
  if (!arrays) {
    const Batch batch{x.count, x.a.stride, x.b.stride, x.c.stride};
    if (Status s = check_strides(x.p, batch); !s) return s;
  }
  if (!x.is_empty() && x.reads()) {
    if (Outcome o = check_place("a", x.a, x.arrays_on_device, x.count); !o) return o;
    if (Outcome o = check_place("b", x.b, x.arrays_on_device, x.count); !o) return o;
  }
  if (!x.is_empty()) {
    if (Outcome o = check_place("c", x.c, x.arrays_on_device, x.count); !o) return o;
  }
  if (Outcome o = check_epilogue(call, x, extent_c(x.p).elements()); !o) return o;
  make_row_major(x);
  return {};
}

}  // namespace ladder::api

extern "C" void ladder_gemm_call_init(ladder_gemm_call* call) {
  if (call == nullptr) return;
  *call = {};
  call->struct_size = sizeof *call;
  call->batch_count = 1;
  call->lda = call->ldb = call->ldc = 1;
  call->epilogue.scale = 1.0F;
}

extern "C" const char* ladder_precision_string(ladder_precision precision) {
  for (const auto& [of_api, known] : ladder::api::kPrecisions) {
    if (of_api == precision) return ladder::to_string(known);
  }
  return precision == LADDER_PRECISION_DEFAULT ? "default" : "unknown";
}
