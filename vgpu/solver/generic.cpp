// SPDX-License-Identifier: Apache-2.0
// The functions of cusolverDn with sizes of 64 bits, whose types are arguments.
#include "include/entry_points.hpp"
#include "solver/dense.hpp"

namespace vgpu::solver {
namespace {

Status tell_room(Handle handle, std::size_t* on_device, std::size_t* on_host) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (on_device == nullptr || on_host == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *on_device = 256;
  *on_host = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

// body(T()) where all types are the first one, and T's real type is `real`.
template <class Body>
Status by_type(std::initializer_list<cudaDataType> types, cudaDataType real, Body body) {
  const cudaDataType type = *types.begin();
  const bool same = std::ranges::all_of(types, [&](cudaDataType each) { return each == type; });
  if (same && type == CUDA_R_32F && real == CUDA_R_32F) return body(float());
  if (same && type == CUDA_R_64F && real == CUDA_R_64F) return body(double());
  if (same && type == CUDA_C_32F && real == CUDA_R_32F) return body(cuComplex());
  if (same && type == CUDA_C_64F && real == CUDA_R_64F) return body(cuDoubleComplex());
  return CUSOLVER_STATUS_NOT_SUPPORTED;
}
cudaDataType real_of(cudaDataType type) {
  return type == CUDA_C_32F ? CUDA_R_32F : type == CUDA_C_64F ? CUDA_R_64F : type;
}

// Of a range of eigenvalues; null where they are selected otherwise.
template <class Real>
double limit(const Real* value) {
  return value != nullptr ? static_cast<double>(*value) : 0;
}

}  // namespace
}  // namespace vgpu::solver

using namespace vgpu::solver;  // NOLINT: only entry points follow

// A function whose operands have the first type of `types` (`real`: the type of its real operands).
#define VGPU_BY_TYPE(name, count, types, real, ...)                                   \
  VGPU_BY(cusolverDn##name, count, by_type({VGPU_LIST types}, real, [&](auto typed) { \
            using T = decltype(typed);                                                \
            constexpr const char* kName = "cusolverDn" #name;                         \
            return __VA_ARGS__;                                                       \
          }))
#define VGPU_LIST(...) __VA_ARGS__
#define VGPU_T(pointer) static_cast<T*>(pointer)
#define VGPU_CONST_T(pointer) static_cast<const T*>(pointer)
#define VGPU_REAL(pointer) static_cast<Real<T>*>(pointer)
#define VGPU_ROOM(name, count, on_device, on_host) \
  VGPU_BY(cusolverDn##name##_bufferSize, count, tell_room(a0, on_device, on_host))

VGPU_ROOM(Xpotrf, 10, a8, a9);
VGPU_BY_TYPE(Xpotrf, 13, (a4, a7), real_of(a4),
             potrf(kName, a0, "potrf", a2, a3, VGPU_T(a5), a6, a12));
VGPU_BY_TYPE(Xpotrs, 12, (a5, a8), real_of(a5),
             potrs(kName, a0, a2, a3, a4, VGPU_CONST_T(a6), a7, VGPU_T(a9), a10, a11));
VGPU_ROOM(Xtrtri, 9, a7, a8);
VGPU_BY_TYPE(Xtrtri, 12, (a4), real_of(a4), trtri(kName, a0, a1, a2, a3, VGPU_T(a5), a6, a11));
VGPU_ROOM(Xgetrf, 10, a8, a9);
VGPU_BY_TYPE(Xgetrf, 14, (a4, a8), real_of(a4), getrf(kName, a0, a2, a3, VGPU_T(a5), a6, a7, a13));
VGPU_BY_TYPE(Xgetrs, 13, (a5, a9), real_of(a5),
             getrs(kName, a0, a2, a3, a4, VGPU_CONST_T(a6), a7, a8, VGPU_T(a10), a11, a12));
VGPU_ROOM(Xgeqrf, 12, a10, a11);
VGPU_BY_TYPE(Xgeqrf, 15, (a4, a7, a9), real_of(a4),
             geqrf(kName, a0, a2, a3, VGPU_T(a5), a6, VGPU_T(a8), a14));
VGPU_ROOM(Xgesvd, 20, a18, a19);
VGPU_BY_TYPE(Xgesvd, 23, (a6, a11, a14, a17), a9,
             gesvd(kName, a0, a2, a3, a4, a5, VGPU_T(a7), a8, VGPU_REAL(a10), VGPU_T(a12), a13,
                   VGPU_T(a15), a16, a22));
VGPU_ROOM(Xgesvdp, 20, a18, a19);
VGPU_BY_TYPE(Xgesvdp, 24, (a6, a11, a14, a17), a9,
             svd(kName, a0, a2, a3 != 0, std::min(a4, a5), a4, a5, VGPU_T(a7), a8, VGPU_REAL(a10),
                 VGPU_T(a12), a13, VGPU_T(a15), a16, a22, {}, 1, a23));
VGPU_ROOM(Xsyevd, 13, a11, a12);
VGPU_BY_TYPE(Xsyevd, 16, (a5, a10), a8,
             eigen(kName, a0, 0, a2, a3, a4, VGPU_T(a6), a7, nullptr, 0, VGPU_REAL(a9), a15));
VGPU_ROOM(XsyevBatched, 14, a11, a12);
VGPU_BY_TYPE(XsyevBatched, 17, (a5, a10), a8,
             eigen(kName, a0, 0, a2, a3, a4, VGPU_T(a6), a7, nullptr, 0, VGPU_REAL(a9), a15, a16));
VGPU_ROOM(Xsyevdx, 19, a17, a18);
VGPU_BY_TYPE(Xsyevdx, 22, (a6, a16), a14,
             eigen(kName, a0, 0, a2, a4, a5, VGPU_T(a7), a8, nullptr, 0, VGPU_REAL(a15), a21, 1,
                   {a3, limit(VGPU_REAL(a9)), limit(VGPU_REAL(a10)), a11, a12}, a13));
