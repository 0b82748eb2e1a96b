// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk, cp.reduce.async.bulk and their tensor forms, st.async, red.async, the fences of
// the asynchronous proxy, prefetches. PTX ISA, "Data Movement and Conversion Instructions: Bulk
// copy, Tensor copy, st.async", "red.async", "membar, fence".

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/bulk.hpp"
#include "ptx/lower/lowering.hpp"

namespace vgpu::ptx {

std::optional<Reduction> reduction_from(std::string_view part) {
  static constexpr std::string_view kNames[] = {"add", "min", "max", "inc",
                                                "dec", "and", "or",  "xor"};
  const auto found = std::ranges::find(kNames, part);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Reduction>(1 + (found - std::begin(kNames)));
}

namespace {

std::optional<TensorType> element_from(std::string_view part) {
  struct Name {
    std::string_view name;
    TensorType type;
  };
  static constexpr Name kNames[] = {{"u32", TensorType::kUint32},  {"b32", TensorType::kUint32},
                                    {"s32", TensorType::kInt32},   {"u64", TensorType::kUint64},
                                    {"b64", TensorType::kUint64},  {"s64", TensorType::kInt64},
                                    {"f16", TensorType::kFloat16}, {"bf16", TensorType::kBfloat16},
                                    {"f32", TensorType::kFloat32}, {"f64", TensorType::kFloat64}};
  const auto found = std::ranges::find(kNames, part, &Name::name);
  if (found == std::end(kNames)) return std::nullopt;
  return found->type;
}

bool is_shared(std::string_view part) {
  return part == "shared" || part == "shared::cta" || part == "shared::cluster";
}

}  // namespace

// The decoded modifiers of a bulk instruction.
struct FunctionLowering::BulkForm {
  BulkKind kind{};
  u32 dimensions = 0;  // 0: no tensor map
  bool multicast = false, policy = false, prefetch = false;
  bool im2col = false;
  Reduction reduction{};
  std::optional<TensorType> element;  // element type of a reduction without tensor map
};

FunctionLowering::BulkForm FunctionLowering::bulk_form() {
  BulkForm form;
  std::string_view to, from;
  bool grouped = false, counted = false, tensor = false;
  const auto parts = opcode().parts;
  const bool reduces = parts[1] == "reduce";
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part == "async" || part == "reduce" || part == "bulk" || part == "tile" || part == "noftz")
      continue;
    else if (part == "tensor")
      tensor = true;
    else if (tensor && part.size() == 2 && part[0] >= '1' && part[0] <= '5' && part[1] == 'd')
      form.dimensions = static_cast<u32>(part[0] - '0');
    else if (tensor && (part == "im2col" || part == "im2col_no_offs"))
      form.im2col = true;
    else if (is_shared(part) || part == "global")
      (to.empty() ? to : from) = part;
    else if (part == "bulk_group")
      grouped = true;
    else if (part == "mbarrier::complete_tx::bytes")
      counted = true;
    else if (part == "multicast::cluster")
      form.multicast = true;
    else if (part == "L2::cache_hint")
      form.policy = true;
    else if (part == "prefetch" || part == "L2")
      form.prefetch = true;
    else if (const auto operation = reduction_from(part); reduces && operation)
      form.reduction = *operation;
    else if (const auto element = element_from(part); reduces && !tensor && element)
      form.element = element;
    else
      refuse(fmt::format("modifier .{}", part));
  }
  if (tensor && form.dimensions == 0) refuse();
  if (form.im2col && form.dimensions < 3) refuse("im2col mode of less than three dimensions");
  if (form.prefetch) return form;
  if (is_shared(to) && from == "global")
    form.kind = BulkKind::kLoad;
  else if (to == "global" && is_shared(from))
    form.kind = BulkKind::kStore;
  else if (is_shared(to) && is_shared(from) && !tensor)
    form.kind = BulkKind::kSend;
  else
    refuse();
  if (grouped != (form.kind == BulkKind::kStore) || counted == grouped) refuse();
  if (form.multicast && form.kind != BulkKind::kLoad) refuse();
  if (reduces && (form.reduction == Reduction::kCopy || form.kind == BulkKind::kLoad)) refuse();
  if (reduces && !tensor && (!form.element || !can_reduce(form.reduction, *form.element))) {
    refuse("that reduction of that type");
  }
  return form;
}

// The address operand plus its offset, in a 64-bit register.
FunctionLowering::Value FunctionLowering::wide_address(const Operand& where) {
  const Operand& base = base_of(where);
  Value value;
  if (base.kind == Kind::kRegister) {
    value = named(base);
    if (value.type == RegisterClass::k32)
      value = computed("cvt.u64.u32", {value}, RegisterClass::k64);
    if (value.type != RegisterClass::k64) refuse("an address of another size");
  } else {
    value = source(base, RegisterClass::k64);
  }
  if (where.offset == 0) return value;
  const Value offset = constant(static_cast<u64>(where.offset), RegisterClass::k64);
  return computed("add.u64", {value, offset}, RegisterClass::k64);
}

void FunctionLowering::list_operands(u32 pc, std::span<const std::optional<Value>> operands) {
  begin_list(pc, operands.size());
  for (u32 i = 0; i < operands.size(); ++i) {
    if (operands[i]) read(pc, Field::kLists, *operands[i], at(pc).list + i);
  }
}

void FunctionLowering::bulk() {
  const BulkForm form = bulk_form();
  if (form.prefetch) return nothing();
  const bool tensor = form.dimensions != 0;
  std::size_t next = 0;
  const Operand& first = operand(next++);
  const Operand& second = operand(next++);
  const bool map_first = form.kind == BulkKind::kStore;
  const Operand& other = map_first ? first : second;
  std::optional<Value> operands[kBulkOperands];
  operands[kBulkShared] = wide_address(map_first ? second : first);
  operands[kBulkOther] = wide_address(other);
  if (tensor) {
    const bool given = other.elements.size() == 2 && other.elements[1].kind == Kind::kVector &&
                       other.elements[1].elements.size() == form.dimensions;
    if (!given) refuse("another number of coordinates");
    for (u32 d = 0; d < form.dimensions; ++d) {
      operands[kBulkAt + d] = source(other.elements[1].elements[d], RegisterClass::k32);
    }
  } else {
    operands[kBulkSize] = source(operand(next++), RegisterClass::k32);
  }
  if (form.kind != BulkKind::kStore) operands[kBulkBarrier] = wide_address(operand(next++));
  if (form.im2col && form.kind == BulkKind::kLoad) {
    const Operand& offsets = operand(next++);
    const u32 count = form.dimensions - 2;
    const bool given = offsets.kind == Kind::kVector && offsets.elements.size() == count;
    if (!given && count != 1) refuse("another number of offsets");
    for (u32 d = 0; d < count; ++d)
      operands[kBulkOffsets + d] =
          source(given ? offsets.elements[d] : offsets, RegisterClass::k16);
  }
  if (form.multicast) operands[kBulkBlocks] = source(operand(next++), RegisterClass::k16);
  if (form.policy) ++next;
  if (operand_count() != next) refuse("another number of operands");

  program_.copies = true;
  const u32 pc = emit("bulk");
  at(pc).site = program_.sites++;
  at(pc).sub = static_cast<u8>(form.kind);
  at(pc).vector = static_cast<u8>(form.dimensions);
  at(pc).imm = form.im2col ? kBulkIm2col : kBulkTiled;
  at(pc).width = static_cast<u8>(form.reduction);
  at(pc).bytes = static_cast<u8>(form.element.value_or(TensorType::kUint8));
  list_operands(pc, operands);
  program_.ordered |=
      form.kind == BulkKind::kStore && depends_on_order(form.reduction, form.element);
}

void FunctionLowering::bulk_wait() {
  program_.copies = true;
  const u32 pc = emit_wait("bulk.wait_group");
  at(pc).sub = opcode().parts.back() == "read" ? 1 : 0;
}

void FunctionLowering::bulk_commit() {
  program_.copies = true;
  emit("bulk.commit_group");
}

// st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.v2|.v4}.type [a], b, [mbarrier];
// red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type [a], b,
// [mbarrier];
void FunctionLowering::send_words() {
  const auto parts = opcode().parts;
  const bool reduces = opcode().base() == "red";
  WordReduction reduction;
  u32 count = 1;
  bool counted = false, to_cluster = reduces;
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part == "shared::cluster")
      to_cluster = true;
    else if (part == "mbarrier::complete_tx::bytes")
      counted = true;
    else if (!reduces && (part == "v2" || part == "v4"))
      count = part == "v2" ? 2 : 4;
    else if (const auto operation = reduction_from(part); reduces && operation)
      reduction.what = *operation;
    else if (part != "async" && (reduces ? part != "relaxed" && part != "cluster" : part != "weak"))
      refuse(fmt::format("modifier .{}", part));
  }
  const auto type = ptx::type_from(parts.back());
  const u32 bytes = type ? ptx::size_of(*type) : 0;
  if (!to_cluster || !counted || (bytes != 4 && bytes != 8)) refuse();
  if (reduces) {
    const auto element = element_from(parts.back());
    const bool sums = reduction.what == Reduction::kAdd;
    if (reduction.what == Reduction::kCopy || !element || !can_reduce(reduction.what, *element) ||
        (bytes == 8 && !(sums && *element == TensorType::kUint64)))
      refuse("that reduction of that type");
    reduction.type = *element;
  }
  if (bytes * count > 16) refuse("more than 16 bytes per thread");
  if (operand_count() != 3) refuse("another number of operands");
  const auto elements = elements_of(operand(1));
  if (elements.size() != count) refuse("another number of elements");
  std::optional<Value> operands[kBulkOperands];
  operands[kBulkShared] = wide_address(operand(0));
  operands[kBulkBarrier] = wide_address(operand(2));
  for (u32 i = 0; i < count; ++i) operands[kBulkAt + i] = source(elements[i], class_of(bytes));
  program_.copies = true;
  const u32 pc = emit("bulk");
  at(pc).site = program_.sites++;
  at(pc).sub = static_cast<u8>(BulkKind::kSendWords);
  at(pc).bytes = static_cast<u8>(bytes);
  at(pc).width = static_cast<u8>(count);
  at(pc).imm = reduction.packed();
  list_operands(pc, operands);
}

// All accesses go directly to one memory. Fences matter only to the checks.
void FunctionLowering::fence() {
  const bool proxy = opcode().has("proxy");
  emit(proxy && opcode().has("async")  ? "fence.proxy.async"
       : opcode().has("mbarrier_init") ? "fence.mbarrier_init"
       : proxy                         ? "nop"
                                       : "fence");
}

void FunctionLowering::prefetch() {
  if (!opcode().has("tensormap")) return nothing();
  emit("prefetch.tensormap", {wide_address(operand(0))});
}

}  // namespace vgpu::ptx
