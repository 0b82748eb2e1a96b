// SPDX-License-Identifier: Apache-2.0
// cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col, cuTensorMapReplaceAddress. CUDA Driver API,
// "Tensor Map Object Management".
#include <fmt/format.h>

#include <algorithm>

#include "driver/api.hpp"
#include "machine/tensor/tensor_map.hpp"

using namespace vgpu;
using vgpu::driver::Runtime;
using vgpu::runtime::say;

namespace {

static_assert(sizeof(CUtensorMap) == TensorMap::kBytes &&
              alignof(CUtensorMap) % TensorMap::kAlignment == 0);
static_assert(static_cast<int>(TensorType::k16U6Align16) == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B &&
              static_cast<int>(TensorType::kBfloat16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
static_assert(static_cast<int>(TensorInterleave::k32B) == CU_TENSOR_MAP_INTERLEAVE_32B);
static_assert(static_cast<int>(TensorSwizzle::k128B) == CU_TENSOR_MAP_SWIZZLE_128B &&
              static_cast<int>(TensorSwizzle::k128BAtom64) == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
static_assert(static_cast<int>(TensorPromotion::k256B) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(static_cast<int>(TensorFill::kNan) ==
              CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

CUresult refuse_map(std::string_view function, const std::string& why) {
  say(fmt::format("{}: {}", function, why));
  return CUDA_ERROR_INVALID_VALUE;
}

std::span<std::byte, TensorMap::kBytes> bytes_of(CUtensorMap* map) {
  return std::span<std::byte, TensorMap::kBytes>(reinterpret_cast<std::byte*>(map),
                                                 TensorMap::kBytes);
}

std::string misplaced(const CUtensorMap* map) {
  if (map == nullptr) return "tensorMap is null";
  const auto address = reinterpret_cast<std::uintptr_t>(map);
  if (address % TensorMap::kAlignment == 0) return "";
  return fmt::format("tensorMap must be a multiple of {} bytes, not 0x{:x}", TensorMap::kAlignment,
                     address);
}

// What both modes have.
struct Common {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t *sizes, *strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

// `given`: the mode's own arrays are not null. add(map, rank): its own arguments.
template <class Add>
CUresult encode_map(std::string_view name, CUtensorMap* to, const Common& of, bool given, Add add) {
  const Runtime& runtime = Runtime::get();
  const std::lock_guard lock(Runtime::get().mutex);
  if (runtime.device().target() < 90) {
    say(fmt::format("{}: {} has no tensor maps: they came with compute capability 9.0", name,
                    runtime.device().id));
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (const std::string why = misplaced(to); !why.empty()) return refuse_map(name, why);
  if (!given || of.sizes == nullptr || of.steps == nullptr ||
      (of.strides == nullptr && of.rank > 1)) {
    return refuse_map(name, "an array of dimensions, strides, box or steps is null");
  }
  TensorMap map;
  map.type = static_cast<TensorType>(of.type);
  map.rank = of.rank;
  map.address = reinterpret_cast<std::uint64_t>(of.address);
  map.strides[0] = vgpu::bytes_of(map.type);
  const std::uint32_t rank = std::min(of.rank, TensorMap::kMostRank);
  for (std::uint32_t d = 0; d < rank; ++d) {
    map.sizes[d] = of.sizes[d];
    if (d != 0) map.strides[d] = of.strides[d - 1];
    map.steps[d] = of.steps[d];
  }
  map.interleave = static_cast<TensorInterleave>(of.interleave);
  map.swizzle = static_cast<TensorSwizzle>(of.swizzle);
  map.promotion = static_cast<TensorPromotion>(of.promotion);
  map.fill = static_cast<TensorFill>(of.fill);
  add(map, rank);
  if (const std::string why = broken_rule(map); !why.empty()) return refuse_map(name, why);
  if (map.swizzle > TensorSwizzle::k128B && runtime.device().target() < 100)
    return refuse_map(name, "swizzles of 32- or 64-byte atoms came with compute capability 10.0");
  if (const std::string why = refusal(map); !why.empty()) {
    say(fmt::format("{}: {} are not implemented", name, why));
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  encode(map, bytes_of(to));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const Common of{type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill};
  return encode_map("cuTensorMapEncodeTiled", to, of, box != nullptr,
                    [&](TensorMap& map, std::uint32_t dimensions) {
                      std::copy_n(box, dimensions, map.box.begin());
                    });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                 const int* lower, const int* upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const Common of{type, rank, address, sizes, strides, steps, interleave, swizzle, promotion, fill};
  return encode_map("cuTensorMapEncodeIm2col", to, of, lower != nullptr && upper != nullptr,
                    [&](TensorMap& map, std::uint32_t dimensions) {
                      map.im2col = true;
                      map.box = {channels, pixels, 1, 1, 1};
                      if (dimensions < 3) return;  // which broken_rule() names
                      std::copy_n(lower, dimensions - 2, map.lower.begin());
                      std::copy_n(upper, dimensions - 2, map.upper.begin());
                    });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* where, void* address) {
  constexpr std::string_view kName = "cuTensorMapReplaceAddress";
  const std::lock_guard lock(Runtime::get().mutex);
  if (const std::string why = misplaced(where); !why.empty()) return refuse_map(kName, why);
  std::optional<TensorMap> map = decode(bytes_of(where));
  if (!map) return refuse_map(kName, "there is no tensor map");
  map->address = reinterpret_cast<std::uint64_t>(address);
  if (const std::string why = broken_rule(*map); !why.empty()) return refuse_map(kName, why);
  encode(*map, bytes_of(where));
  return CUDA_SUCCESS;
}
