// SPDX-License-Identifier: Apache-2.0
// Runs the CUDA kernels of one rung that take and give one type, float or bf16, on small problems,
// and compares with sums of integers, padding included: mutant_program RUNG [RUN]..., where runs,
// one of a kernel on a problem, are counted from 1. One problem is ragged with wide leading
// dimensions. For Hopper's rungs others are deep enough for a ring of stages to turn twice, and run
// on a device that says it has few SMs and hardly any L2, so that a block has a second and a third
// tile, or a part of one. Rungs that split operands into words have A, then B, in integers of two
// words. Exit status 1 where a result is wrong, 2 where there is no such run, 3 where a launch
// fails.
#include <ladder/registry.hpp>

#include "host/query.hpp"
#include "support/pretended_device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kWrongResult = 1, kUsage = 2, kLaunchFailed = 3;

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "mutant_program: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(kLaunchFailed);
}

struct FreeDevice {
  void operator()(void* p) const { cudaFree(p); }
};

std::uint16_t to_bf16(float x) {  // to the nearest, ties to even
  if (x != x) return 0x7fff;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float of_bf16(std::uint16_t x) { return std::bit_cast<float>(std::uint32_t{x} << 16); }

// A matrix on host and device; what lies between its rows is NaN, and what lies `behind` the last
// one another number, so that no sum leaves it as it is.
class Matrix {
  static constexpr float kBehind = 7;

 public:
  // `high`: what stands above the smallest integers, which take a word of their own where it is
  // 2^11.
  Matrix(ladder::Type type, std::int64_t rows, std::int64_t columns, std::int64_t stride, int seed,
         int high = 0, std::int64_t behind = 0)
      : type_(type),
        host_(static_cast<std::size_t>((rows - 1) * stride + columns + behind),
              std::numeric_limits<float>::quiet_NaN()),
        stride_(stride) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j)
        at(i, j) =
            static_cast<float>((i * 7 + j * 3 + seed) % 5 - 2 + ((i * 5 + j * 11) % 5 - 2) * high);
    }
    std::fill(host_.end() - behind, host_.end(), kBehind);
    void* memory = nullptr;
    require(cudaMalloc(&memory, bytes()), "cudaMalloc");
    device_.reset(memory);
    require(cudaMemcpy(memory, packed().data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  float& at(std::int64_t i, std::int64_t j) {
    return host_[static_cast<std::size_t>(i * stride_ + j)];
  }
  float* device() { return static_cast<float*>(device_.get()); }

  // Whether the device holds what the host does, rounded to its type, NaN where the host has NaN.
  bool same_on_device() const {
    std::vector<char> found(bytes());
    require(cudaMemcpy(found.data(), device_.get(), bytes(), cudaMemcpyDeviceToHost), "kernel");
    for (std::size_t i = 0; i < host_.size(); ++i) {
      float x, expected = host_[i];
      if (type_ == ladder::Type::kF32) {
        std::memcpy(&x, &found[i * 4], 4);
      } else {
        std::uint16_t half;
        std::memcpy(&half, &found[i * 2], 2);
        x = of_bf16(half);
        expected = of_bf16(to_bf16(expected));
      }
      const bool both_nan = x != x && expected != expected;
      if (x != expected && !both_nan) return false;
    }
    return true;
  }

 private:
  std::size_t bytes() const {
    return host_.size() * static_cast<std::size_t>(ladder::bytes_of(type_));
  }
  std::vector<char> packed() const {
    std::vector<char> all(bytes());
    for (std::size_t i = 0; i < host_.size(); ++i) {
      const std::uint16_t half = to_bf16(host_[i]);
      if (type_ == ladder::Type::kF32)
        std::memcpy(&all[i * 4], &host_[i], 4);
      else
        std::memcpy(&all[i * 2], &half, 2);
    }
    return all;
  }

  ladder::Type type_;
  std::vector<float> host_;
  std::int64_t stride_;
  std::unique_ptr<void, FreeDevice> device_;
};

struct High {
  int a = 0, b = 0;
};

bool right(const ladder::KernelInfo& kernel, ladder::Problem p, High high) {
  p.in = kernel.in, p.out = kernel.out;
  const bool along_a = p.op_a == ladder::Op::kNone, along_b = p.op_b != ladder::Op::kNone;  // k
  Matrix a(p.in, along_a ? p.m : p.k, along_a ? p.k : p.m, p.lda, 1, high.a);
  Matrix b(p.in, along_b ? p.n : p.k, along_b ? p.k : p.n, p.ldb, 2, high.b);
  const std::int64_t behind = high.a + high.b != 0 ? p.ldc : 0;
  Matrix c(p.out, p.m, p.n, p.ldc, 3, 0, behind);
  if (const ladder::Status status = kernel.launch(p, {a.device(), b.device(), c.device()}, nullptr);
      !status) {
    std::fprintf(stderr, "mutant_program: %s\n", status.message().c_str());
    std::exit(kLaunchFailed);
  }
  std::vector<float> sums(static_cast<std::size_t>(p.n));
  for (std::int64_t i = 0; i < p.m; ++i) {
    std::ranges::fill(sums, 0.0F);
    for (std::int64_t l = 0; l < p.k; ++l) {
      const float x = along_a ? a.at(i, l) : a.at(l, i);
      const float* const first = along_b ? &b.at(0, l) : &b.at(l, 0);
      const std::int64_t step = along_b ? p.ldb : 1;
      for (std::int64_t j = 0; j < p.n; ++j)
        sums[static_cast<std::size_t>(j)] += x * first[j * step];
    }
    for (std::int64_t j = 0; j < p.n; ++j) {
      c.at(i, j) = p.alpha * sums[static_cast<std::size_t>(j)] + p.beta * c.at(i, j);
    }
  }
  return c.same_on_device();
}

struct Case {
  ladder::Problem problem;
  ladder::PretendedDevice device;
};

// For kernels that share k out and have others for thin C: each of them, with parts in clusters and
// beyond, and ragged.
std::vector<Case> cases_of_parts() {
  constexpr int kSomeSms = 8;
  constexpr auto kNone = ladder::Op::kNone, kTranspose = ladder::Op::kTranspose;
  std::vector<Case> all;
  // With beta = 0 what is stored between rows of C is a number where NaN was.
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t more,
                       float beta = -1.0F, ladder::Op op_a = ladder::Op::kNone,
                       ladder::Op op_b = ladder::Op::kNone) {
    ladder::Problem p = ladder::make_problem(m, n, k, 2.0F, beta, op_a, op_b);
    p.lda += more, p.ldb += 2 * more, p.ldc += more;
    all.push_back({p, {kSomeSms, 0}});
  };
  add(133, 134, 35, 3);
  add(68, 60, 1100, 4);
  add(33, 31, 700, 1, 0.0F);
  add(40, 520, 100, 0);
  add(65, 129, 301, 2);
  add(3, 261, 300, 1, 0.0F);
  add(3, 261, 300, 0);
  add(1, 260, 1300, 4);
  add(133, 2, 260, 4);
  add(70, 261, 3, 1, 0.0F);
  add(70, 264, 3, 1);
  add(163, 70, 301, 3);
  add(100, 15, 600, 1);  // a block has more steps of k than stages
  for (const auto op_a : {kNone, kTranspose}) {
    for (const auto op_b : {kNone, kTranspose}) {
      for (const std::int64_t more : {0, 1, 4}) {
        add(6, 8, 700, more, -1.0F, op_a, op_b);  // few elements of C
        add(8, 12, 300, more, 0.0F, op_a, op_b);
        add(3, 2, 2104, more, -1.0F, op_a, op_b);
        add(11, 13, 9, more, 0.0F, op_a, op_b);  // and a small k
        add(5, 1041, 36, more, -1.0F, op_a, op_b);
      }
    }
  }
  for (const std::int64_t k : {37, 150, 517}) {  // the smaller tiles, copied element by element
    add(67, 61, k, 1);
    add(29, 30, k, 3);
    add(17, 131, k, 1, 0.0F);
    add(130, 19, k, 3);
    add(16, 61, k, 1);
    add(31, 66, k, 3);
    add(48, 130, k, 1);
    add(20, 259, k, 3);
    add(77, 70, k, 1);
  }
  return all;
}

constexpr int kFewSms = 2, kSomeSms = 4, kPairsSms = 6, kMoreSms = 7, kNoL2 = 1024;

// For rungs on Hopper's tensor cores more, and where a rung chooses its tiles, one for each way.
std::vector<Case> cases(bool hopper, bool plans) {
  ladder::Problem ragged = ladder::make_problem(133, 134, 35, 2.0F, -1.0F);
  ragged.lda = 37, ragged.ldb = 139, ragged.ldc = 141;
  ladder::Problem aligned = ladder::make_problem(131, 132, 36, 2.0F, -1.0F);
  aligned.lda = 40, aligned.ldb = 136, aligned.ldc = 144;
  std::vector<Case> all = {{ragged, {}}, {aligned, {}}};
  if (!hopper) return all;
  ladder::Problem deep = ladder::make_problem(520, plans ? 270 : 134, 285, 2.0F, -1.0F);
  deep.lda = 287, deep.ldb = deep.n + 5, deep.ldc = deep.n + 7;
  all[0] = {deep, {kFewSms, 0}};
  all.push_back(all[1]);
  all.back().problem.k = 700, all.back().problem.lda = 704;
  all.push_back(
      {ladder::make_problem(520, 136, 336, 2.0F, 0.0F), {kFewSms, 0}});  // pairs, narrower tiles
  all.push_back(
      {ladder::make_problem(520, 264, 328, 2.0F, 0.0F), {kFewSms, 0}});  // blocks in fours
  if (!plans) {
    all.push_back({ladder::make_problem(120, 1096, 328, 2.0F, 0.0F), {kSomeSms, kNoL2}});
    all.push_back({ladder::make_problem(64, 72, 2200, 2.0F, 0.0F), {kFewSms, 0}});
    // The last column is the first of a pair of sums, for every pair of a thread.
    for (std::int64_t n = 1; n < 256; n += 8) {
      for (const float beta : {-1.0F, 0.0F}) {
        ladder::Problem odd = ladder::make_problem(70, n, 72, 2.0F, beta);
        odd.ldb = n + 7, odd.ldc = n + 3;
        all.push_back({odd, {kFewSms, 0}});
      }
    }
    return all;
  }
  // Small tiles, none split along k, whose steps fill the ring of stages more than once.
  all.push_back(all[2]);
  all.back().device = {kMoreSms, 0};
  // So many steps that each part of the main loop comes.
  ladder::Problem rests = ladder::make_problem(500, 464, 392, 2.0F, 0.0F);
  rests.lda = 448, rests.ldb = 512;
  all.push_back({rests, {kSomeSms, kNoL2}});  // pairs, narrower tiles whose rests lie apart
  for (const std::int64_t n : {968, 888}) {   // the same, and of 192 columns, behind others
    ladder::Problem behind = ladder::make_problem(200, n, 392, 2.0F, 0.0F);
    behind.lda = 448, behind.ldb = 1024;
    all.push_back({behind, {kSomeSms, kNoL2}});
  }
  all.push_back(
      {ladder::make_problem(60, 1088, 1280, 2.0F, 0.0F), {kMoreSms, kNoL2}});  // tiles are cut
  all.push_back(
      {ladder::make_problem(120, 248, 1096, 2.0F, 0.0F), {kSomeSms, 0}});  // pairs, a tile each
  all.push_back({ladder::make_problem(136, 1544, 1800, 2.0F, 0.0F),
                 {kPairsSms, kNoL2}});                                   // pairs, tiles are cut
  all.push_back({ladder::make_problem(100, 56, 2176, 2.0F, 0.0F), {}});  // parts within clusters
  all.push_back(
      {ladder::make_problem(60, 64, 12800, 2.0F, 0.0F), {kMoreSms, 0}});  // parts, a second kernel
  return all;
}

// For rungs that split operands into words: a problem or two for each of their kernels.
std::vector<Case> cases_of_words(bool may_fuse) {
  ladder::Problem ragged = ladder::make_problem(133, 163, 285, 2.0F, -1.0F);
  ragged.lda = 287, ragged.ldb = 165, ragged.ldc = 167;
  ladder::Problem turned = ladder::make_problem(67, 132, 450, 2.0F, -1.0F, ladder::Op::kTranspose,
                                                ladder::Op::kTranspose);
  turned.lda = 72, turned.ldb = 452, turned.ldc = 144;
  const ladder::Problem tall =
      ladder::make_problem(300, 139, 264, 2.0F, -1.0F, ladder::Op::kTranspose);
  ladder::Problem flat = ladder::make_problem(67, 300, 264, 2.0F, 0.0F);
  flat.ldc = 304;
  ladder::Problem thin = flat;
  thin.m = 40, thin.k = 328, thin.lda = 328;
  ladder::Problem few = ladder::make_problem(120, 250, 400, 2.0F, -1.0F);
  few.lda = 402, few.ldb = 251, few.ldc = 253;
  const ladder::Problem both_across =
      ladder::make_problem(20, 36, 2120, 2.0F, 0.0F, ladder::Op::kTranspose);
  // Where a fused split is possible, the larger operand has rows that no tensor map takes: two
  // pre-passes.
  ladder::Problem strips = ladder::make_problem(may_fuse ? 304 : 24, 300, 2120, 2.0F, 0.0F);
  if (may_fuse) strips.lda = 2121;
  return {{ragged, {1, 0}},      // tiles one after the other
          {few, {kSomeSms, 0}},  // warpgroups in turns
          {ladder::make_problem(60, 128, 190, 2.0F, 0.0F), {1, 0}},
          {turned, {kFewSms, 0}},  // lines along k and across
          {ladder::make_problem(300, 136, 336, 2.0F, 0.0F), {kSomeSms, 0}},  // tiles are cut
          {tall, {kSomeSms, 0}},
          {flat, {kFewSms, 0}},
          {thin, {kFewSms, 0}},
          {ladder::make_problem(24, 40, 2120, 2.0F, 0.0F),
           {}},              // deeper than registers hold; parts are added
          {strips, {1, 0}},  // strip after strip, past a turn of the ring
          {both_across, {kFewSms, 0}}};
}

}  // namespace

int main(int argc, char** argv) {
  const auto device = ladder::query_device(0);
  if (argc < 2 || !device) {
    std::fprintf(stderr, "usage: mutant_program RUNG [RUN]..., with a CUDA device\n");
    return kUsage;
  }
  const std::vector<std::string> wanted(argv + 2, argv + argc);
  int number = 0, done = 0;
  for (const ladder::KernelInfo& kernel : ladder::kernels()) {
    if (kernel.place != ladder::Place::kCuda || !std::string(kernel.rung).starts_with(argv[1]))
      continue;
    if (kernel.in != kernel.out || kernel.in == ladder::Type::kF16) continue;
    // Of split_bf16's lists of products its first: the others are shorter and longer ones.
    if (kernel.rung == "split_bf16" && kernel.precision != ladder::Precision::kBf16x6) continue;
    const bool words =
                   kernel.precision == ladder::Precision::kFp16x3 || kernel.rung == "split_bf16",
               parts = kernel.rung == "simt_parts";
    const bool plans = std::string(argv[1]) == "tensor_tiles", hopper = device.value().cc >= 90;
    for (const Case& c : words   ? cases_of_words(kernel.rung != "split_bf16")
                         : parts ? cases_of_parts()
                                 : cases(hopper, plans)) {
      if (!kernel.accepts(c.problem, device.value())) continue;
      ++number;
      if (!wanted.empty() && std::ranges::find(wanted, std::to_string(number)) == wanted.end())
        continue;
      ++done;
      ladder::pretended = c.device;
      constexpr int kSecondWord = 1 << 11;  // in fp16 and in bf16
      const bool of_a =
          number % 2 == 0;  // the other one where a case comes again, since their number is odd
      const High high = !words ? High{} : of_a ? High{kSecondWord, 0} : High{0, kSecondWord};
      if (!right(kernel, c.problem, high)) return kWrongResult;
    }
  }
  return done == 0 ? kUsage : 0;
}
