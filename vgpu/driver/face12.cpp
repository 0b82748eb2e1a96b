// SPDX-License-Identifier: Apache-2.0
// libcudart.so.12: the functions that CUDA 12 declares differently from CUDA 13. Each jumps to the
// virtual GPU's function with those arguments. All others are in libvgpu.so, which it is linked to.

#if defined(__x86_64__)
#define VGPU_JUMP(target) "endbr64\n jmp *" #target "@GOTPCREL(%rip)\n"
#elif defined(__aarch64__)
#define VGPU_JUMP(target) "b " #target "\n"
#endif
#define VGPU_OF_12(name, target)                                                   \
  asm(".text\n .p2align 4\n .globl " #name "\n .type " #name ", %function\n" #name \
      ":\n" VGPU_JUMP(target) ".size " #name ", . - " #name "\n");
#define VGPU_MISSING_OF_12(name) \
  extern "C" int name();         \
  int name() { return vgpu12Refuse(#name); }

#define VGPU_MOVED(name, target)  // libvgpu.so has it under both names

extern "C" int vgpu12Refuse(const char* name);  // runtime/cuda12.cpp

#include "redirect/names12.inc"
