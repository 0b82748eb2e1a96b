// SPDX-License-Identifier: Apache-2.0
// cuBLAS products that repeat: those on unchanged memory are not computed again, and every change
// of what a product reads or wrote is seen. All numbers are small integers, so results are exact.
#include <array>
#include <vector>

#include "blas_matrix.hpp"
#include "reuse_fixture.hpp"

namespace {

constexpr int kSize = 24, kElements = kSize * kSize;
using Values = std::vector<float>;

__global__ void add_one(float* data) { data[threadIdx.x] += 1; }

Values any_values() {
  Values values(kElements);
  for (float& value : values) value = static_cast<float>(any(-3, 3));
  return values;
}

Values product_of(const Values& a, const Values& b, float alpha = 1) {
  Values c(kElements);
  for (int j = 0; j < kSize; ++j) {
    for (int i = 0; i < kSize; ++i) {
      for (int l = 0; l < kSize; ++l)
        c[j * kSize + i] += alpha * a[l * kSize + i] * b[j * kSize + l];
    }
  }
  return c;
}

class Test {
 public:
  Test() { ok(cublasCreate(&blas_)); }

  void multiply(const float* a, const float* b, float* c, float beta = 0, float alpha = 1) {
    ok(cublasSgemm(blas_, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &alpha, a, kSize, b, kSize,
                   &beta, c, kSize));
    require(cudaDeviceSynchronize());
  }

  // What the host writes unseen is still there only if the product was not computed.
  void is_reused() {
    constexpr float kMark = 12345;
    const Values a = any_values(), b = any_values();
    float *const da = upload(a), *const db = upload(b), *const dc = upload(a);
    for (int i = 0; i < 3; ++i) multiply(da, db, dc);
    require(download(dc, kElements) == product_of(a, b), "a product that repeats");
    *dc = kMark;
    multiply(da, db, dc);
    require(*dc == kMark, "a product on unchanged memory is not computed");
    set_reuse(0);
    multiply(da, db, dc);
    require(download(dc, kElements) == product_of(a, b), "without reuse it is computed");
    set_reuse(1);
  }

  void sees_changes() {
    Values a = any_values(), b = any_values();
    float *da = upload(a), *const db = upload(b), *const dc = upload(a);
    const auto check = [&](const char* what) {
      multiply(da, db, dc);
      require(download(dc, kElements) == product_of(a, b), what);
      multiply(da, db, dc);
      require(download(dc, kElements) == product_of(a, b), what);
    };
    check("the first time");
    a[7] = 5;
    require(cudaMemcpy(da + 7, &a[7], sizeof(float), cudaMemcpyHostToDevice));
    check("a copy to A");
    b[0] += 1;
    add_one<<<1, 1>>>(db);
    check("a kernel that writes B");
    require(cudaMemset(dc, 0, sizeof(float)));
    check("a fill of C");
    multiply(da, db, dc, 0, 2);
    check("another product into C");
    multiply(db, db, da);
    a = product_of(b, b);
    check("another product into A");
    require(cudaFree(da));
    a = any_values();
    da = upload(a);
    check("A in other memory");
  }

  void adds_up() {
    Values a = any_values(), b = any_values(), sum(kElements);
    float *const da = upload(a), *const db = upload(b), *const dc = upload(sum);
    for (int i = 0; i < 8; ++i) {
      if (i == 5) {
        a = any_values();
        require(cudaMemcpy(da, a.data(), kElements * sizeof(float), cudaMemcpyHostToDevice));
      }
      multiply(da, db, dc, 1);
      const Values more = product_of(a, b);
      for (int k = 0; k < kElements; ++k) sum[k] += more[k];
      require(download(dc, kElements) == sum, "products that add up");
    }
  }

  void in_place() {
    Values a(kElements), b = any_values();
    for (int i = 0; i < kSize; ++i) a[i * kSize + i] = 1;
    for (int i = 0; i < kElements; ++i) b[i] = i % kSize == (i / kSize + 1) % kSize ? 1.0F : 0.0F;
    float *const da = upload(a), *const db = upload(b);
    for (int i = 0; i < 4; ++i) {
      multiply(da, db, da);
      a = product_of(a, b);
      require(download(da, kElements) == a, "a product into its operand");
    }
  }

  void managed() {
    float* da = nullptr;
    Values a = any_values();
    const Values b = any_values();
    require(cudaMallocManaged(&da, kElements * sizeof(float)));
    float *const db = upload(b), *const dc = upload(a);
    for (int i = 0; i < 4; ++i) {
      a[0] = static_cast<float>(i);
      std::copy(a.begin(), a.end(), da);
      multiply(da, db, dc);
      require(download(dc, kElements) == product_of(a, b), "managed memory that the host changes");
    }
  }

  void arrays() {
    const std::array<Values, 2> a{any_values(), any_values()};
    const Values b = any_values();
    const std::array<const float*, 2> da{upload(a[0]), upload(a[1])};
    const float* const db = upload(b);
    float* const dc = upload(b);
    const float **as = nullptr, **bs = nullptr;
    float** cs = nullptr;
    require(cudaMalloc(&as, sizeof *as));
    require(cudaMalloc(&bs, sizeof *bs));
    require(cudaMalloc(&cs, sizeof *cs));
    require(cudaMemcpy(bs, &db, sizeof *bs, cudaMemcpyHostToDevice));
    require(cudaMemcpy(cs, &dc, sizeof *cs, cudaMemcpyHostToDevice));
    const float one = 1, zero = 0;
    for (int i = 0; i < 6; ++i) {
      if (i % 2 == 0) require(cudaMemcpy(as, &da[i / 2 % 2], sizeof *as, cudaMemcpyHostToDevice));
      ok(cublasSgemmBatched(blas_, CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &one, as, kSize,
                            bs, kSize, &zero, cs, kSize, 1));
      require(download(dc, kElements) == product_of(a[i / 2 % 2], b),
              "another pointer in the array");
    }
  }

 private:
  cublasHandle_t blas_ = nullptr;
};

}  // namespace

int main() {
  skip_on_hardware();
  Test test;
  test.is_reused();
  test.sees_changes();
  test.adds_up();
  test.in_place();
  test.managed();
  test.arrays();
  std::puts("right");
}
