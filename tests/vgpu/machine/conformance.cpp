// SPDX-License-Identifier: Apache-2.0
#include "conformance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <random>

#include "engine/engine.hpp"
#include "machine/operations.hpp"
#include "memory/memory.hpp"

namespace conformance {
namespace {

constexpr std::size_t kThreads = 4096;
constexpr u64 kUntouched = 0x5a5a5a5a5a5a5a5a;

const std::vector<u64>& edges() {
  static const std::vector<u64> kEdges = {
      0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255, 256, 0x7fff,
      0x8000, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
      0x8000000000000000, ~u64{0}, ~u64{1}, 0x123456789abcdef0, 0xdeadbeefcafebabe,
      // single precision, in the low half
      0x3f800000, 0xbf800000, 0x00800000, 0x007fffff, 0x00000001, 0x80000001, 0x7f800000,
      0xff800000, 0x7fc00000, 0x7f7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x3effffff,
      0x3f000000, 0x3fc00000, 0x40200000, 0x33800000, 0x42280000, 0x477fe000, 0x477ff000,
      0x38800000, 0x387fc000, 0x33000000, 0x33000001, 0x7fffffff, 0xffc00001,
      // double precision
      0x3ff0000000000000, 0xbff0000000000000, 0x0010000000000000, 0x000fffffffffffff,
      0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7fefffffffffffff,
      0x41e0000000000000, 0x43e0000000000000, 0xc3e0000000000000, 0x3fe0000000000000,
      0x3ff8000000000000, 0x4004000000000000, 0x47efffffe0000000, 0x47effffff0000000,
      0x36a0000000000000, 0x3690000000000000,
      // 16 bits, in both halves
      0x3c003c00, 0xbc003c00, 0x7c00fc00, 0x7e000001, 0x03ff0400, 0x7bff0001, 0x3f80bf80,
      0x7f80ff80, 0x00808000};
  return kEdges;
}

std::vector<u64> operands(unsigned seed, char type, const std::vector<u64>& more) {
  std::mt19937_64 random(seed);
  std::vector<u64> values(kThreads);
  std::vector<u64> special = edges();
  special.insert(special.end(), more.begin(), more.end());
  for (u64& v : values) {
    const u64 kind = random() % 8;
    if (kind < 3) {
      v = special[random() % special.size()];
    } else if (kind == 3) {
      v = random() % 70;
    } else if (kind == 4 && (type == 'f' || type == 'g')) {
      // Numbers of similar magnitude, so that sums depend on every operand.
      const double x = (static_cast<double>(random() % 2000001) - 1e6) / 1024;
      v = type == 'f' ? bits_of(static_cast<float>(x)) : bits_of(x);
    } else {
      v = random();
    }
    if (type == 'p') v &= 1;
    if (type == 'h') v &= 0xffff;
    if (type == 'r' || type == 'f') v &= 0xffffffff;
  }
  return values;
}

const char* register_type(char type) {
  switch (type) {
    case 'p': return ".pred";
    case 'h': return ".b16";
    case 'r': return ".b32";
    case 'f': return ".f32";
    case 'g': return ".f64";
    default: return ".b64";
  }
}

std::string load(const std::string& reg, char type, const std::string& from) {
  if (type == 'p') return "ld.global.u32 %x, [" + from + "];\n setp.ne.u32 " + reg + ", %x, 0;\n";
  return std::string("ld.global") + register_type(type) + " " + reg + ", [" + from + "];\n";
}

std::string store(const std::string& reg, char type, const std::string& to) {
  if (type == 'p') return "selp.u32 %x, 1, 0, " + reg + ";\n st.global.u32 [" + to + "], %x;\n";
  return std::string("st.global") + register_type(type) + " [" + to + "], " + reg + ";\n";
}

std::string body_of(const Case& c) {
  if (c.instruction.find('%') != std::string::npos) return c.instruction + "\n";
  std::string text = c.instruction + " %d";
  for (std::size_t i = 1; i < c.types.size(); ++i) text += std::string(", %") + "dabce"[i];
  return text + ";\n";
}

std::string module_of(const Case& c) {
  std::string text =
      ".version 8.8\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc, "
      ".param .u64 pe, .param .u32 divided)\n{\n.reg .b32 %x, %thread, %block, %threads, "
      "%odd;\n.reg .b64 %at, %offset;\n"
      ".reg .pred %off;\n";
  for (std::size_t i = 0; i < c.types.size(); ++i) {
    text += std::string(".reg ") + register_type(c.types[i]) + " %" + "dabce"[i] + ";\n";
  }
  text +=
      "mov.u32 %thread, %tid.x;\n mov.u32 %block, %ctaid.x;\n mov.u32 %threads, %ntid.x;\n"
      "mad.lo.u32 %x, %block, %threads, %thread;\n mul.wide.u32 %offset, %x, 8;\n";
  for (std::size_t i = 0; i < c.types.size(); ++i) {
    text += std::string("ld.param.u64 %at, [p") + "dabce"[i] + "];\n add.u64 %at, %at, %offset;\n" +
            load(std::string("%") + "dabce"[i], c.types[i], "%at");
  }
  text +=
      "ld.param.u32 %odd, [divided];\n and.b32 %odd, %odd, %thread;\n setp.ne.u32 %off, %odd, 0;\n "
      "@%off bra DONE;\n";
  text += body_of(c);
  text += "DONE:\n ld.param.u64 %at, [pd];\n add.u64 %at, %at, %offset;\n" +
          store("%d", c.types[0], "%at");
  return text + "ret;\n}\n";
}

u64 width_mask(char type) {
  switch (type) {
    case 'p':
    case 'r':
    case 'f': return 0xffffffff;
    case 'h': return 0xffff;
    default: return ~u64{0};
  }
}

}  // namespace

double as_double(u64 bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
float as_float(u64 bits) {
  float value;
  const u32 low = static_cast<u32>(bits);
  std::memcpy(&value, &low, sizeof(value));
  return value;
}
u64 bits_of(double value) {
  u64 bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
u64 bits_of(float value) {
  u32 bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
u64 single(float value) { return std::isnan(value) ? 0x7fffffff : bits_of(value); }
u64 twice(double value) { return std::isnan(value) ? 0xfff8000000000000 : bits_of(value); }

u64 twice(double value, std::initializer_list<u64> operands) {
  for (const u64 bits : operands)
    if (std::isnan(as_double(bits))) return bits | u64{1} << 51;
  return twice(value);
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.instruction; }

std::string name_of(const Case& c) {
  std::string name;
  for (char ch : c.instruction.substr(0, c.instruction.find_first_of(" ;"))) {
    name.push_back(std::isalnum(static_cast<unsigned char>(ch)) != 0 ? ch : '_');
  }
  return name;
}

namespace {

// A module with one case and its arrays: d, a, b, c, e.
class Bench {
 public:
  explicit Bench(const Case& c)
      : memory_(std::size_t{64} << 20), module_(vgpu::Module::from_ptx(module_of(c), memory_)) {
    for (u64*& array : arrays_) array = static_cast<u64*>(memory_.allocate(kThreads * sizeof(u64)));
  }

  u64* array(std::size_t i) { return arrays_[i]; }

  void launch(bool divided) {
    std::fill_n(arrays_[0], kThreads, kUntouched);
    const u32 flag = divided ? 1 : 0;
    std::vector<std::byte> params(44);
    std::memcpy(params.data(), arrays_, sizeof(arrays_));
    std::memcpy(params.data() + 40, &flag, sizeof(flag));
    vgpu::LaunchConfig config;
    config.grid = {kThreads / 128, 1, 1};
    config.block = {128, 1, 1};
    config.host_threads = 1;
    vgpu::launch(*module_->find_kernel("kernel"), config, params, memory_);
  }

 private:
  vgpu::Memory memory_;
  std::unique_ptr<vgpu::Module> module_;
  u64* arrays_[5] = {};
};

}  // namespace

void check(const Case& c) {
  Bench bench(c);
  std::vector<u64> inputs[4];
  for (unsigned i = 0; i < 4; ++i) {
    inputs[i] = operands(i + 1, i + 1 < c.types.size() ? c.types[i + 1] : 'r', c.values);
    std::memcpy(bench.array(i + 1), inputs[i].data(), kThreads * sizeof(u64));
  }
  const u64 mask = width_mask(c.types[0]);
  std::vector<u64> expected(kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) {
    expected[i] = c.expected(inputs[0][i], inputs[1][i], inputs[2][i], inputs[3][i]) & mask;
  }
  for (const vgpu::machine::Isa& isa : vgpu::machine::isas()) {
    ASSERT_TRUE(vgpu::machine::use_isa(isa.code.name));
    for (const bool divided : {false, true}) {
      bench.launch(divided);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < kThreads; ++i) {
        const u64 untouched = c.types[0] == 'p' ? 1 : kUntouched & mask;
        const u64 wanted = divided && i % 2 == 1 ? untouched : expected[i];
        const u64 result = bench.array(0)[i] & mask;
        if (result == wanted || ++wrong > 3) continue;
        ADD_FAILURE() << c.instruction << " on " << isa.code.name << (divided ? ", divided" : "")
                      << std::hex << ": a 0x" << inputs[0][i] << " b 0x" << inputs[1][i] << " c 0x"
                      << inputs[2][i] << " e 0x" << inputs[3][i] << " gives 0x" << result
                      << ", expected 0x" << wanted;
      }
    }
  }
  vgpu::machine::use_isa("");
}

std::vector<u64> run(const std::string& instruction, const std::string& types,
                     const std::vector<u64>& a, const std::vector<u64>& b) {
  Bench bench({instruction, types, nullptr, {}});
  std::size_t n = 0;
  for (const std::vector<u64>& values : {a, b}) {
    u64* const array = bench.array(++n);
    std::fill_n(array, kThreads, u64{0});
    std::ranges::copy(values, array);
  }
  bench.launch(false);
  std::vector<u64> results(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) results[i] = bench.array(0)[i] & width_mask(types[0]);
  return results;
}

}  // namespace conformance
