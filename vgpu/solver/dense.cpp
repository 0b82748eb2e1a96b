// SPDX-License-Identifier: Apache-2.0
// The functions of cusolverDn for one type each, and handles.
#include "solver/dense.hpp"

#include <cstdio>

#include "include/entry_points.hpp"

struct syevjInfo {};
struct gesvdjInfo {};
struct cusolverDnParams {};

namespace vgpu {

int refuse_unimplemented(const char* name, bool& said);  // for runtime/stubs.cpp
int refuse_unimplemented(const char* name, bool& said) {
  if (!said) std::fprintf(stderr, "vgpu: %s is not implemented\n", name);
  said = true;
  return CUSOLVER_STATUS_NOT_SUPPORTED;
}

namespace solver {
namespace {

constexpr Status kFine = CUSOLVER_STATUS_SUCCESS, kInvalid = CUSOLVER_STATUS_INVALID_VALUE;

// Elements of a workspace: LAPACK has its own, on the host.
Status tell_room(Handle handle, int* elements) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (elements == nullptr) return kInvalid;
  *elements = 16;
  return kFine;
}

Status create_handle(Handle* handle) {
  if (lapack_function("dgetrf_") != nullptr) return Objects::create(handle, cusolverDnContext());
  say("cuSOLVER: LAPACK, which computes for it, is not found: install libopenblas.so.0 or "
      "liblapack.so.3");
  return CUSOLVER_STATUS_NOT_INITIALIZED;
}

// Settings and results of Jacobi's method, which is not used.
Status ignored(const void* object) { return object != nullptr ? kFine : kInvalid; }
template <class T>
Status none(const void* object, T* value) {
  if (object == nullptr || value == nullptr) return kInvalid;
  *value = T();
  return kFine;
}

}  // namespace
}  // namespace solver
}  // namespace vgpu

using namespace vgpu::solver;  // NOLINT: only entry points follow

VGPU_BY(cusolverGetProperty, 2,
        Objects::property(a0, a1, {CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH}));
VGPU_BY(cusolverGetVersion, 1,
        a0 == nullptr ? kInvalid : (*a0 = CUSOLVER_VERSION, CUSOLVER_STATUS_SUCCESS));

VGPU_BY(cusolverDnCreate, 1, create_handle(a0));
VGPU_BY(cusolverDnDestroy, 1,
        a0 == nullptr ? CUSOLVER_STATUS_NOT_INITIALIZED : Objects::destroy(a0));
VGPU_BY(cusolverDnSetStream, 2, Objects::set(a0, &cusolverDnContext::stream, a1));
VGPU_BY(cusolverDnGetStream, 2, Objects::get(a0, &cusolverDnContext::stream, a1));
VGPU_BY(cusolverDnSetDeterministicMode, 2, Objects::set(a0, &cusolverDnContext::deterministic, a1));
VGPU_BY(cusolverDnGetDeterministicMode, 2, Objects::get(a0, &cusolverDnContext::deterministic, a1));
VGPU_BY(cusolverDnSetMathMode, 2, Objects::set(a0, &cusolverDnContext::math, a1));
VGPU_BY(cusolverDnGetMathMode, 2, Objects::get(a0, &cusolverDnContext::math, a1));
VGPU_BY(cusolverDnCreateParams, 1, Objects::create(a0, cusolverDnParams()));
VGPU_BY(cusolverDnDestroyParams, 1, Objects::destroy(a0));
VGPU_BY(cusolverDnSetAdvOptions, 3, ignored(a0));
VGPU_BY(cusolverDnCreateSyevjInfo, 1, Objects::create(a0, syevjInfo()));
VGPU_BY(cusolverDnDestroySyevjInfo, 1, Objects::destroy(a0));
VGPU_BY(cusolverDnXsyevjSetTolerance, 2, ignored(a0));
VGPU_BY(cusolverDnXsyevjSetMaxSweeps, 2, ignored(a0));
VGPU_BY(cusolverDnXsyevjSetSortEig, 2, ignored(a0));
VGPU_BY(cusolverDnXsyevjGetResidual, 3, none(a1, a2));
VGPU_BY(cusolverDnXsyevjGetSweeps, 3, none(a1, a2));
VGPU_BY(cusolverDnCreateGesvdjInfo, 1, Objects::create(a0, gesvdjInfo()));
VGPU_BY(cusolverDnDestroyGesvdjInfo, 1, Objects::destroy(a0));
VGPU_BY(cusolverDnXgesvdjSetTolerance, 2, ignored(a0));
VGPU_BY(cusolverDnXgesvdjSetMaxSweeps, 2, ignored(a0));
VGPU_BY(cusolverDnXgesvdjSetSortEig, 2, ignored(a0));
VGPU_BY(cusolverDnXgesvdjGetResidual, 3, none(a1, a2));
VGPU_BY(cusolverDnXgesvdjGetSweeps, 3, none(a1, a2));

// A function of each type, whose names differ for complex types; and the size of its workspace.
#define VGPU_TYPES(real, complex, count, expression) \
  VGPU_BY(cusolverDnS##real, count, expression);     \
  VGPU_BY(cusolverDnD##real, count, expression);     \
  VGPU_BY(cusolverDnC##complex, count, expression);  \
  VGPU_BY(cusolverDnZ##complex, count, expression)
#define VGPU_ROOM(real, complex, count, to) \
  VGPU_TYPES(real##_bufferSize, complex##_bufferSize, count, tell_room(a0, to))

VGPU_ROOM(potrf, potrf, 6, a5);
VGPU_TYPES(potrf, potrf, 8, potrf(__func__, a0, "potrf", a1, a2, a3, a4, a7));
VGPU_ROOM(potri, potri, 6, a5);
VGPU_TYPES(potri, potri, 8, potrf(__func__, a0, "potri", a1, a2, a3, a4, a7));
VGPU_ROOM(lauum, lauum, 6, a5);
VGPU_TYPES(lauum, lauum, 8, potrf(__func__, a0, "lauum", a1, a2, a3, a4, a7));
VGPU_TYPES(potrs, potrs, 9, potrs(__func__, VGPU_ARGUMENTS_9));
VGPU_TYPES(potrfBatched, potrfBatched, 7, potrf_batch(__func__, VGPU_ARGUMENTS_7));
VGPU_TYPES(potrsBatched, potrsBatched, 10, potrs_batch(__func__, VGPU_ARGUMENTS_10));
VGPU_ROOM(getrf, getrf, 6, a5);
VGPU_TYPES(getrf, getrf, 8, getrf(__func__, a0, a1, a2, a3, a4, a6, a7));
VGPU_TYPES(getrs, getrs, 10, getrs(__func__, VGPU_ARGUMENTS_10));
VGPU_TYPES(laswp, laswp, 8, laswp(__func__, VGPU_ARGUMENTS_8));
VGPU_ROOM(geqrf, geqrf, 6, a5);
VGPU_TYPES(geqrf, geqrf, 9, geqrf(__func__, a0, a1, a2, a3, a4, a5, a8));
VGPU_ROOM(orgqr, ungqr, 8, a7);
VGPU_TYPES(orgqr, ungqr, 10, orgqr(__func__, a0, a1, a2, a3, a4, a5, a6, a9));
VGPU_ROOM(ormqr, unmqr, 12, a11);
VGPU_TYPES(ormqr, unmqr, 14, ormqr(__func__, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a13));

VGPU_ROOM(gesvd, gesvd, 4, a3);
VGPU_TYPES(gesvd, gesvd, 16,
           gesvd(__func__, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a15));
VGPU_ROOM(gesvdj, gesvdj, 14, a12);
VGPU_TYPES(gesvdj, gesvdj, 16,
           svd(__func__, a0, a1, a2 != 0, std::min(a3, a4), a3, a4, a5, a6, a7, a8, a9, a10, a11,
               a14));
VGPU_ROOM(gesvdjBatched, gesvdjBatched, 14, a11);
VGPU_TYPES(gesvdjBatched, gesvdjBatched, 16,
           svd(__func__, a0, a1, false, std::min(a2, a3), a2, a3, a4, a5, a6, a7, a8, a9, a10, a13,
               {i64{a5} * a3, std::min(a2, a3), i64{a8} * a2, i64{a10} * a3}, a15));
VGPU_ROOM(gesvdaStridedBatched, gesvdaStridedBatched, 18, a16);
VGPU_TYPES(gesvdaStridedBatched, gesvdaStridedBatched, 21,
           svd(__func__, a0, a1, true, a2, a3, a4, a5, a6, a8, a10, a11, a13, a14, a18,
               {a7, a9, a12, a15}, a20, a19));

VGPU_ROOM(syevd, heevd, 8, a7);
VGPU_TYPES(syevd, heevd, 10, eigen(__func__, a0, 0, a1, a2, a3, a4, a5, nullptr, 0, a6, a9));
VGPU_ROOM(syevj, heevj, 9, a7);
VGPU_TYPES(syevj, heevj, 11, eigen(__func__, a0, 0, a1, a2, a3, a4, a5, nullptr, 0, a6, a9));
VGPU_ROOM(syevjBatched, heevjBatched, 10, a7);
VGPU_TYPES(syevjBatched, heevjBatched, 12,
           eigen(__func__, a0, 0, a1, a2, a3, a4, a5, nullptr, 0, a6, a9, a11));
VGPU_ROOM(syevdx, heevdx, 14, a13);
VGPU_TYPES(syevdx, heevdx, 16,
           eigen(__func__, a0, 0, a1, a3, a4, a5, a6, nullptr, 0, a12, a15, 1,
                 {a2, a7, a8, a9, a10}, a11));
VGPU_ROOM(sygvd, hegvd, 11, a10);
VGPU_TYPES(sygvd, hegvd, 13, eigen(__func__, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a12));
VGPU_ROOM(sygvj, hegvj, 12, a10);
VGPU_TYPES(sygvj, hegvj, 14, eigen(__func__, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a12));
VGPU_ROOM(sygvdx, hegvdx, 17, a16);
VGPU_TYPES(sygvdx, hegvdx, 19,
           eigen(__func__, a0, a1, a2, a4, a5, a6, a7, a8, a9, a15, a18, 1,
                 {a3, a10, a11, a12, a13}, a14));
