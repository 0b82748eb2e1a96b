// SPDX-License-Identifier: Apache-2.0
#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {
namespace {

struct TypeRow {
  std::string_view name;
  std::uint32_t size;
};

// In the order of Type.
constexpr TypeRow kTypes[] = {
    {"pred", 0},   {"b8", 1},         {"b16", 2},     {"b32", 4},   {"b64", 8}, {"b128", 16},
    {"u8", 1},     {"u16", 2},        {"u32", 4},     {"u64", 8},   {"s8", 1},  {"s16", 2},
    {"s32", 4},    {"s64", 8},        {"f16", 2},     {"f16x2", 4}, {"f32", 4}, {"f64", 8},
    {"texref", 8}, {"samplerref", 8}, {"surfref", 8},
};
static_assert(std::size(kTypes) == static_cast<std::size_t>(Type::kSurfref) + 1);

const TypeRow& row(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view to_string(Type type) { return row(type).name; }
std::uint32_t size_of(Type type) { return row(type).size; }

std::optional<Type> type_from(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i].name == name) return static_cast<Type>(i);
  }
  return std::nullopt;
}

std::string_view Module::file_name(std::uint32_t number) const {
  for (const File& file : files) {
    if (file.number == number) return file.name;
  }
  return {};
}

}  // namespace vgpu::ptx
