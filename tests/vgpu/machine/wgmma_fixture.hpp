// SPDX-License-Identifier: Apache-2.0
// One wgmma in a kernel whose PTX is generated here, so that any shape can be tested. The kernel
// copies an image of shared memory from global memory unchanged. The image is laid out here by rows
// and 16-byte chunks as the PTX ISA draws them, not by addresses as the engine does. Inputs are
// small integers: every sum is exact, and a misplaced element is detected.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>

#include "engine_fixture.hpp"

namespace wgmma_test {

using std::size_t;
using std::to_string;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr int kM = 64;

struct Type {
  const char* name;
  int bytes;
};
inline constexpr Type kHalf{"f16", 2}, kBfloat{"bf16", 2}, kTf32{"tf32", 4}, kE4m3{"e4m3", 1},
    kE5m2{"e5m2", 1}, kS8{"s8", 1}, kU8{"u8", 1};

// The bits of a small integer. The bits of a tf32 that a tensor core ignores are set.
inline u32 code_of(const Type& type, int value) {
  const std::string name = type.name;
  if (name == "s8" || name == "u8") return static_cast<u8>(value);
  const u32 bits = std::bit_cast<u32>(static_cast<float>(value));
  if (name == "tf32") return bits | 0x1fff;
  if (name == "bf16") return bits >> 16;
  const int fraction = name == "f16" ? 10 : name == "e4m3" ? 3 : 2;
  const int bias = name == "e4m3" ? 7 : 15;
  if (value == 0) return 0;
  const u32 exponent = (bits >> 23 & 255) - 127 + static_cast<u32>(bias);
  return (bits >> 31) << (8 * type.bytes - 1) | exponent << fraction |
         (bits & 0x7fffff) >> (23 - fraction);
}

// Layout of an operand in shared memory.
struct Layout {
  int span = 128;         // bytes of a line of the swizzle; 16: none
  bool along_mn = false;  // M-major or N-major, else K-major
  int leading = 16, stride = 1024;
  int start = 0;  // of the matrix, in the image
  // Offset of the element in row (or column) `mn`, step k.
  int offset(int mn, int k, int bytes) const {
    const int line = along_mn ? k : mn, along = (along_mn ? mn : k) * bytes;
    const int in_atom = line % 8, piece = along / 16, byte = along % 16;
    if (span == 16) {
      const int across = along_mn ? stride : leading, down = along_mn ? leading : stride;
      return start + piece * across + line / 8 * down + in_atom * 16 + byte;
    }
    // The swizzle XORs the chunk's number in a row with the number of its 128 bytes.
    const int base = start / span * span, first = start % span / 16;
    const int pieces = span / 16, turn = (base + in_atom * span) / 128 % pieces;
    const int in_line = (first + piece % pieces) ^ turn;
    return base + piece / pieces * leading + line / 8 * stride + in_atom * span + in_line * 16 +
           byte;
  }
  u64 descriptor() const {
    const u64 mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return static_cast<u64>(start) >> 4 | static_cast<u64>(leading >> 4) << 16 |
           static_cast<u64>(stride >> 4) << 32 | mode << 62;
  }
};

struct Case {
  Case(const Type& of_a_type, const Type& of_b_type) : a(of_a_type), b(of_b_type) {}
  Type a, b;
  std::string d = "f32";
  int n = 64;
  Layout of_a, of_b;
  bool registers = false;
  int selector = -1;    // of the threads that have the metadata of a sparse A; -1: A is dense
  std::string options;  // after scale-d
  std::string kind, before_fence, before_commit, before_wait;
  std::string fence = "  wgmma.fence.sync.aligned;\n",
              commit = "  wgmma.commit_group.sync.aligned;\n",
              wait = "  wgmma.wait_group.sync.aligned 0;\n";
};

inline std::string list(const char* prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + std::string(prefix) + to_string(i);
  return text + "}";
}

inline bool is_sparse(const Case& c) { return c.selector >= 0; }
inline int depth_of(const Case& c) { return (is_sparse(c) ? 64 : 32) / c.a.bytes; }
inline int registers_of_d(const Case& c) { return c.d == "f16" ? c.n / 4 : c.n / 2; }

inline std::string kernel_text(const Case& c) {
  const int count = registers_of_d(c);
  std::string text = R"(.version 8.5
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 image[];
.visible .entry k(.param .u64 from, .param .u32 bytes, .param .u64 da, .param .u64 db, .param .u32 adds,
                  .param .u64 d_in, .param .u64 a_in, .param .u64 e_in, .param .u64 d_out)
{
  .reg .pred p, q;
  .reg .b32 t, i, v, s, n, add, e;
  .reg .b64 g, h, base, first, second;
)";
  text += "  .reg .b32 d<" + to_string(count) + ">, a<4>;\n";
  text += R"(  mov.u32 t, %tid.x;
  ld.param.u64 g, [from];
  ld.param.u32 n, [bytes];
  shl.b32 i, t, 2;
  mov.u32 s, image;
copy:
  setp.ge.u32 p, i, n;
  @p bra copied;
  cvt.u64.u32 h, i;
  add.u64 h, g, h;
  ld.global.u32 v, [h];
  add.u32 v, v, 0;
  { .reg .b32 at; add.u32 at, s, i; st.shared.u32 [at], v; }
  add.u32 i, i, 512;
  bra copy;
copied:
  fence.proxy.async;
  bar.sync 0;
  shr.u32 s, s, 4;
  cvt.u64.u32 base, s;
  ld.param.u64 first, [da];
)";
  text += R"(  ld.param.u64 second, [db];
  add.u64 first, first, base;
  add.u64 second, second, base;
  ld.param.u32 add, [adds];
  setp.ne.u32 q, add, 0;
  ld.param.u64 g, [d_in];
  mad.wide.u32 g, t, )" +
          to_string(4 * count) + ", g;\n";
  for (int r = 0; r < count; ++r)
    text += "  ld.global.u32 d" + to_string(r) + ", [g+" + to_string(4 * r) + "];\n";
  text += "  ld.param.u64 g, [a_in];\n  mad.wide.u32 g, t, 16, g;\n";
  for (int r = 0; r < 4; ++r)
    text += "  ld.global.u32 a" + to_string(r) + ", [g+" + to_string(4 * r) + "];\n";
  text += "  ld.param.u64 g, [e_in];\n  mad.wide.u32 g, t, 4, g;\n  ld.global.u32 e, [g];\n";
  text += c.before_fence + c.fence;
  text += std::string("  wgmma.mma_async") + (is_sparse(c) ? ".sp" : "") + ".sync.aligned.m64n" +
          to_string(c.n) + "k" + to_string(depth_of(c)) + "." + c.d + c.kind + "." + c.a.name +
          "." + c.b.name + " " + list("d", count) + ", " + (c.registers ? list("a", 4) : "first") +
          ", second, " + (is_sparse(c) ? "e, " + to_string(c.selector) + ", " : "") + "q" +
          c.options + ";\n";
  text += c.before_commit + c.commit + c.before_wait + c.wait;
  text += "  ld.param.u64 g, [d_out];\n  mad.wide.u32 g, t, " + to_string(4 * count) + ", g;\n";
  for (int r = 0; r < count; ++r)
    text += "  st.global.u32 [g+" + to_string(4 * r) + "], d" + to_string(r) + ";\n";
  return text + "  ret;\n}\n";
}

class Wgmma : public EngineTest {
 protected:
  std::vector<int> numbers(int count, bool with_signs = true) {
    std::vector<int> values(static_cast<size_t>(count));
    for (int& v : values) {
      state_ = state_ * 1664525u + 1013904223u;
      v = static_cast<int>(state_ >> 24) % 9 - (with_signs ? 4 : 0);
    }
    return values;
  }

  static void put(std::vector<u8>& image, int offset, u32 code, int bytes) {
    if (image.size() < static_cast<size_t>(offset + bytes))
      image.resize(static_cast<size_t>(offset + bytes), 0xee);
    for (int i = 0; i < bytes; ++i)
      image[static_cast<size_t>(offset + i)] = static_cast<u8>(code >> 8 * i);
  }

  // The value of element (row, column) of D in a dump of the registers by thread.
  static double sum_at(const std::vector<u32>& d, const Case& c, int row, int column) {
    const int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2, h = row % 16 / 8,
              e = column % 2, j = column / 8;
    const size_t base = static_cast<size_t>(thread * registers_of_d(c));
    if (c.d == "f16") {
      const u32 half = d[base + static_cast<size_t>(2 * j + h)] >> 16 * e & 0xffff;
      const int exponent = static_cast<int>(half >> 10 & 31);
      const double magnitude = exponent == 0 ? (half & 0x3ff) * 0x1p-24
                                             : std::ldexp(1024 + (half & 0x3ff), exponent - 25);
      return (half >> 15) != 0 ? -magnitude : magnitude;
    }
    const u32 bits = d[base + static_cast<size_t>(4 * j + 2 * h + e)];
    return c.d == "s32" ? static_cast<double>(static_cast<std::int32_t>(bits))
                        : double{std::bit_cast<float>(bits)};
  }

  // Stores element k of row m of A, as it is kept.
  static void store_a(const Case& c, int m, int k, u32 code, std::vector<u8>& image,
                      std::vector<u32>& registers) {
    if (!c.registers) {
      put(image, c.of_a.offset(m, k, c.a.bytes), code, c.a.bytes);
      return;
    }
    // PTX ISA, "Register Fragments for wgmma": four elements of a row in one thread of each group
    // of four, twice along k.
    const int in_register = 4 / c.a.bytes, word = k / in_register;
    const int thread = m / 16 * 32 + m % 8 * 4 + word % 4, r = m % 16 / 8 + 2 * (word / 4);
    registers[static_cast<size_t>(thread * 4 + r)] |= code << 8 * c.a.bytes * (k % in_register);
  }

  // Sets half of A to zero and returns the metadata of the rest by thread. PTX ISA, "Sparse matrix
  // storage" of wgmma and the figures of the metadata: of wide elements a thread has four chunks of
  // a row and of the one eight below, of 8-bit ones eight chunks of one row.
  std::vector<u32> thin_out(std::vector<int>& a, const Case& c) {
    const int of_chunk = c.a.bytes == 4 ? 2 : 4, depth = depth_of(c);
    std::vector<u32> metadata(128);
    is_kept_.assign(a.size(), false);
    for (int m = 0; m < kM; ++m) {
      for (int chunk = 0; chunk < depth / of_chunk; ++chunk) {
        const std::vector<int> random = numbers(2, false);
        int first = random[0] % of_chunk, second = random[1] % 3;
        if (second >= first) ++second;
        if (of_chunk == 2) second = first;
        const size_t base = static_cast<size_t>(m * depth + chunk * of_chunk);
        for (int i = 0; i < of_chunk; ++i) {
          is_kept_[base + static_cast<size_t>(i)] = i == first || i == second;
          if (i != first && i != second) a[base + static_cast<size_t>(i)] = 0;
        }
        const u32 code =
            of_chunk == 2
                ? (first == 0 ? 0b0100 : 0b1110)
                : static_cast<u32>(std::min(first, second) | std::max(first, second) << 2);
        const int lower = m % 16 / 8;
        const int thread = c.a.bytes == 1 ? lower + 2 * (chunk / 8) : 2 * c.selector + chunk / 4;
        const int bit = c.a.bytes == 1 ? 4 * (chunk % 8) : 16 * lower + 4 * (chunk % 4);
        metadata[static_cast<size_t>(m / 16 * 32 + m % 8 * 4 + thread)] |= code << bit;
      }
    }
    return metadata;
  }

  // Runs the case and compares all of D. `kernel`: one of kernels/wgmma_sparse.cu.
  void check(const Case& c, bool adds, double sign = 1, const char* kernel = nullptr) {
    const int depth = depth_of(c), count = registers_of_d(c);
    std::vector<int> a = numbers(kM * depth, std::string(c.a.name) != "u8");
    const std::vector<u32> metadata = is_sparse(c) ? thin_out(a, c) : std::vector<u32>(128);
    const std::vector<int> b = numbers(c.n * depth, std::string(c.b.name) != "u8");
    std::vector<u8> image;
    std::vector<u32> a_registers(128 * 4);
    for (int m = 0; m < kM; ++m) {
      for (int k = 0, at = 0; at < depth; ++at) {
        if (is_sparse(c) && !is_kept_[static_cast<size_t>(m * depth + at)]) continue;
        const int stored = k++;
        store_a(c, m, stored, code_of(c.a, a[static_cast<size_t>(m * depth + at)]), image,
                a_registers);
      }
    }
    for (int n = 0; n < c.n; ++n) {
      for (int k = 0; k < depth; ++k) {
        put(image, c.of_b.offset(n, k, c.b.bytes),
            code_of(c.b, b[static_cast<size_t>(n * depth + k)]), c.b.bytes);
      }
    }
    image.resize((image.size() + 1023) / 1024 * 1024, 0xee);
    std::vector<u32> before(static_cast<size_t>(128 * count));
    for (u32& bits : before)
      bits = c.d == "f16" ? 0x3c004000 : c.d == "s32" ? 3 : std::bit_cast<u32>(3.0F);
    if (kernel == nullptr)
      load_text(kernel_text(c));
    else
      load("wgmma_sparse", VGPU_TEST_PTX_90A);
    config.dynamic_shared_bytes = static_cast<u32>(image.size());
    u32* const out = array<u32>(before.size());
    launch(kernel == nullptr ? "k" : kernel, {1}, {128}, array(image),
           static_cast<u32>(image.size()), c.of_a.descriptor(), c.of_b.descriptor(), u32{adds},
           array(before), array(a_registers), array(metadata), out);
    const std::vector<u32> after(out, out + before.size());
    for (int m = 0; m < kM; ++m) {
      for (int n = 0; n < c.n; ++n) {
        double expected = adds ? sum_at(before, c, m, n) : 0;
        for (int k = 0; k < depth; ++k) {
          expected +=
              sign * a[static_cast<size_t>(m * depth + k)] * b[static_cast<size_t>(n * depth + k)];
        }
        ASSERT_EQ(sum_at(after, c, m, n), expected) << m << ", " << n;
      }
    }
  }

 private:
  u32 state_ = 99;
  std::vector<bool> is_kept_;
};

inline Layout along_k(int span, int start) {
  // Atoms of 8 rows have larger strides than necessary.
  return span == 16 ? Layout{16, false, 128, 512, start}
                    : Layout{span, false, 16, 16 * span, start};
}
// `steps`: along k.
inline Layout along_mn(int span, int start, int rows, int steps = 16) {
  if (span == 16) return {16, true, 128 * 64, 256, start};
  const int lines = 16 * span;  // of 8 steps of k
  return {span, true, steps / 8 * lines + (rows > 64 ? 0 : 1024), lines, start};
}
inline constexpr int kSecond = 48 * 1024;  // offset of B in the image

}  // namespace wgmma_test
