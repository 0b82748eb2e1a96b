// SPDX-License-Identifier: Apache-2.0
// Functions with the names of a CUDA runtime's, for test_cuda_file.cpp. VGPU_FAKE_* says which.
#if defined(VGPU_FAKE_wrapper) || defined(VGPU_FAKE_caller)
#define SEEN __attribute__((visibility("default"), noinline))
#else
#define SEEN __attribute__((visibility("hidden"), noinline))
#endif

// A number that the compiler does not know.
static volatile int zero = 0;

extern "C" {

#if !defined(VGPU_FAKE_caller)
SEEN int __cudaRegisterFatBinary() { return 1 + zero; }
SEEN int cudaMalloc() { return 2 + zero; }
#if !defined(VGPU_FAKE_11)
SEEN int cudaMemDiscardBatchAsync() { return 3 + zero; }
#endif
#endif

#if defined(VGPU_FAKE_12)
SEEN int cudaGetDeviceProperties_v2() { return 4 + zero; }
#elif defined(VGPU_FAKE_short)
asm(".text\n.hidden cudaFree\n.globl cudaFree\n.type cudaFree, @function\n"
    "cudaFree: ret\n.size cudaFree, . - cudaFree\n");
#elif defined(VGPU_FAKE_twins)
SEEN int cudaMallocHost() __attribute__((alias("cudaMalloc")));
#elif defined(VGPU_FAKE_caller)
int __cudaRegisterFatBinary();
int call_it() { return __cudaRegisterFatBinary(); }
__attribute__((section(".nv_fatbin"), used)) char device_code[8] = {};
#endif

__attribute__((visibility("default"))) int call_malloc() {
#if defined(VGPU_FAKE_caller)
  return zero;
#else
  return cudaMalloc();
#endif
}
}
