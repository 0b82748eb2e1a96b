// SPDX-License-Identifier: Apache-2.0
// The results of MUFU's functions for every mantissa, for mufu_fit.py, and for numbers of every
// exponent. Writes FOLDER/NAME.FIRST (hexadecimal): the results of consecutive numbers as 32-bit
// words.
//   bench_mufu FOLDER
#include <cuda_runtime.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

#define FUNCTION(name, instruction)                                               \
  __global__ void name(unsigned first, unsigned* results) {                       \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                     \
    float result;                                                                 \
    asm(instruction " %0, %1;" : "=f"(result) : "f"(__uint_as_float(first + i))); \
    results[i] = __float_as_uint(result);                                         \
  }
FUNCTION(ex2, "ex2.approx.ftz.f32")
FUNCTION(lg2, "lg2.approx.ftz.f32")
FUNCTION(rcp, "rcp.approx.ftz.f32")
FUNCTION(rsqrt_, "rsqrt.approx.ftz.f32")
FUNCTION(sqrt_, "sqrt.approx.ftz.f32")
FUNCTION(sin_, "sin.approx.ftz.f32")
FUNCTION(cos_, "cos.approx.ftz.f32")
FUNCTION(tanh_, "tanh.approx.f32")

struct Range {
  const char* name;
  void (*function)(unsigned, unsigned*);
  unsigned first, octaves;
};
constexpr unsigned kOctave = 1u << 23, kThreads = 256;
constexpr Range kRanges[] = {
    {"ex2", ex2, 0x3d000000, 1},     {"ex2", ex2, 0x3f000000, 2},
    {"ex2", ex2, 0x42800000, 1},     {"ex2", ex2, 0xb2800000, 3},
    {"ex2", ex2, 0xbf800000, 1},     {"ex2", ex2, 0xc2800000, 1},
    {"lg2", lg2, 0x3e800000, 5},     {"lg2", lg2, 0x01000000, 1},
    {"lg2", lg2, 0x7e800000, 1},     {"rcp", rcp, 0x3f800000, 1},
    {"rcp", rcp, 0x7e000000, 3},     {"rsqrt", rsqrt_, 0x3f800000, 2},
    {"sqrt", sqrt_, 0x3f800000, 2},  {"sin", sin_, 0x3e800000, 3},
    {"cos", cos_, 0x3f000000, 2},    {"cos", cos_, 0xc0800000, 1},
    {"tanh", tanh_, 0x39800000, 18},
};

bool write(const Range& range, const std::string& folder) {
  std::vector<unsigned> results(range.octaves * kOctave);
  unsigned* device = nullptr;
  const std::size_t bytes = results.size() * sizeof(unsigned);
  if (cudaMalloc(&device, bytes) != cudaSuccess) return false;
  range.function<<<range.octaves*(kOctave / kThreads), kThreads>>>(range.first, device);
  const bool copied =
      cudaMemcpy(results.data(), device, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
  cudaFree(device);
  char first[16];
  std::snprintf(first, sizeof first, ".%08x", range.first);
  std::FILE* const file = std::fopen((folder + "/" + range.name + first).c_str(), "wb");
  if (!copied || file == nullptr) return false;
  const bool written = std::fwrite(results.data(), 1, bytes, file) == bytes;
  return std::fclose(file) == 0 && written;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  for (const Range& range : kRanges) {
    if (write(range, arguments[1])) continue;
    std::fprintf(stderr, "bench_mufu: no results of %s\n", range.name);
    return 1;
  }
}
