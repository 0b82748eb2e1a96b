// SPDX-License-Identifier: Apache-2.0
#include "ptx/parse/ast.hpp"

#include <algorithm>

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

template <class T>
const T* find_by_name(const std::vector<T>& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &T::name);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

std::string_view to_string(Type type) { return row(type).name; }
std::uint32_t size_of(Type type) { return row(type).size; }

std::optional<Type> type_from(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i].name == name) return static_cast<Type>(i);
  }
  return std::nullopt;
}

std::string Function::register_name(std::uint32_t reg) const {
  auto range =
      std::upper_bound(registers.begin(), registers.end(), reg,
                       [](std::uint32_t id, const RegisterRange& r) { return id < r.first; });
  if (range == registers.begin() || reg >= register_types.size())
    return "register " + std::to_string(reg);
  --range;
  std::string result(range->base);
  if (range->numbered) result += std::to_string(reg - range->first);
  return result;
}

const Function* Module::find_function(std::string_view name) const {
  return find_by_name(functions, name);
}
const Variable* Module::find_variable(std::string_view name) const {
  return find_by_name(variables, name);
}

std::string_view Module::file_name(std::uint32_t number) const {
  for (const File& file : files) {
    if (file.number == number) return file.name;
  }
  return {};
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      line.push_back(c);
    else if (!line.empty() && line.back() != ' ')
      line.push_back(' ');
  }
  return line;
}

}  // namespace vgpu::ptx
