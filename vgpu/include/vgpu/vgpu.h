/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the virtual GPU's runtime (libvgpu.so) beyond CUDA's. A program that may also
   run on a real GPU looks them up with dlsym(RTLD_DEFAULT, "vgpuDeviceName"): if the name is
   absent, the runtime is the real one. All functions are thread-safe. Returned strings stay valid
   until the same function is called again. */
#ifndef VGPU_VGPU_H
#define VGPU_VGPU_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The virtual device's short name, "h200"; "" if VGPU_DEVICE names none. */
const char* vgpuDeviceName(void);

/* Discards all recorded launches and starts recording launches for vgpuCountersJson. */
void vgpuResetCounters(void);

/* The launches since the last vgpuResetCounters, as JSON in the format of the counters file
   (docs/counters.schema.json). Nothing is recorded before the first vgpuResetCounters. */
const char* vgpuCountersJson(void);

/* Turns the trace on (1) or off (0) for the launches that follow; returns the former setting. The
   trace of a launch holds every instruction that was executed, with its counts. For a memory
   instruction it also holds the lanes' addresses of one execution. */
int vgpuSetTrace(int on);

/* The traced launches since the last vgpuResetCounters; none are kept before the first one:
   {"launches": [{"kernel", "engine", "instructions": [{"text", "place", "file", "line",
   "operation", "executions", "lanes"; for memory instructions also "global_requests",
   "global_sectors", "shared_requests", "shared_wavefronts", "sample": {"block", "warp", "mask",
   "bytes", "shared", "addresses": 32 numbers}}, ...]}, ...]}.
   "place" is a line of the PTX or an offset into the machine code, depending on "engine". */
const char* vgpuTraceJson(void);

/* Turns the race check on (1) or off (0) for all later launches; returns the former setting. */
int vgpuSetRaceCheck(int on);

/* Turns on (1) or off (0) that launches reuse the results of earlier ones that did the same;
   returns the former setting. */
int vgpuSetReuse(int on);

/* How many launches have reused results so far. */
size_t vgpuReusedLaunches(void);

/* Sets when the data of asynchronous copies arrive in the launches that follow: "eager", "lazy" or
   "random:SEED". Returns the former setting, or NULL (without any change) for any other text. */
const char* vgpuSetSchedule(const char* schedule);

/* The report of the last fault (several lines; without --fail-fast none of what a launch goes on
   after), and the name of its kind: "out of bounds", "use
   after free", "misaligned address", ... Both are "" if there was no fault since the start or the
   last vgpuClearFault. */
const char* vgpuLastFault(void);
const char* vgpuLastFaultKind(void);

/* Clears the last fault and its sticky error, so that a test driver can continue. Memory keeps its
   contents. `vgpu` does not exit with status 86 for a cleared fault. */
void vgpuClearFault(void);

/* 1 if the `bytes` bytes at `pointer` lie in one live allocation that kernels may access. */
int vgpuDeviceContains(const void* pointer, size_t bytes);

/* Says that bytes of device memory were written: the check of reads of memory that was never
   written and the reuse of launches must know. Needed where the host writes device memory without a
   function of the CUDA runtime, after it has written. */
void vgpuMarkWritten(const void* pointer, size_t bytes);

/* Called by a function that cudaLaunchHostFunc executes, at its end, if vgpuMarkWritten knows of
   all device memory that it has written: other memory then counts as unchanged. Returns this
   moment, or 0 if changes are not noted, as with --no-reuse. */
size_t vgpuWrittenIsMarked(void);

/* 1 if bytes of device memory may have changed since such a moment. */
int vgpuMayHaveChanged(size_t moment, const void* pointer, size_t bytes);

/* The bytes of device memory that the program has allocated on a device, by its place among all,
   visible or not. */
size_t vgpuMemoryUsed(int device);

#ifdef __cplusplus
}
#endif
#endif
