// SPDX-License-Identifier: Apache-2.0
// Plans and their execution, in the order of the stream. Sums are in double precision.
#pragma GCC visibility push(default)
#include <cufft.h>
#include <cufftXt.h>
#pragma GCC visibility pop

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fft/transform.hpp"
#include "include/entry_points.hpp"
#include "include/host_call.hpp"

namespace vgpu {

int refuse_unimplemented(const char* name, bool& said);  // for runtime/stubs.cpp
int refuse_unimplemented(const char* name, bool& said) {
  if (!said) std::fprintf(stderr, "vgpu: %s is not implemented\n", name);
  said = true;
  return CUFFT_NOT_IMPLEMENTED;
}

namespace fft {
namespace {

using i64 = std::int64_t;
using std::size_t;

// Layout of one side, in elements: `stride` from one element of a row to the next, embed[d]
// elements of dimension d, `dist` from one transform to the next (cufftPlanMany).
struct Layout {
  std::vector<i64> embed;
  i64 stride = 1, dist = 0;
};

struct Plan {
  std::vector<i64> n;
  Layout in, out;
  bool basic = true;  // contiguous: `in` and `out` are not used
  cufftType type = CUFFT_C2C;
  i64 batch = 0;  // 0: the plan has not been made
  cudaStream_t stream = nullptr;
  std::vector<std::shared_ptr<const Transform>> transforms;  // by dimension

  bool is_double() const { return (type & 0x40) != 0; }
  bool from_real() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool to_real() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
  size_t rank() const { return n.size(); }
  i64 half() const { return n.back() / 2 + 1; }
  i64 rows() const {
    i64 rows = 1;
    for (size_t d = 0; d + 1 < rank(); ++d) rows *= n[d];
    return rows;
  }
  // The layout of a side: `own`, or contiguous with `width` elements in the last dimension.
  Layout layout(const Layout& own, i64 width) const {
    if (!basic) return own;
    Layout plain{n, 1, rows() * width};
    plain.embed.back() = width;
    return plain;
  }
  i64 place(const Layout& of, i64 transform, i64 row) const {
    i64 index = 0, scale = of.embed.back();
    for (size_t d = rank() - 1; d-- > 0; row /= n[d]) {
      index += row % n[d] * scale;
      scale *= of.embed[d];
    }
    return transform * of.dist + index * of.stride;
  }
};

std::mutex mutex;
std::map<cufftHandle, std::shared_ptr<Plan>> plans;

std::shared_ptr<Plan> plan_of(cufftHandle handle) {
  const std::scoped_lock lock(mutex);
  const auto found = plans.find(handle);
  return found == plans.end() ? nullptr : found->second;
}

// One execution.
template <class T>
class Run {
 public:
  Run(const Plan& plan, const T* in, T* out, bool inverse)
      : plan_(plan),
        from_(in),
        to_(out),
        inverse_(plan.to_real() || (inverse && !plan.from_real())),
        width_(plan.from_real() || plan.to_real() ? plan.half() : plan.n.back()) {
    const i64 last = plan.n.back(),
              reals = static_cast<const void*>(in) == out ? 2 * plan.half() : last;
    in_ = plan.layout(plan.in, plan.from_real() ? reals : width_);
    out_ = plan.layout(plan.out, plan.to_real() ? reals : width_);
  }
  // Bytes from the first element to the last one's end.
  size_t in_bytes() const { return bytes(in_, plan_.from_real(), width_); }
  size_t out_bytes() const { return bytes(out_, plan_.to_real(), width_); }

  void operator()() const {
    std::vector<Complex> work(static_cast<size_t>(plan_.rows() * width_)),
        row(static_cast<size_t>(*std::ranges::max_element(plan_.n))), line(row.size());
    for (i64 b = 0; b < plan_.batch; ++b) {
      load(b, work, row, line);
      size_t stride = static_cast<size_t>(width_);
      for (size_t d = plan_.rank() - 1; d-- > 0;) {
        const size_t length = static_cast<size_t>(plan_.n[d]), outer = length * stride;
        for (size_t first = 0; first < work.size(); first += outer) {
          for (size_t i = 0; i < stride; ++i) {
            Complex* const begin = &work[first + i];
            plan_.transforms[d]->forward(begin, stride, line.data());
            for (size_t k = 0; k < length; ++k) begin[k * stride] = line[k];
          }
        }
        stride = outer;
      }
      store(b, work, row, line);
    }
    (void)vgpuWrittenIsMarked();
  }

 private:
  size_t bytes(const Layout& of, bool real, i64 width) const {
    const i64 last = plan_.place(of, plan_.batch - 1, plan_.rows() - 1) +
                     ((real ? plan_.n.back() : width) - 1) * of.stride;
    return static_cast<size_t>(last + 1) * sizeof(T) * (real ? 1 : 2);
  }
  const Transform& along_rows() const { return *plan_.transforms.back(); }
  Complex conjugated(Complex value) const { return inverse_ ? std::conj(value) : value; }

  // Loads transform b to `work` and transforms it along its rows, except in a plan with real
  // results: store() does that.
  void load(i64 b, std::span<Complex> work, std::span<Complex> row, std::span<Complex> line) const {
    for (i64 r = 0; r < plan_.rows(); ++r) {
      const i64 at = plan_.place(in_, b, r), count = plan_.from_real() ? plan_.n.back() : width_;
      for (i64 i = 0; i < count; ++i) {
        const i64 place = at + i * in_.stride;
        row[static_cast<size_t>(i)] = plan_.from_real()
                                          ? Complex(from_[place])
                                          : conjugated({from_[2 * place], from_[2 * place + 1]});
      }
      if (!plan_.to_real()) along_rows().forward(row.data(), 1, line.data());
      std::copy_n((plan_.to_real() ? row : line).begin(), width_, work.begin() + r * width_);
    }
  }
  void store(i64 b, std::span<const Complex> work, std::span<Complex> row,
             std::span<Complex> line) const {
    for (i64 r = 0; r < plan_.rows(); ++r) {
      const std::span values = work.subspan(static_cast<size_t>(r * width_));
      const i64 at = plan_.place(out_, b, r), count = plan_.to_real() ? plan_.n.back() : width_;
      if (plan_.to_real()) {
        // The spectrum of a real row is conjugate-symmetric: the stored half gives the other one,
        // and the first element is taken as real.
        const size_t length = static_cast<size_t>(count);
        for (size_t k = 0; k < length; ++k)
          row[k] = 2 * k <= length ? values[k] : std::conj(values[length - k]);
        row[0].imag(0);
        if (length % 2 == 0) row[length / 2].imag(0);
        along_rows().forward(row.data(), 1, line.data());
      }
      const size_t size = sizeof(T) * (plan_.to_real() ? 1 : 2);
      for (i64 i = 0; i < count; ++i) {
        const i64 place = at + i * out_.stride;
        if (plan_.to_real()) {
          to_[place] = static_cast<T>(line[static_cast<size_t>(i)].real());
        } else {
          const Complex value = conjugated(values[static_cast<size_t>(i)]);
          to_[2 * place] = static_cast<T>(value.real());
          to_[2 * place + 1] = static_cast<T>(value.imag());
        }
        if (out_.stride != 1) mark(place, size);
      }
      if (out_.stride == 1) mark(at, static_cast<size_t>(count) * size);
    }
  }
  void mark(i64 place, size_t size) const {
    vgpuMarkWritten(to_ + place * (plan_.to_real() ? 1 : 2), size);
  }

  Plan plan_;
  const T* from_;
  T* to_;
  bool inverse_;
  i64 width_;  // of rows between load and store
  Layout in_, out_;
};

template <class T>
cufftResult execute_as(const char* name, const Plan& plan, void* in, void* out, int direction) {
  const Run<T> run(plan, static_cast<const T*>(in), static_cast<T*>(out),
                   direction == CUFFT_INVERSE);
  if (vgpuDeviceContains(in, run.in_bytes()) == 0 ||
      vgpuDeviceContains(out, run.out_bytes()) == 0) {
    say(fmt::format("{}: an operand is not wholly in device memory", name));
    return CUFFT_EXEC_FAILED;
  }
  return submit(name, plan.stream, run) ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
}

// type 0: any.
cufftResult execute(const char* name, cufftHandle handle, int type, void* in, void* out,
                    int direction) {
  const auto plan = plan_of(handle);
  if (plan == nullptr || plan->batch == 0) return CUFFT_INVALID_PLAN;
  if (type != 0 && plan->type != type) return CUFFT_INVALID_TYPE;
  if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  return plan->is_double() ? execute_as<double>(name, *plan, in, out, direction)
                           : execute_as<float>(name, *plan, in, out, direction);
}

template <class N>
struct Sides {
  N *inembed = nullptr, istride = 1, idist = 0, *onembed = nullptr, ostride = 1, odist = 0;
};

template <class N>
cufftResult make(cufftHandle handle, std::span<const N> n, Sides<N> sides, cufftType type, N batch,
                 size_t* work_size) {
  const auto plan = plan_of(handle);
  if (plan == nullptr || plan->batch != 0) return CUFFT_INVALID_PLAN;
  if (n.empty() || n.size() > 3) return CUFFT_INVALID_VALUE;
  if (std::ranges::any_of(n, [](N extent) { return extent < 1; }) || batch < 1)
    return CUFFT_INVALID_SIZE;
  switch (type) {
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_C2C:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
    case CUFFT_Z2Z: break;
    default: return CUFFT_INVALID_TYPE;
  }
  plan->n.assign(n.begin(), n.end());
  plan->basic = sides.inembed == nullptr || sides.onembed == nullptr;
  if (!plan->basic) {
    plan->in = {{sides.inembed, sides.inembed + n.size()}, sides.istride, sides.idist};
    plan->out = {{sides.onembed, sides.onembed + n.size()}, sides.ostride, sides.odist};
  }
  plan->type = type;
  plan->batch = batch;
  for (const i64 extent : plan->n)
    plan->transforms.push_back(std::make_shared<Transform>(static_cast<size_t>(extent)));
  if (work_size != nullptr) *work_size = 0;
  return CUFFT_SUCCESS;
}

template <class N>
cufftResult create(cufftHandle* handle, std::span<const N> n, Sides<N> sides, cufftType type,
                   N batch) {
  if (const auto status = cufftCreate(handle); status != CUFFT_SUCCESS) return status;
  const auto status = make(*handle, n, sides, type, batch, nullptr);
  if (status != CUFFT_SUCCESS) cufftDestroy(*handle);
  return status;
}

// Transforms need no work area.
cufftResult no_room(size_t* work_size) {
  if (work_size == nullptr) return CUFFT_INVALID_VALUE;
  *work_size = 0;
  return CUFFT_SUCCESS;
}

cufftResult known(cufftHandle handle) {
  return plan_of(handle) != nullptr ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

template <class N>
std::span<const N> extents(int rank, const N* n) {
  return {n, n == nullptr || rank < 0 ? 0 : static_cast<size_t>(rank)};
}

// The type of the plan of cufftXt; 0 for others.
int type_of(cudaDataType in, cudaDataType out) {
  constexpr struct {
    cudaDataType in, out;
    cufftType type;
  } kTypes[] = {{CUDA_R_32F, CUDA_C_32F, CUFFT_R2C}, {CUDA_C_32F, CUDA_R_32F, CUFFT_C2R},
                {CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_64F, CUDA_C_64F, CUFFT_D2Z},
                {CUDA_C_64F, CUDA_R_64F, CUFFT_Z2D}, {CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z}};
  for (const auto& row : kTypes)
    if (row.in == in && row.out == out) return row.type;
  return 0;
}

}  // namespace
}  // namespace fft
}  // namespace vgpu

using namespace vgpu::fft;  // NOLINT: only entry points follow

cufftResult cufftCreate(cufftHandle* handle) {
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  static cufftHandle next = 1;
  const std::scoped_lock lock(mutex);
  plans[next] = std::make_shared<Plan>();
  *handle = next++;
  return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle) {
  const std::scoped_lock lock(mutex);
  return plans.erase(handle) != 0 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  const auto plan = plan_of(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}

cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
  constexpr int kVersion[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
  *value = kVersion[type];
  return CUFFT_SUCCESS;
}

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed,
                                long long istride, long long idist, cudaDataType intype,
                                long long* onembed, long long ostride, long long odist,
                                cudaDataType outtype, long long batch, size_t* work, cudaDataType) {
  const int type = type_of(intype, outtype);
  if (type != 0) {
    return make<long long>(plan, extents(rank, n),
                           {inembed, istride, idist, onembed, ostride, odist},
                           static_cast<cufftType>(type), batch, work);
  }
  vgpu::say("cufftXtMakePlanMany: these types are not supported");
  return CUFFT_NOT_SUPPORTED;
}

#define SIDES \
  { a3, a4, a5, a6, a7, a8 }
VGPU_BY(cufftPlan1d, 4, create<int>(a0, extents(1, &a1), {}, a2, a3));
VGPU_BY(cufftPlanMany, 11, create<int>(a0, extents(a1, a2), SIDES, a9, a10));
VGPU_BY(cufftMakePlan1d, 5, make<int>(a0, extents(1, &a1), {}, a2, a3, a4));
VGPU_BY(cufftMakePlanMany, 12, make<int>(a0, extents(a1, a2), SIDES, a9, a10, a11));
VGPU_BY(cufftMakePlanMany64, 12, make<long long>(a0, extents(a1, a2), SIDES, a9, a10, a11));
#undef SIDES

cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return create<int>(plan, std::array{nx, ny}, {}, type, 1);
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return create<int>(plan, std::array{nx, ny, nz}, {}, type, 1);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* work) {
  return make<int>(plan, std::array{nx, ny}, {}, type, 1, work);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                            size_t* work) {
  return make<int>(plan, std::array{nx, ny, nz}, {}, type, 1, work);
}

VGPU_BY(cufftEstimate1d, 4, no_room(a3));
VGPU_BY(cufftEstimate2d, 4, no_room(a3));
VGPU_BY(cufftEstimate3d, 5, no_room(a4));
VGPU_BY(cufftEstimateMany, 11, no_room(a10));
VGPU_BY(cufftGetSize, 2, no_room(a1));
VGPU_BY(cufftGetSize1d, 5, no_room(a4));
VGPU_BY(cufftGetSize2d, 5, no_room(a4));
VGPU_BY(cufftGetSize3d, 6, no_room(a5));
VGPU_BY(cufftGetSizeMany, 12, no_room(a11));
VGPU_BY(cufftGetSizeMany64, 12, no_room(a11));
VGPU_BY(cufftSetWorkArea, 2, known(a0));
VGPU_BY(cufftSetAutoAllocation, 2, known(a0));
VGPU_BY(cufftExecC2C, 4, execute("cufftExecC2C", a0, CUFFT_C2C, a1, a2, a3));
VGPU_BY(cufftExecZ2Z, 4, execute("cufftExecZ2Z", a0, CUFFT_Z2Z, a1, a2, a3));
VGPU_BY(cufftExecR2C, 3, execute("cufftExecR2C", a0, CUFFT_R2C, a1, a2, CUFFT_FORWARD));
VGPU_BY(cufftExecD2Z, 3, execute("cufftExecD2Z", a0, CUFFT_D2Z, a1, a2, CUFFT_FORWARD));
VGPU_BY(cufftExecC2R, 3, execute("cufftExecC2R", a0, CUFFT_C2R, a1, a2, CUFFT_INVERSE));
VGPU_BY(cufftExecZ2D, 3, execute("cufftExecZ2D", a0, CUFFT_Z2D, a1, a2, CUFFT_INVERSE));
VGPU_BY(cufftXtExec, 4, execute("cufftXtExec", a0, 0, a1, a2, a3));
