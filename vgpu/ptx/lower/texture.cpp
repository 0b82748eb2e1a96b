// SPDX-License-Identifier: Apache-2.0
// tex, tld4, txq, suld, sust, sured, suq. Objects are given by handle: texture references do not
// exist since CUDA 12.
#include <utility>

#include <fmt/format.h>

#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {
namespace {

std::optional<TextureShape> shape_named(std::string_view part) {
  static constexpr std::pair<std::string_view, TextureShape> kShapes[] = {
      {"1d", TextureShape::k1D},
      {"2d", TextureShape::k2D},
      {"3d", TextureShape::k3D},
      {"a1d", TextureShape::k1DLayered},
      {"a2d", TextureShape::k2DLayered},
      {"cube", TextureShape::kCube},
      {"acube", TextureShape::kCubeLayered}};
  for (const auto& [name, shape] : kShapes) {
    if (part == name) return shape;
  }
  return std::nullopt;
}

std::optional<SurfaceBounds> bounds_named(std::string_view part) {
  if (part == "trap") return SurfaceBounds::kTrap;
  if (part == "clamp") return SurfaceBounds::kClamp;
  if (part == "zero") return SurfaceBounds::kZero;
  return std::nullopt;
}

}  // namespace

TextureShape FunctionLowering::texture_shape() const {
  for (const std::string_view part : opcode().parts) {
    if (const auto shape = shape_named(part)) return *shape;
  }
  refuse("its shape");
}

// The object's handle and the coordinates: [handle, {coordinates}].
FunctionLowering::Value FunctionLowering::texture_operands(const Operand& where, std::size_t count,
                                                           std::vector<Value>& into) {
  const Operand& handle = base_of(where);
  if (handle.kind != Kind::kRegister || named(handle).type != RegisterClass::k64)
    refuse("its object is no handle of 64 bits");
  if (where.elements.size() > 2) refuse("a sampler");
  if (count == 0) return named(handle);
  if (where.elements.size() != 2) refuse("it has no coordinates");
  const auto elements = elements_of(where.elements[1]);
  if (elements.size() < count) refuse("it has too few coordinates");
  for (std::size_t i = 0; i < count; ++i) into.push_back(source(elements[i], RegisterClass::k32));
  return named(handle);
}

// Appends `texels` (results where the instruction reads texels) and `others` to Program::lists.
void FunctionLowering::list_texels(u32 pc, std::span<const Operand> texels, RegisterClass type,
                                   std::span<const Value> stored, std::span<const Value> others) {
  at(pc).vector = static_cast<u8>(texels.size());
  at(pc).width = static_cast<u8>(register_bytes(type));
  const u32 begin = begin_list(pc, texels.size() + others.size());
  for (u32 i = 0; i < texels.size(); ++i) {
    if (!stored.empty()) {
      read(pc, Field::kLists, stored[i], begin + i);
      continue;
    }
    if (is_sink(texels[i])) continue;
    const Value to = named(texels[i]);
    if (to.type != type) refuse("registers of another size");
    write(pc, Field::kLists, to, begin + i);
  }
  for (u32 i = 0; i < others.size(); ++i)
    read(pc, Field::kLists, others[i], begin + static_cast<u32>(texels.size()) + i);
}

void FunctionLowering::tex() {
  const bool gathers = opcode().base() == "tld4";
  const TextureShape shape = texture_shape();
  TextureForm form;
  form.projects = shape == TextureShape::kCube || shape == TextureShape::kCubeLayered;
  std::size_t extra = 0;
  std::string_view result, coordinate;
  for (const std::string_view part : opcode().parts.subspan(1)) {
    constexpr std::string_view kComponents = "rgba";
    if (part == "level") {
      form.lod = Lod::kGiven;
      extra = 1;
    } else if (part == "grad") {
      form.lod = Lod::kGradient;
      extra = 2;
    } else if (gathers && part.size() == 1 && kComponents.find(part) != std::string_view::npos) {
      form.component = static_cast<u8>(kComponents.find(part));
    } else if (part == "base" || part == "v4" || part == "v2" || shape_named(part)) {
      continue;
    } else if (result.empty()) {
      result = part;
    } else if (coordinate.empty()) {
      coordinate = part;
    } else {
      refuse(fmt::format("modifier .{}", part));
    }
  }
  const bool packed = result == "f16x2" && !gathers;
  if (!packed && !is_any_of(result, {"u32", "s32", "f32"})) refuse("results of another type");
  if (!is_any_of(coordinate, {"f32", "s32"})) refuse("coordinates of another type");
  if (operand_count() != 2 + extra) refuse("an offset or a comparison");
  std::vector<Value> others;
  const Value handle = texture_operands(operand(1), coordinates(shape), others);
  const auto add = [&](const Operand& o, std::size_t count) {
    const auto elements = elements_of(o);
    if (elements.size() < count) refuse("it has too few operands");
    for (std::size_t i = 0; i < count; ++i)
      others.push_back(source(elements[i], RegisterClass::k32));
  };
  if (form.lod == Lod::kGiven) add(operand(2), 1);
  for (std::size_t i = 0; form.lod == Lod::kGradient && i < extra; ++i)
    add(operand(2 + i), dimensions(shape));

  const Operand& to = operand(0);
  const Operand& texels = to.kind == Kind::kPair ? to.elements[0] : to;
  if (texels.kind != Kind::kVector || texels.elements.size() != (packed ? 2u : 4u))
    refuse("another number of elements");
  const u32 pc = emit(gathers ? "tld4" : "tex", {handle});
  at(pc).site = program_.sites++;
  at(pc).sub = static_cast<u8>(shape);
  at(pc).imm = form.packed();
  if (packed) at(pc).flags |= kFlagPacked;
  if (coordinate == "s32") at(pc).flags |= kFlagTexels;
  at(pc).d = kNone;
  if (to.kind == Kind::kPair && !is_sink(to.elements[1]))
    destination(pc, to.elements[1], RegisterClass::kPredicate);
  list_texels(pc, texels.elements, RegisterClass::k32, {}, others);
}

// txq and suq.
void FunctionLowering::texture_query() {
  static constexpr std::pair<std::string_view, TextureQuery> kQueries[] = {
      {"width", TextureQuery::kWidth},
      {"height", TextureQuery::kHeight},
      {"depth", TextureQuery::kDepth},
      {"array_size", TextureQuery::kLayers},
      {"num_mipmap_levels", TextureQuery::kLevels}};
  std::optional<TextureQuery> query;
  for (const auto& [name, what] : kQueries) {
    if (opcode().has(name)) query = what;
  }
  if (!query || opcode().has("level")) refuse();
  std::vector<Value> none;
  const Value handle = texture_operands(operand(1), 0, none);
  const u32 pc = emit("txq", {handle});
  at(pc).site = program_.sites++;
  at(pc).imm = static_cast<i64>(*query);
  destination(pc, operand(0), RegisterClass::k32);
}

// suld, sust, sured: [object, {coordinates}] and elements.
void FunctionLowering::surface() {
  const std::string_view base = opcode().base();
  const bool loads = base == "suld", converts = opcode().has("p");
  if (converts && base != "sust") refuse("elements that are converted");
  const TextureShape shape = texture_shape();
  const auto bounds = bounds_named(opcode().parts.back());
  if (!bounds) refuse();
  SurfaceForm form{*bounds, Reduction::kAdd, false};
  for (const std::string_view part : opcode().parts) {
    if (const auto reduction = reduction_from(part)) form.reduction = *reduction;
  }
  const auto type = ptx::type_from(opcode().parts[opcode().parts.size() - 2]);
  if (!type || ptx::size_of(*type) == 0 || ptx::size_of(*type) > 8) refuse();
  const u32 bytes = ptx::size_of(*type);
  form.is_signed = ptx::to_string(*type).front() == 's';
  const RegisterClass registers = class_of(bytes);
  std::vector<Value> others, stored;
  const Value handle = texture_operands(operand(loads ? 1 : 0), coordinates(shape), others);
  const auto elements = elements_of(operand(loads ? 0 : 1));
  if (elements.size() * bytes > 16) refuse("more than 16 bytes per thread");
  for (std::size_t i = 0; !loads && i < elements.size(); ++i)
    stored.push_back(source(elements[i], registers));
  const u32 pc = emit(base, {handle});
  at(pc).site = program_.sites++;
  at(pc).sub = static_cast<u8>(shape);
  at(pc).bytes = static_cast<u8>(bytes);
  at(pc).imm = form.packed();
  if (!loads) at(pc).flags |= kFlagStore;
  if (converts) at(pc).flags |= kFlagFormatted;
  list_texels(pc, elements, registers, stored, others);
}

}  // namespace vgpu::ptx
