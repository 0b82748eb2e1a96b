// SPDX-License-Identifier: Apache-2.0
// cuTensorMapEncodeTiled and cuTensorMapReplaceAddress. CUDA Driver API, "Tensor Map Object
// Management".
#include <fmt/format.h>

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

CUresult refuse(std::string_view function, const std::string& why) {
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

}  // namespace

CUresult cuTensorMapEncodeTiled(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  constexpr std::string_view kName = "cuTensorMapEncodeTiled";
  const Runtime& runtime = Runtime::get();
  const std::lock_guard lock(Runtime::get().mutex);
  if (runtime.device().target() < 90) {
    say(fmt::format("{}: {} has no tensor maps: they came with compute capability 9.0", kName,
                    runtime.device().id));
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (const std::string why = misplaced(to); !why.empty()) return refuse(kName, why);
  if (sizes == nullptr || box == nullptr || steps == nullptr || (strides == nullptr && rank > 1)) {
    return refuse(kName, "an array of dimensions, strides, box or steps is null");
  }
  TensorMap map;
  map.type = static_cast<TensorType>(type);
  map.rank = rank;
  map.address = reinterpret_cast<std::uint64_t>(address);
  map.strides[0] = vgpu::bytes_of(map.type);
  for (std::uint32_t d = 0; d < rank && d < TensorMap::kMostRank; ++d) {
    map.sizes[d] = sizes[d];
    if (d != 0) map.strides[d] = strides[d - 1];
    map.box[d] = box[d];
    map.steps[d] = steps[d];
  }
  map.interleave = static_cast<TensorInterleave>(interleave);
  map.swizzle = static_cast<TensorSwizzle>(swizzle);
  map.promotion = static_cast<TensorPromotion>(promotion);
  map.fill = static_cast<TensorFill>(fill);
  if (const std::string why = broken_rule(map); !why.empty()) return refuse(kName, why);
  if (const std::string why = refusal(map); !why.empty()) {
    say(fmt::format("{}: {} are not implemented", kName, why));
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  encode(map, bytes_of(to));
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* where, void* address) {
  constexpr std::string_view kName = "cuTensorMapReplaceAddress";
  const std::lock_guard lock(Runtime::get().mutex);
  if (const std::string why = misplaced(where); !why.empty()) return refuse(kName, why);
  std::optional<TensorMap> map = decode(bytes_of(where));
  if (!map) return refuse(kName, "there is no tensor map");
  map->address = reinterpret_cast<std::uint64_t>(address);
  if (const std::string why = broken_rule(*map); !why.empty()) return refuse(kName, why);
  encode(*map, bytes_of(where));
  return CUDA_SUCCESS;
}
