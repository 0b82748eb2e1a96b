/* SPDX-License-Identifier: Apache-2.0 */
/* What the virtual GPU's libcudart.so.13 offers beyond the CUDA runtime. A program that may also run on a GPU finds
   these by dlsym(RTLD_DEFAULT, "vgpuDeviceName"): where the name is absent, the runtime is the real one.
   All functions are thread-safe; strings stay valid until the same function is called again. */
#ifndef VGPU_VGPU_H
#define VGPU_VGPU_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The virtual device's short name, "h200"; "" if VGPU_DEVICE names none. */
const char* vgpuDeviceName(void);

/* Forgets the launches so far, and keeps those that follow for vgpuCountersJson. */
void vgpuResetCounters(void);

/* The launches since the last vgpuResetCounters (none before the first), in the counters file's JSON
   (docs/counters.schema.json). */
const char* vgpuCountersJson(void);

/* Turns the trace on (1) or off (0) for the launches that follow; returns the former setting. A traced launch keeps
   every instruction that it executed, with its counts and, of memory instructions, the lanes' addresses once. */
int vgpuSetTrace(int on);

/* The traced launches since the last vgpuResetCounters (or the start):
   {"launches": [{"kernel", "engine", "instructions": [{"text", "place", "file", "line", "operation", "executions",
   "lanes"; of memory instructions also "global_requests", "global_sectors", "shared_requests", "shared_wavefronts",
   "sample": {"block", "warp", "mask", "bytes", "shared", "addresses": 32 numbers}}, ...]}, ...]}.
   "place" is a line of the PTX or the offset of the machine code, as "engine" says. */
const char* vgpuTraceJson(void);

/* Turns the race check on (1) or off (0) for the launches that follow; returns the former setting. */
int vgpuSetRaceCheck(int on);

/* When the data of asynchronous copies land in the launches that follow: "eager", "lazy" or "random:SEED". Returns the
   former setting, or NULL (and changes nothing) where the text is none of these. */
const char* vgpuSetSchedule(const char* schedule);

/* The last fault's report (several lines), and the name of its kind: "out of bounds", "use after free", "misaligned
   address", ... Both are "" if there was none since the start or the last vgpuClearFault. */
const char* vgpuLastFault(void);
const char* vgpuLastFaultKind(void);

/* Clears the last fault and the sticky error it left, so that a test driver may go on. Memory keeps its contents. The
   fault is dealt with: `vgpu` does not end with status 86 for it. */
void vgpuClearFault(void);

/* 1 if the `bytes` bytes at `pointer` lie wholly inside one live allocation that kernels may access. */
int vgpuDeviceContains(const void* pointer, size_t bytes);

/* The host has written these bytes of device memory by itself (not by a function of the CUDA runtime): the check of
   reads of memory that was never written takes note. */
void vgpuMarkWritten(const void* pointer, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
