// SPDX-License-Identifier: Apache-2.0
// The calls of gemm.h: checked, planned, enqueued.
#include <cuda_runtime_api.h>
#include <ladder/gemm.h>

#include <cstdio>
#include <string>
#include <vector>

#include "gemm/call.hpp"
#include "gemm/plan/plan.hpp"
#include "library/choice.hpp"
#include "library/lend.hpp"

namespace ladder::api {
namespace {

std::int64_t limit_of(const ladder_context& handle) {
  return handle.workspace == nullptr ? kUnlimited : handle.workspace_bytes;
}

// The epilogue of product `number`, for `count` products.
FinishJob finish_job(const Checked& x, std::int64_t number, std::int64_t count) {
  FinishJob job = x.epilogue;
  job.m = x.p.m;
  job.n = x.p.n;
  job.count = count;
  job.c = {x.arrays_on_device ? nullptr : x.c.number(number), x.arrays_on_device ? x.c.of : nullptr,
           x.c.stride, x.p.ldc, 1};
  if (job.bias != nullptr) job.bias += number * job.bias_stride;
  if (job.residual.g != nullptr) job.residual.g += number * job.residual.stride;
  return job;
}

// One launch for the batch, or one per product if the pointers are in arrays on the host.
Outcome enqueue_strided(const Checked& x, Stream stream) {
  StridedJob job = strided_job(x.p, x.a, x.b, x.c);
  job.by = x.by;
  job.k = x.reads() ? x.p.k : 0;
  const bool host_arrays = x.c.of != nullptr && !x.arrays_on_device;
  job.count = host_arrays ? 1 : x.count;
  const std::int64_t launches = host_arrays ? x.count : 1;
  for (std::int64_t i = 0; i < launches; ++i) {
    const auto take = [&](auto& to, const auto& from) { to.g = from.number(i), to.of = nullptr; };
    if (host_arrays && x.reads()) take(job.a, x.a), take(job.b, x.b);
    if (host_arrays) take(job.c, x.c);
    if (Status s = launch_strided(job, stream); !s) return s;
    if (!x.has_epilogue) continue;
    if (Status s = launch_finish(finish_job(x, i, job.count), stream); !s) return s;
  }
  return {};
}

Outcome enqueue_batch(const Checked& x, Stream stream) {
  if (Status s =
          launch_batch(x.p, x.operands(0), {x.count, x.a.stride, x.b.stride, x.c.stride}, stream);
      !s)
    return s;
  if (!x.has_epilogue) return {};
  return launch_finish(finish_job(x, 0, x.count), stream);
}

// One product of a planned kernel, and what follows it. `apart` is memory for a product apart.
Status enqueue_product(const Checked& x, const Chosen& chosen, std::int64_t number, char* apart,
                       Stream stream) {
  auto* const gApart = reinterpret_cast<float*>(apart);
  const auto [p, o] = product_of(x, chosen, number, gApart);
  if (Status s = chosen.kernel->launch(p, o, stream); !s) return s;
  if (!x.has_epilogue && !chosen.is_apart) return Status::ok();
  FinishJob job = finish_job(x, number, 1);
  job.by = x.by;
  if (chosen.is_apart) job.product = gApart;
  return launch_finish(job, stream);
}

Outcome enqueue(ladder_context& handle, const Checked& x, const Chosen& chosen) {
  if (x.is_empty()) return {};
  if (chosen.kernel == nullptr) return enqueue_strided(x, handle.stream);
  if (chosen.whole_batch) return enqueue_batch(x, handle.stream);
  const Lent lent{chosen.need, chosen.product_bytes(x)};
  for (std::int64_t i = 0; i < x.count; ++i) {
    const auto launch = [&](char* apart) {
      return enqueue_product(x, chosen, i, apart, handle.stream);
    };
    if (Status s = with_memory(handle, lent, launch); !s) return s;
  }
  return {};
}

struct Planned {
  Checked x;
  Chosen chosen;
};

Outcome plan_call(const ladder_context& handle, const ladder_gemm_call* call, bool needs,
                  Planned& planned, std::int64_t limit) {
  if (Outcome o = check(handle, call, planned.x); !o) return o;
  const bool apart = planned.x.by.g_alpha != nullptr;  // the pool must know how much
  return choose(handle, planned.x, limit, needs || apart, planned.chosen);
}

void copy_text(char* to, std::size_t bytes, const std::string& text) {
  std::snprintf(to, bytes, "%s", text.c_str());
}

// The tiles of a planned kernel as text.
std::string details_of(const Device& device, const Checked& x, const Chosen& chosen) {
  const auto [p, o] = product_of(x, chosen, 0, nullptr);
  RowMajorCall call;
  if (!row_major_call(p, o, call)) return "";
  call.device.cc = device.cc;
  auto plan = ladder::plan(p, chosen.precision, call.device, call.at);
  if (!plan) return "";
  if (chosen.whole_batch)
    plan.value().tiles =
        SmallPlan{SmallKernel::kSplitK, plan_batch(call.p, call.at, x.count, call.device)};
  std::string text;
  for (const auto& [name, value] : describe(plan.value()))
    text += (text.empty() ? "" : "; ") + name + ": " + value;
  return text;
}

std::string strided_details(const Problem& p, std::int64_t count, int sms) {
  const EveryGpuTile tile = tile_for(*find_every_gpu_tile("ladder_strided"), p.m, p.n, count, sms);
  return "tile: " + std::to_string(tile.m) + "x" + std::to_string(tile.n) + "x" +
         std::to_string(tile.k);
}

std::string why_of(const ladder_context& handle, const Checked& x, const Chosen& chosen) {
  std::string why(chosen.why);
  if (chosen.kernel != nullptr && !chosen.whole_batch) {
    const DeviceFacts device = facts_of(handle.device);
    const KernelChoice asked = choose_kernel(x.p, x.precision, device);
    why = asked.kernel == chosen.kernel->id ? asked.why
                                            : choose_kernel(x.p, chosen.precision, device).why;
  }
  if (chosen.short_of > 0)
    why += "; the workspace has " + std::to_string(handle.workspace_bytes) +
           " bytes, the preferred kernel needs " + std::to_string(chosen.short_of);
  if (chosen.is_apart) why += "; alpha and beta on the device: the product is stored first";
  return why;
}

}  // namespace
}  // namespace ladder::api

using namespace ladder::api;

extern "C" {

ladder_status ladder_gemm(ladder_handle handle, const ladder_gemm_call* call) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    Planned planned;
    if (Outcome o = plan_call(h, call, false, planned, limit_of(h)); !o) return o;
    return enqueue(h, planned.x, planned.chosen);
  });
}

ladder_status ladder_gemm_grouped(ladder_handle handle, const ladder_gemm_call* calls,
                                  int64_t count) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    if (count < 0) return invalid("count: at least 0, not " + std::to_string(count));
    if (count > INT32_MAX) return invalid("count: more than 2^31 - 1");
    if (calls == nullptr && count > 0) return invalid("calls: null");
    std::vector<Planned> planned(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < planned.size(); ++i) {
      if (Outcome o = plan_call(h, calls + i, false, planned[i], limit_of(h)); !o)
        return {o.status(), "calls[" + std::to_string(i) + "]." + o.text()};
    }
    for (const Planned& of : planned) {
      if (Outcome o = enqueue(h, of.x, of.chosen); !o) return o;
    }
    return {};
  });
}

ladder_status ladder_sgemm(ladder_handle handle, ladder_layout layout, ladder_op op_a,
                           ladder_op op_b, int64_t m, int64_t n, int64_t k, const float* alpha,
                           const float* a, int64_t lda, const float* b, int64_t ldb,
                           const float* beta, float* c, int64_t ldc) {
  ladder_gemm_call call;
  ladder_gemm_call_init(&call);
  call.layout = layout;
  call.op_a = op_a;
  call.op_b = op_b;
  call.m = m;
  call.n = n;
  call.k = k;
  call.alpha = alpha;
  call.beta = beta;
  call.a = a;
  call.b = b;
  call.c = c;
  call.lda = lda;
  call.ldb = ldb;
  call.ldc = ldc;
  return ladder_gemm(handle, &call);
}

ladder_status ladder_workspace_bytes(ladder_handle handle, const ladder_gemm_call* call,
                                     size_t* bytes) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    if (bytes == nullptr) return invalid("bytes: null");
    Planned planned;
    if (Outcome o = plan_call(h, call, true, planned, kUnlimited); !o) return o;
    *bytes = static_cast<size_t>(planned.chosen.bytes(planned.x));
    return {};
  });
}

ladder_status ladder_plan(ladder_handle handle, const ladder_gemm_call* call,
                          ladder_gemm_plan* plan) {
  return with_handle(handle, [&](ladder_context& h) -> Outcome {
    if (plan == nullptr) return invalid("plan: null");
    if (plan->struct_size != sizeof(ladder_gemm_plan))
      return invalid("plan->struct_size: " + std::to_string(plan->struct_size) +
                     " bytes, this library takes " + std::to_string(sizeof(ladder_gemm_plan)));
    Planned planned;
    if (Outcome o = plan_call(h, call, true, planned, limit_of(h)); !o) return o;
    const auto& [x, chosen] = planned;
    const bool strided = chosen.kernel == nullptr;
    *plan = {};
    plan->struct_size = sizeof *plan;
    plan->precision = to_api(chosen.precision);
    plan->deterministic = 1;
    plan->batch_invariant = strided ? 1 : 0;
    plan->workspace_bytes = static_cast<size_t>(chosen.bytes(x));
    copy_text(plan->kernel, sizeof plan->kernel,
              strided ? "ladder_strided" : std::string(chosen.kernel->id));
    copy_text(plan->why, sizeof plan->why, why_of(h, x, chosen));
    copy_text(plan->details, sizeof plan->details,
              strided ? strided_details(x.p, x.count, h.device.sm_count)
                      : details_of(h.device, x, chosen));
    return {};
  });
}

}  // extern "C"
