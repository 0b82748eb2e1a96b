// SPDX-License-Identifier: Apache-2.0
// The standard names: values in every layout and transposition, wrong arguments reported by their
// number, products after a fork and without memory.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

extern "C" {
void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);

// The program's own error handler, as a BLAS would define it.
static int reported = 0;
__attribute__((visibility("default"))) void cblas_xerbla(int argument, const char*, const char*,
                                                         ...) {
  reported = argument;
}
__attribute__((visibility("default"))) void xerbla_(const char*, const int* argument, std::size_t) {
  reported = *argument;
}
}

namespace {

constexpr int kRowMajor = 101, kColMajor = 102, kNoTrans = 111, kTrans = 112, kConjTrans = 113;
constexpr int m = 5, n = 7, k = 3, ld = 9;

float value(int i, int j) { return static_cast<float>((i * 3 + j * 5) % 7 - 3); }

// index of element (i, j) of a matrix with the given order, transposed or not
std::size_t at(int order, bool transposed, int i, int j) {
  return (order == kRowMajor) != transposed ? i * ld + j : j * ld + i;
}

std::vector<float> stored(int order, bool transposed, int rows, int cols, int seed) {
  std::vector<float> out(ld * ld, 100.0F);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) out[at(order, transposed, i, j)] = value(i + seed, j);
  }
  return out;
}

void check(int order, bool ta, bool tb, const std::vector<float>& c) {
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += value(i + 1, l) * value(l + 2, j);
      ASSERT_EQ(c[at(order, false, i, j)], 2 * sum - value(i + 3, j))
          << order << ta << tb << " (" << i << ", " << j << ")";
    }
  }
}

TEST(Cblas, EveryLayoutAndTransposition) {
  for (const int order : {kRowMajor, kColMajor}) {
    for (const int ta : {kNoTrans, kTrans, kConjTrans}) {
      for (const int tb : {kNoTrans, kTrans, kConjTrans}) {
        const auto a = stored(order, ta != kNoTrans, m, k, 1),
                   b = stored(order, tb != kNoTrans, k, n, 2);
        auto c = stored(order, false, m, n, 3);
        cblas_sgemm(order, ta, tb, m, n, k, 2.0F, a.data(), ld, b.data(), ld, -1.0F, c.data(), ld);
        check(order, ta != kNoTrans, tb != kNoTrans, c);
      }
    }
  }
}

TEST(Cblas, Fortran) {
  const float alpha = 2, beta = -1;
  for (const char* ta : {"N", "t", "C"}) {
    for (const char* tb : {"n", "T", "c"}) {
      const bool at = *ta != 'N', bt = *tb != 'n';
      const auto a = stored(kColMajor, at, m, k, 1), b = stored(kColMajor, bt, k, n, 2);
      auto c = stored(kColMajor, false, m, n, 3);
      sgemm_(ta, tb, &m, &n, &k, &alpha, a.data(), &ld, b.data(), &ld, &beta, c.data(), &ld);
      check(kColMajor, at, bt, c);
    }
  }
}

// Arguments are numbered as in the reference BLAS.
TEST(Cblas, WrongArgumentsAreReportedAndCIsNotTouched) {
  const struct {
    int order, ta, tb, m, n, k, lda, ldb, ldc, argument;
  } cases[] = {
      {100, kNoTrans, kNoTrans, 2, 2, 2, 2, 2, 2, 1},
      {kRowMajor, 0, kNoTrans, 2, 2, 2, 2, 2, 2, 2},
      {kRowMajor, kNoTrans, 0, 2, 2, 2, 2, 2, 2, 3},
      {kRowMajor, kNoTrans, kNoTrans, -1, 2, 2, 2, 2, 2, 4},
      {kRowMajor, kNoTrans, kNoTrans, 2, -1, 2, 2, 2, 2, 5},
      {kRowMajor, kNoTrans, kNoTrans, 2, 2, -1, 2, 2, 2, 6},
      {kRowMajor, kNoTrans, kNoTrans, 1, 2, 3, 2, 2, 2, 9},
      {kRowMajor, kNoTrans, kNoTrans, 2, 3, 2, 2, 2, 3, 11},
      {kRowMajor, kNoTrans, kNoTrans, 2, 3, 2, 2, 3, 2, 14},
      {kColMajor, kTrans, kNoTrans, 1, 2, 3, 2, 3, 2, 9},
      // If several are wrong, the first in the reference's order, which exchanges the operands of a
      // row-major product.
      {kRowMajor, kNoTrans, kNoTrans, -1, -1, 2, 2, 2, 2, 5},
      {kColMajor, kNoTrans, kNoTrans, -1, -1, 2, 2, 2, 2, 4},
      {kRowMajor, kNoTrans, kNoTrans, 2, 3, 3, 2, 2, 3, 11},
      {kColMajor, kNoTrans, kNoTrans, 3, 2, 3, 2, 2, 3, 9},
  };
  for (const auto& wrong : cases) {
    const std::vector<float> a(16, 1.0F), b(16, 1.0F);
    std::vector<float> c(16, 5.0F);
    reported = 0;
    cblas_sgemm(wrong.order, wrong.ta, wrong.tb, wrong.m, wrong.n, wrong.k, 1.0F, a.data(),
                wrong.lda, b.data(), wrong.ldb, 0.0F, c.data(), wrong.ldc);
    EXPECT_EQ(reported, wrong.argument);
    EXPECT_EQ(c, std::vector<float>(16, 5.0F));
  }
  const float one = 1;
  const int bad = -1, two = 2;
  std::vector<float> x(16, 1.0F);
  reported = 0;
  sgemm_("N", "N", &two, &bad, &two, &one, x.data(), &two, x.data(), &two, &one, x.data(), &two);
  EXPECT_EQ(reported, 4);
}

// A module with its own BLAS: that BLAS reports the error.
TEST(Cblas, WrongArgumentsOfAModuleGoToItsBlas) {
  void* module = dlopen(WRONG_ARGUMENT_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(module, nullptr) << dlerror();
  const auto call = reinterpret_cast<int (*)()>(dlsym(module, "call_with_wrong_arguments"));
  reported = 0;
  EXPECT_EQ(call(), 2);
  EXPECT_EQ(reported, 0);
}

// Large enough for all threads and for packed panels. Sums of small integers are exact in any
// order.
constexpr int kSide = 384;

bool product_is_right() {
  const std::size_t elements = std::size_t{kSide} * kSide;
  std::vector<float> a(elements), b(elements), c(elements, 1.0F);
  for (std::size_t i = 0; i < elements; ++i)
    a[i] = static_cast<float>(i % 5), b[i] = static_cast<float>(i % 7);
  cblas_sgemm(kRowMajor, kNoTrans, kTrans, kSide, kSide, kSide, 1.0F, a.data(), kSide, b.data(),
              kSide, 1.0F, c.data(), kSide);
  for (int i = 0; i < kSide; i += 37) {
    for (int j = 0; j < kSide; ++j) {
      float sum = 1;
      for (int l = 0; l < kSide; ++l) sum += a[i * kSide + l] * b[j * kSide + l];
      if (c[i * kSide + j] != sum) return false;
    }
  }
  return true;
}

// Whether `work` returns true in a child process, which is killed if it hangs.
template <class Work>
bool in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST(Cblas, ForkAfterUse) {
  ASSERT_TRUE(product_is_right());
  EXPECT_TRUE(in_child(product_is_right));
  EXPECT_TRUE(in_child(
      [] { return product_is_right() && in_child(product_is_right) && product_is_right(); }));
  EXPECT_TRUE(product_is_right());
}

TEST(Cblas, ForkWhileAnotherThreadMultiplies) {
  ASSERT_TRUE(product_is_right());
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i) {
    others.emplace_back([&] {
      while (!stop) wrong += product_is_right() ? 0 : 1;
    });
  }
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(in_child(product_is_right)) << i;
  stop = true;
  for (std::thread& other : others) other.join();
  EXPECT_EQ(wrong, 0);
}

// Limits the address space of a child to what it has, plus a number of bytes.
bool with_little_memory(std::size_t bytes) {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  const bool known = file != nullptr && std::fscanf(file, "%ld", &pages) == 1;
  if (file != nullptr) std::fclose(file);
  const rlim_t limit =
      static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit both{limit, limit};
  return known && setrlimit(RLIMIT_AS, &both) == 0;
}

// A thread's stack takes 8 MiB, the operands 1.7.
TEST(Cblas, GoesOnWithoutThreads) {
  EXPECT_TRUE(in_child([] { return with_little_memory(6 << 20) && product_is_right(); }));
}

TEST(Cblas, GoesOnWithoutMemoryForPanels) {
  EXPECT_TRUE(in_child([] {
    // B is transposed, so that it is packed. All elements are 1: every sum is k.
    constexpr int kRows = 32, kCols = 512, kDepth = 1024;
    static float a[kRows * kDepth], b[kCols * kDepth], c[kRows * kCols];
    std::ranges::fill(a, 1.0F);
    std::ranges::fill(b, 1.0F);
    if (!with_little_memory(0)) return false;
    void* volatile last = nullptr;  // so that the compiler cannot remove it
    do last = std::malloc(64);
    while (last != nullptr);
    cblas_sgemm(kRowMajor, kNoTrans, kTrans, kRows, kCols, kDepth, 1.0F, a, kDepth, b, kDepth, 0.0F,
                c, kCols);
    return std::ranges::count(c, float{kDepth}) == kRows * kCols;
  }));
}

}  // namespace
