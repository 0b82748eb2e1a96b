// SPDX-License-Identifier: Apache-2.0
// Results of mma.sp and wgmma.mma_async.sp, bit for bit. The program prints one line per kernel and
// kind of input, with a hash of the registers of D for each seed: "place", small integers, whose
// sums are exact and show which elements meet; "wide", numbers of many binades, whose sums are
// rounded. sparse_cores.h200.txt has an H200's lines; the virtual GPU must print the same.
#include "../vgpu/machine/kernels/sparse.cu"
#include "../vgpu/machine/kernels/wgmma_sparse.cu"
#include "../vgpu/programs/require.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

using std::size_t;
using Words = std::vector<u32>;

struct Product {
  const char* name;
  void (*kernel)(u32*, const u32*, const u32*, const u32*, const u32*);
  const char *a, *b, *d;  // types; elements of 4 bits are drawn in pairs
  size_t factors, sums;   // registers of A and of B, of D
};
struct GroupProduct {
  const char* name;
  void (*kernel)(const u32*, u32, u64, u64, u32, const u32*, const u32*, const u32*, u32*);
  const char *a, *b, *d;
  size_t sums;
};
#define ROW(name, ...) \
  { #name, name, __VA_ARGS__ }
const Product kProducts[] = {
    ROW(f16_k16_0, "f16", "f16", "f32", 2, 4),
    ROW(f16_k16_1, "f16", "f16", "f32", 2, 4),
    ROW(f16_k16_2, "f16", "f16", "f32", 2, 4),
    ROW(f16_k16_3, "f16", "f16", "f32", 2, 4),
    ROW(f16_k32_0, "f16", "f16", "f32", 4, 4),
    ROW(f16_k32_1, "f16", "f16", "f32", 4, 4),
    ROW(f16_sums_k16_0, "f16", "f16", "f16", 2, 2),
    ROW(f16_sums_k16_3, "f16", "f16", "f16", 2, 2),
    ROW(f16_sums_k32_0, "f16", "f16", "f16", 4, 2),
    ROW(f16_sums_k32_1, "f16", "f16", "f16", 4, 2),
    ROW(bf16_k16_0, "bf16", "bf16", "f32", 2, 4),
    ROW(bf16_k16_2, "bf16", "bf16", "f32", 2, 4),
    ROW(bf16_k32_0, "bf16", "bf16", "f32", 4, 4),
    ROW(bf16_k32_1, "bf16", "bf16", "f32", 4, 4),
    ROW(tf32_k8_0, "tf32", "tf32", "f32", 2, 4),
    ROW(tf32_k8_1, "tf32", "tf32", "f32", 2, 4),
    ROW(tf32_k8_3, "tf32", "tf32", "f32", 2, 4),
    ROW(tf32_k16_0, "tf32", "tf32", "f32", 4, 4),
    ROW(tf32_k16_1, "tf32", "tf32", "f32", 4, 4),
    ROW(s8_s8_k32_0, "s8", "s8", "s32", 2, 4),
    ROW(s8_s8_k32_1, "s8", "s8", "s32", 2, 4),
    ROW(s8_u8_k32_0, "s8", "u8", "s32", 2, 4),
    ROW(u8_s8_k32_1, "u8", "s8", "s32", 2, 4),
    ROW(u8_u8_k32_0, "u8", "u8", "s32", 2, 4),
    ROW(s8_s8_k64_0, "s8", "s8", "s32", 4, 4),
    ROW(s8_u8_k64_0, "s8", "u8", "s32", 4, 4),
    ROW(u8_s8_k64_0, "u8", "s8", "s32", 4, 4),
    ROW(u8_u8_k64_0, "u8", "u8", "s32", 4, 4),
    ROW(saturated_k64_0, "s8", "s8", "s32", 4, 4),
    ROW(s4_s4_k64_0, "s8", "s8", "s32", 2, 4),
    ROW(s4_u4_k64_1, "s8", "s8", "s32", 2, 4),
    ROW(u4_s4_k64_0, "s8", "s8", "s32", 2, 4),
    ROW(u4_u4_k64_1, "s8", "s8", "s32", 2, 4),
    ROW(s4_s4_k128_0, "s8", "s8", "s32", 4, 4),
    ROW(s4_u4_k128_0, "s8", "s8", "s32", 4, 4),
    ROW(u4_s4_k128_0, "s8", "s8", "s32", 4, 4),
    ROW(u4_u4_k128_0, "s8", "s8", "s32", 4, 4),
    ROW(f16_any_order_k32_0, "f16", "f16", "f32", 4, 4),
    ROW(f16_any_order_k32_1, "f16", "f16", "f32", 4, 4),
    ROW(s8_any_order_k32_0, "s8", "s8", "s32", 2, 4),
    ROW(s8_any_order_k32_1, "s8", "s8", "s32", 2, 4),
    ROW(e4m3_e4m3_k64_0, "e4m3", "e4m3", "f32", 4, 4),
    ROW(e4m3_e5m2_k64_0, "e4m3", "e5m2", "f32", 4, 4),
    ROW(e5m2_e4m3_k64_0, "e5m2", "e4m3", "f32", 4, 4),
    ROW(e5m2_e5m2_k64_0, "e5m2", "e5m2", "f32", 4, 4),
};
const GroupProduct kGroupProducts[] = {
    ROW(f16_shared_1, "f16", "f16", "f32", 8),        ROW(f16_registers_0, "f16", "f16", "f16", 4),
    ROW(bf16_registers_1, "bf16", "bf16", "f32", 8),  ROW(tf32_shared_0, "tf32", "tf32", "f32", 8),
    ROW(bytes_registers_0, "e4m3", "e5m2", "f32", 8), ROW(integers_shared_0, "s8", "u8", "s32", 8),
};

class Inputs {
 public:
  Inputs(u32 seed, bool wide) : state_(seed), wide_(wide) {}

  Words words(size_t count, const std::string& type) {
    Words words(count);
    for (u32& word : words) {
      const int bits = type.ends_with("32") ? 32 : type.ends_with("16") ? 16 : 8;
      for (int at = 0; at < 32; at += bits) word |= (wide_ ? wide(type) : small(type)) << at;
    }
    return words;
  }
  Words metadata(size_t count, const std::string& type, bool any_order) {
    Words words(count);
    for (u32& word : words) {
      for (int at = 0; at < 32; at += 4) word |= chunk(type, any_order) << at;
    }
    return words;
  }

 private:
  u32 draw() {
    state_ = state_ * 1664525u + 1013904223u;
    return state_ >> 8;
  }
  u32 chunk(const std::string& type, bool any_order) {
    if (type == "tf32") return draw() % 2 != 0 ? 0b1110 : 0b0100;
    for (;;) {
      const u32 both = draw() % 16, first = both & 3, second = both >> 2;
      if (any_order ? first != second : first < second) return both;
    }
  }
  // An integer from -3 to 3, unsigned from 0 to 6.
  u32 small(const std::string& type) {
    const int value = static_cast<int>(draw() % 7) - (type[0] == 'u' ? 0 : 3);
    if (type == "s8" || type == "u8") return static_cast<u32>(value) & 255;
    if (type == "s32") return static_cast<u32>(value);
    const float number = static_cast<float>(value);
    u32 bits;
    std::memcpy(&bits, &number, sizeof bits);
    if (type == "f32" || type == "tf32") return bits;
    if (type == "bf16") return bits >> 16;
    if (value == 0) return 0;
    const u32 fraction = type == "f16"    ? 10
                         : type == "e4m3" ? 3
                                          : 2,
              bias = type == "e4m3" ? 7 : 15, top = type == "f16" ? 15 : 7;
    return bits >> 31 << top | ((bits >> 23 & 255) - 127 + bias) << fraction |
           (bits & 0x7fffff) >> (23 - fraction);
  }
  // Finite; of integers, any.
  u32 wide(const std::string& type) {
    const u32 low = draw(), bits = low ^ draw() << 16;
    if (type == "s8" || type == "u8") return bits & 255;
    if (type == "s32") return bits;
    if (type == "f32" || type == "tf32") return (bits & 0x807fffff) | (112 + draw() % 30) << 23;
    if (type == "bf16") return (bits & 0x807f) | (112 + draw() % 30) << 7;
    if (type == "f16") return (bits & 0x83ff) | (draw() % 24 + 2) << 10;
    if (type == "e4m3") return (bits & 0x87) | draw() % 14 << 3;
    return (bits & 0x83) | (draw() % 28 + 1) << 2;
  }

  u32 state_;
  bool wide_;
};

u32* on_device(const Words& words) {
  u32* device = nullptr;
  require(cudaMalloc(&device, words.size() * sizeof(u32)), "memory");
  require(cudaMemcpy(device, words.data(), words.size() * sizeof(u32), cudaMemcpyHostToDevice),
          "input");
  return device;
}

u64 hash_of(const u32* d, size_t count) {
  Words words(count);
  require(cudaMemcpy(words.data(), d, count * sizeof(u32), cudaMemcpyDeviceToHost), "a kernel");
  u64 hash = 1469598103934665603u;  // FNV-1a
  for (const u32 word : words) {
    for (int at = 0; at < 32; at += 8) hash = (hash ^ (word >> at & 255)) * 1099511628211u;
  }
  return hash;
}

u64 run(const Product& product, bool wide, u32 seed) {
  constexpr size_t kThreads = 32;
  Inputs inputs(1000 * seed + u32{wide} + 7, wide);
  const Words a = inputs.words(kThreads * product.factors, product.a),
              b = inputs.words(kThreads * product.factors, product.b),
              c = inputs.words(kThreads * product.sums, product.d),
              metadata = inputs.metadata(kThreads, product.a,
                                         std::strstr(product.name, "any_order") != nullptr);
  u32* const d = on_device(c);
  product.kernel<<<1, kThreads>>>(d, on_device(a), on_device(b), on_device(c), on_device(metadata));
  return hash_of(d, c.size());
}

// A: 64 rows, B: 16 columns of 64 bytes, both with a swizzle of 128 bytes.
u64 run(const GroupProduct& product, bool wide, u32 seed) {
  constexpr size_t kThreads = 128, kWordsOfA = 2048, kWordsOfB = 1024;
  constexpr u32 kBytes = 4 * (kWordsOfA + kWordsOfB);
  constexpr u64 kLayout = u64{1} << 62 | u64{64} << 32 | u64{1} << 16;
  Inputs inputs(1000 * seed + u32{wide} + 77, wide);
  Words image = inputs.words(kWordsOfA, product.a);
  const Words of_b = inputs.words(kWordsOfB, product.b);
  image.insert(image.end(), of_b.begin(), of_b.end());
  const Words a = inputs.words(4 * kThreads, product.a),
              c = inputs.words(kThreads * product.sums, product.d),
              metadata = inputs.metadata(kThreads, product.a, false);
  u32* const d = on_device(c);
  product.kernel<<<1, kThreads, kBytes>>>(on_device(image), kBytes, kLayout,
                                          kLayout | 4 * kWordsOfA >> 4, 1, on_device(c),
                                          on_device(a), on_device(metadata), d);
  return hash_of(d, c.size());
}

template <class Rows>
void run_all(const Rows& rows) {
  for (const auto& row : rows) {
    for (const bool wide : {false, true}) {
      std::printf("%s,%s", wide ? row.name : "place", wide ? "wide" : row.name);
      for (u32 seed = 0; seed < 4; ++seed)
        std::printf("%c%016llx", seed == 0 ? ',' : ' ', run(row, wide, seed));
      std::printf("\n");
    }
  }
}

}  // namespace

int main() {
  run_all(kProducts);
  run_all(kGroupProducts);
}
