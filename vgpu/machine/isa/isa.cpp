// SPDX-License-Identifier: Apache-2.0
// The operations of one host instruction set. VGPU_ISA is the namespace, VGPU_ISA_NAME the name
// shown to users.
#include "machine/isa/sass.hpp"

namespace vgpu::machine {
namespace VGPU_ISA {

void run(Warp& warp, const Handler* handlers);

namespace {

void define(OperationSink& sink) {
  define_integer(sink);
  define_bits(sink);
  define_compare(sink);
  define_float(sink);
  define_half(sink);
  define_convert(sink);
  define_move(sink);
  define_memory(sink);
  define_atomic(sink);
  define_warp(sink);
  define_control(sink);
  define_async(sink);
  define_matrix(sink);
  define_matrix_integer(sink);
  define_wgmma(sink);
  define_texture(sink);
  define_video(sink);
  define_sass_float(sink);
  define_sass_half(sink);
  define_sass_integer(sink);
  define_sass_bits(sink);
  define_sass_warp(sink);
  define_sass_control(sink);
}

// Called before any other code of this instruction set.
bool available() {
#if defined(__AVX512F__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#elif defined(__AVX2__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
  return true;
#endif
}

}  // namespace

const IsaCode& code();
const IsaCode& code() {
  static constexpr IsaCode kCode{VGPU_ISA_NAME, &available, &define, &run};
  return kCode;
}

}  // namespace VGPU_ISA
}  // namespace vgpu::machine
