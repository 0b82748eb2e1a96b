// SPDX-License-Identifier: Apache-2.0
// The calls of gemm.h on 16-bit and 8-bit matrices.
#include <ladder/gemm.h>
#include <ladder/quantize.hpp>
#include <ladder/registry.hpp>

#include <cstddef>
#include <string>
#include <utility>

#include "gemm/call.hpp"
#include "library/choice.hpp"
#include "library/lend.hpp"

namespace ladder::api {
namespace {

// What programs were compiled with: members are only appended.
static_assert(sizeof(ladder_typed_call) == 128 && offsetof(ladder_typed_call, m) == 32 &&
                  offsetof(ladder_typed_call, a) == 64 &&
                  offsetof(ladder_typed_call, scales_b) == 120,
              "the binary interface");

constexpr Type kTypes[] = {Type::kF32, Type::kBf16, Type::kF16, Type::kE4m3, Type::kE5m2};
constexpr Scaling kScalings[] = {Scaling::kNone, Scaling::kTensor, Scaling::kBlock};
constexpr Grain kGrains[] = {Grain::kTensor, Grain::kRowBlock, Grain::kSquare};

// Finds the element of `all` whose index is the C enumerator's value.
template <class T, std::size_t kMany>
Outcome find(const char* name, int value, const T (&all)[kMany], T& found) {
  if (value < 0 || value >= static_cast<int>(kMany)) return no_enumerator(name, value);
  found = all[value];
  return {};
}

bool has_8_bits(Type type) { return ladder::bytes_of(type) == 1; }

std::string types_of(Type in, Type out, Scaling scaling) {
  std::string text = std::string(to_string(in)) + " to " + to_string(out);
  if (scaling != Scaling::kNone) text += std::string(" with ") + to_string(scaling) + " scales";
  return text;
}

// A checked call: a row-major problem and the kernel that computes it.
struct Typed {
  Problem p;
  Operands o;
  const KernelInfo* kernel = nullptr;
  bool is_empty() const { return p.m == 0 || p.n == 0; }
};

Outcome check_problem(const ladder_typed_call& call, Problem& p) {
  constexpr Op kOps[] = {Op::kNone, Op::kTranspose, Op::kTranspose};
  constexpr Layout kLayouts[] = {Layout::kRowMajor, Layout::kColMajor};
  if (Outcome o = find("layout", call.layout, kLayouts, p.layout); !o) return o;
  if (Outcome o = find("op_a", call.op_a, kOps, p.op_a); !o) return o;
  if (Outcome o = find("op_b", call.op_b, kOps, p.op_b); !o) return o;
  if (Outcome o = find("type_ab", call.type_ab, kTypes, p.in); !o) return o;
  if (Outcome o = find("type_c", call.type_c, kTypes, p.out); !o) return o;
  if (Outcome o = find("scaling", call.scaling, kScalings, p.scaling); !o) return o;
  p.m = call.m, p.n = call.n, p.k = call.k;
  p.lda = call.lda, p.ldb = call.ldb, p.ldc = call.ldc;
  p.alpha = call.alpha, p.beta = call.beta;
  if (Status s = validate(p); !s) return s;
  if (has_8_bits(p.in) != (p.scaling != Scaling::kNone))
    return invalid(std::string("scaling: ") + to_string(p.in) +
                   (has_8_bits(p.in) ? " operands have scales" : " operands have no scales"));
  return {};
}

// Errors: LADDER_STATUS_NOT_SUPPORTED; the text lists the types that the library computes.
Outcome find_kernel(const Problem& p, const Device& device, const KernelInfo*& found) {
  const auto is_typed = [](const KernelInfo& kernel) {
    return kernel.role == Role::kLibrary && kernel.in != Type::kF32;
  };
  for (const KernelInfo& kernel : kernels()) {
    if (!is_typed(kernel) || kernel.in != p.in || kernel.out != p.out ||
        kernel.scaling != p.scaling)
      continue;
    found = &kernel;
    if (const Status s = accepts(kernel, p, device); !s)
      return {LADDER_STATUS_NOT_SUPPORTED, "call: " + s.message()};
    return {};
  }
  std::string others;
  for (const KernelInfo& kernel : kernels()) {
    if (is_typed(kernel))
      others += (others.empty() ? "" : "; ") + types_of(kernel.in, kernel.out, kernel.scaling);
  }
  if (others.empty()) others = "none, built with LADDER_SM_90A=OFF";
  return {LADDER_STATUS_NOT_SUPPORTED, "type_ab, type_c: " + types_of(p.in, p.out, p.scaling) +
                                           " is not computed; there are: " + others};
}

Outcome check_matrix(const char* name, const void* matrix, Type type = Type::kF32) {
  return checked_matrix(name, matrix, static_cast<std::size_t>(ladder::bytes_of(type))).status();
}

Outcome check(const ladder_context& handle, const ladder_typed_call* call, Typed& typed) {
  if (Outcome o = check_device(handle); !o) return o;
  if (call == nullptr) return invalid("call: null");
  if (call->struct_size != sizeof(ladder_typed_call))
    return invalid("struct_size: " + std::to_string(call->struct_size) +
                   " bytes, this library takes " + std::to_string(sizeof(ladder_typed_call)) +
                   "; ladder_typed_call_init() sets it");
  Problem given;
  if (Outcome o = check_problem(*call, given); !o) return o;
  const auto [p, swapped] = as_row_major(given);
  typed.p = p;
  if (Outcome o = find_kernel(p, handle.device, typed.kernel); !o) return o;
  if (typed.is_empty()) return {};
  if (Outcome o = check_matrix("c", call->c, p.out); !o) return o;
  typed.o.c = static_cast<float*>(call->c);
  if (!reads_ab(p)) return {};
  if (Outcome o = check_matrix("a", call->a, p.in); !o) return o;
  if (Outcome o = check_matrix("b", call->b, p.in); !o) return o;
  typed.o.a = static_cast<const float*>(call->a);
  typed.o.b = static_cast<const float*>(call->b);
  if (p.scaling != Scaling::kNone) {
    if (Outcome o = check_matrix("scales_a", call->scales_a); !o) return o;
    if (Outcome o = check_matrix("scales_b", call->scales_b); !o) return o;
    typed.o.scales_a = call->scales_a;
    typed.o.scales_b = call->scales_b;
  }
  if (swapped) {
    std::swap(typed.o.a, typed.o.b);
    std::swap(typed.o.scales_a, typed.o.scales_b);
  }
  return {};
}

MemoryNeed need_of(const Typed& typed) {
  MemoryNeed need;
  const Loan loan(need);
  static_cast<void>(typed.kernel->launch(typed.p, typed.o, nullptr));
  return need;
}

}  // namespace
}  // namespace ladder::api

using namespace ladder::api;

extern "C" {

void ladder_typed_call_init(ladder_typed_call* call) {
  if (call == nullptr) return;
  *call = {};
  call->struct_size = sizeof *call;
  call->type_ab = call->type_c = LADDER_TYPE_BF16;
  call->alpha = 1.0F;
  call->lda = call->ldb = call->ldc = 1;
}

ladder_status ladder_gemm_typed(ladder_handle handle, const ladder_typed_call* call) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    Typed typed;
    if (Outcome o = check(h, call, typed); !o) return o;
    if (typed.is_empty()) return {};
    Lent lent;
    if (h.workspace != nullptr) {
      lent.need = need_of(typed);
      if (Outcome o = check_limit(*typed.kernel, bytes_of(lent.need), h.workspace_bytes); !o)
        return o;
    }
    return with_memory(h, lent,
                       [&](char*) { return typed.kernel->launch(typed.p, typed.o, h.stream); });
  });
}

ladder_status ladder_typed_workspace_bytes(ladder_handle handle, const ladder_typed_call* call,
                                           size_t* bytes) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    if (bytes == nullptr) return invalid("bytes: null");
    Typed typed;
    if (Outcome o = check(h, call, typed); !o) return o;
    *bytes = typed.is_empty() ? 0 : static_cast<size_t>(bytes_of(need_of(typed)));
    return {};
  });
}

int64_t ladder_scale_count(ladder_grain grain, int64_t rows, int64_t cols) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (rows < 0 || cols < 0 || rows > kMost || cols > kMost) return -1;
  ladder::Problem p = ladder::make_problem(rows, rows, cols);  // the matrix is A, and op(B)^T
  p.scaling = ladder::Scaling::kBlock;
  switch (grain) {
    case LADDER_GRAIN_TENSOR: return 1;
    case LADDER_GRAIN_ROW_BLOCK: return ladder::extent_scales_a(p).elements();
    case LADDER_GRAIN_SQUARE: return ladder::extent_scales_b(p).elements();
  }
  return -1;
}

ladder_status ladder_quantize(ladder_handle handle, ladder_type type, ladder_grain grain,
                              int64_t rows, int64_t cols, const float* x, int64_t ldx, void* q,
                              int64_t ldq, float* scales) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    if (Outcome o = check_device(h); !o) return o;
    ladder::Type element{};
    ladder::Grain shared{};
    if (Outcome o = find("type", type, kTypes, element); !o) return o;
    if (Outcome o = find("grain", grain, kGrains, shared); !o) return o;
    if (rows > 0 && cols > 0) {
      if (Outcome o = check_matrix("x", x); !o) return o;
      if (Outcome o = check_matrix("q", q, element); !o) return o;
      if (Outcome o = check_matrix("scales", scales); !o) return o;
    }
    return quantize({x, rows, cols, ldx}, element, shared, {q, ldq, scales}, h.stream);
  });
}

}  // extern "C"
