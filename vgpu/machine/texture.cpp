// SPDX-License-Identifier: Apache-2.0
#include "machine/texture.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "ir/half.hpp"
#include "ir/texture.hpp"
#include "machine/fault.hpp"
#include "machine/reduce.hpp"
#include "texture/fetch.hpp"

namespace vgpu::machine {
namespace {

u64 read_lane(const std::byte* window, u32 slot, u32 width, u32 lane) {
  u64 value = 0;
  std::memcpy(&value, window + slot + u64{lane} * width, width);
  return value;
}

void write_lane(std::byte* window, u32 slot, u32 width, u32 lane, u64 value) {
  std::memcpy(window + slot + u64{lane} * width, &value, width);
}

u64 handle_of(const std::byte* window, const Insn& insn, u32 lane) {
  return read_lane(window, insn.s[0], (insn.flags & kFlagAddress32) != 0 ? 4 : 8, lane);
}

// Faults unless the image is in live memory. The site's memo holds the image that was checked last.
void require_live(const Lane& at, Warp& warp, const Image& image) {
  SiteMemo& memo = warp.memos[at.insn.site];
  if (memo.begin == image.address && memo.end == image.address + image.bytes()) return;
  const Allocation* const allocation = allocation_at(warp.block->launch, image.address);
  if (allocation == nullptr || allocation->freed ||
      image.bytes() > allocation->end - image.address) {
    fault_access(at, AddressSpace::kGlobal, image.address, image.format.bytes());
  }
  const bool writes = (at.insn.flags & kFlagStore) != 0;
  note_touched(warp.block->launch, *allocation, image.address, image.bytes(), writes);
  memo.begin = image.address;
  memo.end = image.address + image.bytes();
}

[[noreturn]] void no_object(const Lane& at, u64 handle, const char* what) {
  bad_operand(at, fmt::format("0x{:x} is no {} object", handle, what));
}

const TextureObjects& objects_of(const Warp& warp) {
  static const TextureObjects kNone_;
  const auto& objects = warp.block->launch.config.textures;
  return objects != nullptr ? *objects : kNone_;
}

// The objects of a warp's lanes, which mostly are one.
class Objects {
 public:
  Objects(Warp& warp, const std::byte* window, const Insn& insn)
      : warp_(warp), window_(window), insn_(insn) {}

  const Texture& texture(u32 lane) {
    const u64 handle = handle_of(window_, insn_, lane);
    if (texture_ != nullptr && handle == handle_) return *texture_;
    texture_ = objects_of(warp_).texture(handle);
    if (texture_ == nullptr) no_object({warp_, insn_, lane}, handle, "texture");
    for (const Image& level : texture_->levels) require_live({warp_, insn_, lane}, warp_, level);
    handle_ = handle;
    return *texture_;
  }
  const Surface& surface(u32 lane) {
    const u64 handle = handle_of(window_, insn_, lane);
    if (surface_ != nullptr && handle == handle_) return *surface_;
    surface_ = objects_of(warp_).surface(handle);
    if (surface_ == nullptr) no_object({warp_, insn_, lane}, handle, "surface");
    require_live({warp_, insn_, lane}, warp_, surface_->image);
    handle_ = handle;
    return *surface_;
  }

 private:
  Warp& warp_;
  const std::byte* window_;
  const Insn& insn_;
  u64 handle_ = 0;
  const Texture* texture_ = nullptr;
  const Surface* surface_ = nullptr;
};

// The words after the registers for texels.
class Words {
 public:
  Words(const Warp& warp, const std::byte* window, const Insn& insn, u32 lane)
      : window_(window), next_(warp.lists + insn.list + insn.vector), lane_(lane) {}
  u32 bits() { return static_cast<u32>(read_lane(window_, *next_++, 4, lane_)); }
  i32 integer() { return static_cast<i32>(bits()); }
  float number() { return std::bit_cast<float>(bits()); }

 private:
  const std::byte* window_;
  const u32* next_;
  u32 lane_;
};

// As ptxas compiles it: multiplies by the reciprocal of the largest component.
void project(std::array<float, 3>& at) {
  float most = 0;
  for (const float component : at) most = std::fmax(most, std::fabs(component));
  const auto flushed = [](float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? 0.0f : value;
  };
  const float scale = flushed(1.0f / flushed(most));
  for (float& component : at) component *= scale;
}

Coordinates coordinates_of(Words words, const Insn& insn) {
  const auto shape = static_cast<TextureShape>(insn.sub);
  Coordinates at;
  if (is_layered(shape)) at.layer = words.bits();
  for (u32 d = 0; d < dimensions(shape); ++d) at.at[d] = words.number();
  const TextureForm form = TextureForm::of(insn.imm);
  at.lod = form.lod;
  if (form.projects) project(at.at);
  if (at.lod == Lod::kGiven) at.level = words.number();
  if (at.lod != Lod::kGradient) return at;
  for (u32 d = 0; d < dimensions(shape); ++d) at.dx[d] = words.number();
  for (u32 d = 0; d < dimensions(shape); ++d) at.dy[d] = words.number();
  return at;
}

Indices indices_of(Words words, const Insn& insn) {
  const auto shape = static_cast<TextureShape>(insn.sub);
  Indices at;
  if (is_layered(shape)) at.layer = words.bits();
  for (u32 d = 0; d < dimensions(shape); ++d) at.at[d] = words.integer();
  if (TextureForm::of(insn.imm).lod == Lod::kGiven) at.level = words.integer();
  return at;
}

void write_texel(const Warp& warp, std::byte* window, const Insn& insn, u32 lane,
                 const Texel& texel) {
  const bool packed = (insn.flags & kFlagPacked) != 0;
  const auto half = [&](u32 i) -> u32 {
    return float_to_half<f16>(std::bit_cast<float>(texel[i]));
  };
  for (u32 i = 0; i < insn.vector; ++i) {
    const u32 slot = warp.lists[insn.list + i];
    if (slot == kNone) continue;
    write_lane(window, slot, 4, lane, packed ? half(2 * i) | half(2 * i + 1) << 16 : texel[i]);
  }
  if (insn.d == kNone) return;
  u32 resident = 0;
  std::memcpy(&resident, window + insn.d, 4);
  resident |= 1u << lane;
  std::memcpy(window + insn.d, &resident, 4);
}

void note(TexelReads& reads, const Taps& taps, u32 lane) {
  reads.bytes = taps.bytes;
  reads.count = std::max(reads.count, taps.count);
  for (u32 i = 0; i < taps.count; ++i) {
    reads.lanes[i] |= 1u << lane;
    reads.addresses[i][lane] = taps.addresses[i];
  }
}

SurfacePoint point_of(Words words, TextureShape shape) {
  SurfacePoint point;
  if (is_layered(shape)) point.layer = words.bits();
  for (u32 d = 0; d < dimensions(shape); ++d) point.at[d] = words.integer();
  return point;
}

}  // namespace

void fetch_texels(Warp& warp, std::byte* window, const Insn& insn, u32 mask, TexelReads& reads) {
  const auto shape = static_cast<TextureShape>(insn.sub);
  Objects objects(warp, window, insn);
  for (const u32 lane : SetBits(mask)) {
    const Texture& texture = objects.texture(lane);
    const Words words(warp, window, insn, lane);
    Taps taps;
    const Texel texel = (insn.flags & kFlagTexels) != 0
                            ? fetch(texture, shape, indices_of(words, insn), taps)
                            : fetch(texture, shape, coordinates_of(words, insn), taps);
    note(reads, taps, lane);
    write_texel(warp, window, insn, lane, texel);
  }
}

void gather_texels(Warp& warp, std::byte* window, const Insn& insn, u32 mask, TexelReads& reads) {
  const auto shape = static_cast<TextureShape>(insn.sub);
  Objects objects(warp, window, insn);
  for (const u32 lane : SetBits(mask)) {
    const Texture& texture = objects.texture(lane);
    Taps taps;
    const Coordinates at = coordinates_of(Words(warp, window, insn, lane), insn);
    const Texel texel = gather(texture, shape, at, TextureForm::of(insn.imm).component, taps);
    note(reads, taps, lane);
    write_texel(warp, window, insn, lane, texel);
  }
}

void query_texture(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  for (const u32 lane : SetBits(mask)) {
    const u64 handle = handle_of(window, insn, lane);
    const Texture* const texture = objects_of(warp).texture(handle);
    const Surface* const surface = objects_of(warp).surface(handle);
    if (texture == nullptr && surface == nullptr)
      no_object({warp, insn, lane}, handle, "texture or surface");
    const Image& image = texture != nullptr ? texture->levels[0] : surface->image;
    const u32 levels = texture != nullptr ? static_cast<u32>(texture->levels.size()) : 1;
    // As an H100 answers: layers take the place of the next dimension; a texture of a cube has
    // none.
    const bool layered = image.layers > 1, flat = image.dimensions == 1;
    const bool cube = texture != nullptr && texture->cube;
    const u32 height = !flat ? image.height : layered ? image.layers : texture == nullptr ? 0 : 1;
    const u32 depth = image.dimensions == 3      ? image.depth
                      : flat || !layered || cube ? 0
                                                 : image.layers;
    const u32 answers[] = {image.width, height, depth, image.layers, levels};
    write_lane(window, insn.d, 4, lane, answers[insn.imm]);
  }
}

u32 element_bytes(const Warp& warp, const std::byte* window, const Insn& insn, u32 mask) {
  if ((insn.flags & kFlagFormatted) == 0) return u32{insn.bytes} * insn.vector;
  const u32 lane = static_cast<u32>(__builtin_ctz(mask));
  const Surface* const surface = objects_of(warp).surface(handle_of(window, insn, lane));
  return surface == nullptr ? insn.bytes : surface->image.format.bytes();
}

u32 locate_elements(Warp& warp, const std::byte* window, const Insn& insn, u32 mask,
                    u64* addresses) {
  const auto shape = static_cast<TextureShape>(insn.sub);
  const SurfaceForm form = SurfaceForm::of(insn.imm);
  const bool converts = (insn.flags & kFlagFormatted) != 0;
  u32 inside = 0;
  Objects objects(warp, window, insn);
  for (const u32 lane : SetBits(mask)) {
    const Surface& surface = objects.surface(lane);
    const u32 bytes = converts ? surface.image.format.bytes() : u32{insn.bytes} * insn.vector;
    const SurfacePoint point = point_of(Words(warp, window, insn, lane), shape);
    const auto address = address_in(surface, shape, point, form.bounds, bytes, converts);
    if (!address && form.bounds == SurfaceBounds::kTrap) {
      fault({warp, insn, lane}, FaultKind::kOutOfBounds, "access outside a surface",
            fmt::format("({}, {}, {}), layer {}, of {} x {} x {} elements of {} bytes, {} layers; "
                        "x is in {}",
                        point.at[0], point.at[1], point.at[2], point.layer, surface.image.width,
                        surface.image.height, surface.image.depth, surface.image.format.bytes(),
                        surface.image.layers, converts ? "elements" : "bytes"));
    }
    if (!address) continue;
    if (*address % bytes != 0) {
      fault({warp, insn, lane}, FaultKind::kMisaligned, "access to a surface",
            fmt::format("x = {} is no multiple of {} bytes", point.at[0], bytes));
    }
    addresses[lane] = *address;
    inside |= 1u << lane;
  }
  return inside;
}

void load_elements(const Warp& warp, std::byte* window, const Insn& insn, u32 mask, u32 inside,
                   const u64* addresses) {
  for (const u32 lane : SetBits(mask)) {
    for (u32 e = 0; e < insn.vector; ++e) {
      u64 value = 0;
      if ((inside >> lane & 1) != 0) {
        std::memcpy(&value, reinterpret_cast<const std::byte*>(addresses[lane]) + e * insn.bytes,
                    insn.bytes);
      }
      const u32 slot = warp.lists[insn.list + e];
      if (slot != kNone) write_lane(window, slot, insn.width, lane, value);
    }
  }
}

void store_elements(const Warp& warp, const std::byte* window, const Insn& insn, u32 inside,
                    const u64* addresses) {
  for (const u32 lane : SetBits(inside)) {
    auto* const to = reinterpret_cast<std::byte*>(addresses[lane]);
    std::array<u32, 4> channels{};
    for (u32 e = 0; e < insn.vector; ++e) {
      const u64 value = read_lane(window, warp.lists[insn.list + e], insn.width, lane);
      if ((insn.flags & kFlagFormatted) != 0)
        channels[e] = static_cast<u32>(value);
      else
        std::memcpy(to + e * insn.bytes, &value, insn.bytes);
    }
    if ((insn.flags & kFlagFormatted) == 0) continue;
    const Surface& surface = *objects_of(warp).surface(handle_of(window, insn, lane));
    const auto bytes = formatted(surface.image.format, channels);
    std::memcpy(to, bytes.data(), surface.image.format.bytes());
  }
}

void reduce_elements(const Warp& warp, const std::byte* window, const Insn& insn, u32 inside,
                     const u64* addresses) {
  const SurfaceForm form = SurfaceForm::of(insn.imm);
  const TensorType words = form.is_signed ? TensorType::kInt32 : TensorType::kUint32,
                   pairs = form.is_signed ? TensorType::kInt64 : TensorType::kUint64;
  const Reducer reducer(form.reduction, insn.bytes == 8 ? pairs : words);
  for (const u32 lane : SetBits(inside)) {
    const u64 value = read_lane(window, warp.lists[insn.list], insn.width, lane);
    reducer.apply(reinterpret_cast<std::byte*>(addresses[lane]),
                  reinterpret_cast<const std::byte*>(&value), insn.bytes, true);
  }
}

}  // namespace vgpu::machine
