// SPDX-License-Identifier: Apache-2.0
// Results that the PTX ISA leaves open, or for which its text and hardware differ: NaN, fields
// beyond the value, division by zero, saturation of video instructions, rare conversions, sines.
// The file that is the argument has the results of an H100, or of an H200 where MUFU's last bit
// matters: a line of instructions, then lines "operands = results of each", in hexadecimal. If the
// first line ends with "; values", the lines have the results for each value of a last operand.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "device_array.hpp"

namespace {

using u64 = unsigned long long;

// By the letter of an inline assembly's constraint.
__device__ double as_d(u64 v) { return __longlong_as_double(static_cast<long long>(v)); }
__device__ float as_f(u64 v) { return __uint_as_float(static_cast<unsigned>(v)); }
__device__ unsigned short as_h(u64 v) { return static_cast<unsigned short>(v); }
__device__ unsigned as_r(u64 v) { return static_cast<unsigned>(v); }
__device__ u64 as_l(u64 v) { return v; }
__device__ u64 bits(double v) { return static_cast<u64>(__double_as_longlong(v)); }
__device__ u64 bits(float v) { return __float_as_uint(v); }
__device__ u64 bits(u64 v) { return v; }
__device__ u64 bits(unsigned v) { return v; }
__device__ u64 bits(unsigned short v) { return v; }

// X(name, PTX, letter of the result, letters of the operands)
#define INSTRUCTIONS(X1, X2, X3, X4)                                                               \
  X2(add_rn_f64, "add.rn.f64 %0, %1, %2;", d, d, d)                                                \
  X2(sub_rz_f64, "sub.rz.f64 %0, %1, %2;", d, d, d)                                                \
  X2(mul_rm_f64, "mul.rm.f64 %0, %1, %2;", d, d, d)                                                \
  X3(fma_rn_f64, "fma.rn.f64 %0, %1, %2, %3;", d, d, d, d)                                         \
  X1(sqrt_rn_f64, "sqrt.rn.f64 %0, %1;", d, d)                                                     \
  X1(rcp_approx_ftz_f64, "rcp.approx.ftz.f64 %0, %1;", d, d)                                       \
  X1(rsqrt_approx_ftz_f64, "rsqrt.approx.ftz.f64 %0, %1;", d, d)                                   \
  X1(abs_f64, "abs.f64 %0, %1;", d, d)                                                             \
  X1(neg_f64, "neg.f64 %0, %1;", d, d)                                                             \
  X1(cvt_rni_f64_f64, "cvt.rni.f64.f64 %0, %1;", d, d)                                             \
  X2(div_rn_f64, "div.rn.f64 %0, %1, %2;", d, d, d)                                                \
  X2(min_f64, "min.f64 %0, %1, %2;", d, d, d)                                                      \
  X1(cvt_rn_f32_f64, "cvt.rn.f32.f64 %0, %1;", f, d)                                               \
  X1(cvt_rz_f16_f64, "cvt.rz.f16.f64 %0, %1;", h, d)                                               \
  X1(cvt_rp_bf16_f64, "cvt.rp.bf16.f64 %0, %1;", h, d)                                             \
  X1(cvt_f64_f32, "cvt.f64.f32 %0, %1;", d, f)                                                     \
  X1(cvt_ftz_f64_f32, "cvt.ftz.f64.f32 %0, %1;", d, f)                                             \
  X1(abs_f32, "abs.f32 %0, %1;", f, f)                                                             \
  X1(neg_f32, "neg.f32 %0, %1;", f, f)                                                             \
  X1(neg_ftz_f32, "neg.ftz.f32 %0, %1;", f, f)                                                     \
  X1(cvt_ftz_f32_f32, "cvt.ftz.f32.f32 %0, %1;", f, f)                                             \
  X1(cvt_rn_relu_bf16_f32, "cvt.rn.relu.bf16.f32 %0, %1;", h, f)                                   \
  X1(cvt_rn_relu_f16_f32, "cvt.rn.relu.f16.f32 %0, %1;", h, f)                                     \
  X1(cvt_f64_f16, "cvt.f64.f16 %0, %1;", d, h)                                                     \
  X1(cvt_f64_bf16, "cvt.f64.bf16 %0, %1;", d, h)                                                   \
  X1(cvt_f32_f16, "cvt.f32.f16 %0, %1;", f, h)                                                     \
  X1(cvt_f32_bf16, "cvt.f32.bf16 %0, %1;", f, h)                                                   \
  X1(abs_f16, "abs.f16 %0, %1;", h, h)                                                             \
  X1(neg_bf16, "neg.bf16 %0, %1;", h, h)                                                           \
  X1(cvt_rn_bf16_f16, "cvt.rn.bf16.f16 %0, %1;", h, h)                                             \
  X1(cvt_f16_f16, "cvt.f16.f16 %0, %1;", h, h)                                                     \
  X3(fma_rn_oob_f16, "fma.rn.oob.f16 %0, %1, %2, %3;", h, h, h, h)                                 \
  X3(fma_rn_oob_bf16, "fma.rn.oob.bf16 %0, %1, %2, %3;", h, h, h, h)                               \
  X3(fma_rn_oob_relu_f16, "fma.rn.oob.relu.f16 %0, %1, %2, %3;", h, h, h, h)                       \
  X3(fma_rn_oob_relu_bf16, "fma.rn.oob.relu.bf16 %0, %1, %2, %3;", h, h, h, h)                     \
  X3(bfe_u64, "bfe.u64 %0, %1, %2, %3;", l, l, r, r)                                               \
  X3(bfe_s64, "bfe.s64 %0, %1, %2, %3;", l, l, r, r)                                               \
  X4(bfi_b64, "bfi.b64 %0, %1, %2, %3, %4;", l, l, l, r, r)                                        \
  X2(rem_u16, "rem.u16 %0, %1, %2;", h, h, h)                                                      \
  X2(rem_s16, "rem.s16 %0, %1, %2;", h, h, h)                                                      \
  X1(cvt_rni_u8_f32, "cvt.rni.u8.f32 %0, %1;", h, f)                                               \
  X1(cvt_rzi_u8_f32, "cvt.rzi.u8.f32 %0, %1;", h, f)                                               \
  X1(cvt_rz_relu_f16_f32, "cvt.rz.relu.f16.f32 %0, %1;", h, f)                                     \
  X1(cvt_rz_relu_bf16_f32, "cvt.rz.relu.bf16.f32 %0, %1;", h, f)                                   \
  X1(cvt_rn_ftz_bf16_f32, "cvt.rn.ftz.bf16.f32 %0, %1;", h, f)                                     \
  X3(cvt_pack_sat_s8_s32_b32, "cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;", r, r, r, r)               \
  X3(cvt_pack_sat_u8_s32_b32, "cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;", r, r, r, r)               \
  X3(cvt_pack_sat_s4_s32_b32, "cvt.pack.sat.s4.s32.b32 %0, %1, %2, %3;", r, r, r, r)               \
  X3(cvt_pack_sat_u4_s32_b32, "cvt.pack.sat.u4.s32.b32 %0, %1, %2, %3;", r, r, r, r)               \
  X3(cvt_pack_sat_s2_s32_b32, "cvt.pack.sat.s2.s32.b32 %0, %1, %2, %3;", r, r, r, r)               \
  X3(cvt_pack_sat_u2_s32_b32, "cvt.pack.sat.u2.s32.b32 %0, %1, %2, %3;", r, r, r, r)               \
  X2(cvt_pack_sat_s16_s32, "cvt.pack.sat.s16.s32 %0, %1, %2;", r, r, r)                            \
  X2(cvt_pack_sat_u16_s32, "cvt.pack.sat.u16.s32 %0, %1, %2;", r, r, r)                            \
  X3(vadd_u32_u32_u32_max, "vadd.u32.u32.u32.max %0, %1, %2.b2, %3;", r, r, r, r)                  \
  X3(vadd_s32_s32_s32_max, "vadd.s32.s32.s32.max %0, %1, %2.b2, %3;", r, r, r, r)                  \
  X3(vadd_s32_u32_s32_max, "vadd.s32.u32.s32.max %0, %1, %2.b2, %3;", r, r, r, r)                  \
  X3(vsub_u32_u32_u32_max, "vsub.u32.u32.u32.max %0, %1, %2.b2, %3;", r, r, r, r)                  \
  X3(vsub_s32_s32_s32_max, "vsub.s32.s32.s32.max %0, %1, %2.b2, %3;", r, r, r, r)                  \
  X3(vsub_s32_u32_s32_max, "vsub.s32.u32.s32.max %0, %1, %2.b2, %3;", r, r, r, r)                  \
  X3(vmad_u32_u32_u32_sat_shr7, "vmad.u32.u32.u32.sat.shr7 %0, %1.b0, %2, %3;", r, r, r, r)        \
  X3(vmad_u32_u32_u32_shr15, "vmad.u32.u32.u32.shr15 %0, %1, -%2, %3;", r, r, r, r)                \
  X3(vshl_s32_s32_u32_sat_clamp_add, "vshl.s32.s32.u32.sat.clamp.add %0, %1, %2.b0, %3;", r, r, r, \
     r)                                                                                            \
  X3(vshl_s32_s32_u32_sat_wrap_add, "vshl.s32.s32.u32.sat.wrap.add %0, %1, %2.b0, %3;", r, r, r,   \
     r)                                                                                            \
  X3(vshr_s32_s32_u32_sat_clamp_add, "vshr.s32.s32.u32.sat.clamp.add %0, %1, %2.b0, %3;", r, r, r, \
     r)                                                                                            \
  X1(ex2_approx_ftz_f32, "ex2.approx.ftz.f32 %0, %1;", f, f)                                       \
  X1(lg2_approx_ftz_f32, "lg2.approx.ftz.f32 %0, %1;", f, f)                                       \
  X1(rcp_approx_ftz_f32, "rcp.approx.ftz.f32 %0, %1;", f, f)                                       \
  X1(rsqrt_approx_ftz_f32, "rsqrt.approx.ftz.f32 %0, %1;", f, f)                                   \
  X1(sqrt_approx_ftz_f32, "sqrt.approx.ftz.f32 %0, %1;", f, f)                                     \
  X1(sin_approx_ftz_f32, "sin.approx.ftz.f32 %0, %1;", f, f)                                       \
  X1(cos_approx_ftz_f32, "cos.approx.ftz.f32 %0, %1;", f, f)                                       \
  X1(sin_approx_f32, "sin.approx.f32 %0, %1;", f, f)                                               \
  X3(vmad_s32_u32_s32_shr15, "vmad.s32.u32.s32.shr15 %0, %1, -%2, %3;", r, r, r, r)

constexpr unsigned kMostOperands = 4;

// Of `count` rows of operands.
#define KERNEL(name, text, r, ...)                                          \
  __global__ void name(const u64* operands, u64* results, unsigned count) { \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;               \
    if (i >= count) return;                                                 \
    const u64* const in = operands + i * kMostOperands;                     \
    decltype(as_##r(0)) result;                                             \
    asm volatile(text : "=" #r(result) : __VA_ARGS__);                      \
    results[i] = bits(result);                                              \
  }
#define KERNEL1(name, text, r, a) KERNEL(name, text, r, #a(as_##a(in[0])))
#define KERNEL2(name, text, r, a, b) KERNEL(name, text, r, #a(as_##a(in[0])), #b(as_##b(in[1])))
#define KERNEL3(name, text, r, a, b, c) \
  KERNEL(name, text, r, #a(as_##a(in[0])), #b(as_##b(in[1])), #c(as_##c(in[2])))
#define KERNEL4(name, text, r, a, b, c, e) \
  KERNEL(name, text, r, #a(as_##a(in[0])), #b(as_##b(in[1])), #c(as_##c(in[2])), #e(as_##e(in[3])))
INSTRUCTIONS(KERNEL1, KERNEL2, KERNEL3, KERNEL4)

struct Known {
  const char* text;
  void (*kernel)(const u64*, u64*, unsigned);
};
#define ROW(name, text, ...) {text, name},
const Known kKnown[] = {INSTRUCTIONS(ROW, ROW, ROW, ROW)};

using Row = std::vector<u64>;

// Instructions on the same operands.
struct Table {
  std::vector<std::string> names;
  Row lasts;  // values of a last operand, if the rows have columns for them
  std::vector<Row> operands, results;

  void add(const Row& of, const Row& found) {
    if (lasts.empty()) {
      operands.push_back(of);
      results.push_back(found);
    }
    require(lasts.empty() || found.size() == lasts.size() * names.size(), "the number of results");
    for (std::size_t i = 0; i < lasts.size(); ++i) {
      operands.push_back(of);
      operands.back().push_back(lasts[i]);
      const auto first = found.begin() + static_cast<std::ptrdiff_t>(i * names.size());
      results.emplace_back(first, first + static_cast<std::ptrdiff_t>(names.size()));
    }
    require(operands.back().size() <= kMostOperands, "too many operands");
  }

  void check() const {
    std::vector<u64> flat(operands.size() * kMostOperands);
    for (std::size_t i = 0; i < operands.size(); ++i)
      std::copy(operands[i].begin(), operands[i].end(), flat.begin() + i * kMostOperands);
    const DeviceArray<u64> from(flat), to(operands.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
      const auto* const known = std::find_if(
          std::begin(kKnown), std::end(kKnown),
          [&](const Known& x) { return std::string(x.text).rfind(names[k] + " ", 0) == 0; });
      require(known != std::end(kKnown), names[k].c_str());
      const unsigned count = static_cast<unsigned>(operands.size());
      known->kernel<<<(count + 63) / 64, 64>>>(from.get(), to.get(), count);
      const Row found = to.read();
      for (std::size_t i = 0; i < found.size(); ++i) {
        std::ostringstream what;
        what << names[k] << std::hex;
        for (const u64 operand : operands[i]) what << " " << operand;
        what << ": " << found[i] << ", expected " << results[i].at(k);
        require(found[i] == results[i][k], what.str().c_str());
      }
    }
  }
};

Row numbers(const std::string& text) {
  std::istringstream words(text);
  Row row;
  for (std::string word; words >> word;) row.push_back(std::stoull(word, nullptr, 16));
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(argc > 1 ? argv[1] : "");
  std::vector<Table> tables;
  for (std::string line; std::getline(file, line);) {
    const std::size_t equals = line.find(" = ");
    if (equals == line.npos) {
      const std::size_t columns = line.find(" ; ");
      std::istringstream words(line.substr(0, columns));
      tables.emplace_back().names = {std::istream_iterator<std::string>(words), {}};
      if (columns != line.npos) tables.back().lasts = numbers(line.substr(columns + 3));
      continue;
    }
    require(!tables.empty(), "the first line names no instruction");
    tables.back().add(numbers(line.substr(0, equals)), numbers(line.substr(equals + 3)));
  }
  for (const Table& table : tables) table.check();
  return tables.empty() ? 1 : 0;
}
