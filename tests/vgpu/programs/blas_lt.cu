// SPDX-License-Identifier: Apache-2.0
// The stand-in for cuBLASLt against products in double precision: types, operations, orders,
// batches and epilogues, on random sizes. What must not be read is NaN, and what must not be
// written keeps its bits. cuBLASLt on hardware need not have every epilogue for every type and
// alignment: which it refuses is printed there.
#include <cublasLt.h>

#include "blas_matrix.hpp"

namespace {

double gelu(double x) {
  return x / 2 *
         (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}
double gelu_slope(double x) {
  const double h = 1e-6;
  return (gelu(x + h) - gelu(x - h)) / (2 * h);
}

template <class T>
void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, T value) {
  ok(cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof value));
}

cublasLtMatrixLayout_t layout_of(const Matrix& matrix) {
  cublasLtMatrixLayout_t layout = nullptr;
  ok(cublasLtMatrixLayoutCreate(&layout, matrix.type, static_cast<std::uint64_t>(matrix.rows),
                                static_cast<std::uint64_t>(matrix.columns), matrix.ld));
  const std::int32_t count = static_cast<std::int32_t>(matrix.batch);
  const std::int64_t stride = matrix.stride;
  const std::int32_t order = matrix.row_major ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
  ok(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                      sizeof count));
  ok(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                      sizeof stride));
  ok(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
  return layout;
}

// Without an algorithm and a workspace.
cublasStatus_t multiply(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                        const Matrix& a, const Matrix& b, const void* beta, const Matrix& c,
                        const Matrix& d) {
  return cublasLtMatmul(handle, desc, alpha, a.device, layout_of(a), b.device, layout_of(b), beta,
                        c.device, layout_of(c), d.device, layout_of(d), nullptr, nullptr, 0,
                        nullptr);
}

constexpr int kGradient = 16, kRelu = 2, kBias = 4, kDrelu = 8, kGelu = 32, kDgelu = 64, kAux = 128;

// The bias and the auxiliary matrix of an epilogue, one batch entry.
struct Extras {
  Matrix bias, aux;
  Extras(const Case& t, int kind, long m, long n)
      : bias(is_fp8(t.a) && t.d != k16F ? k16B
             : t.d == k8I               ? k32F
                                        : t.d,
             kind == CUBLASLT_EPILOGUE_BGRADB ? n : m, 1),
        aux((kind & (kRelu | kDrelu)) != 0 ? k8I : t.d, m, n) {
    const bool mask = (kind & (kRelu | kDrelu)) != 0;
    aux.ld = mask ? (m + 127) / 128 * 128 : (m + 7) / 8 * 8;  // of a mask in bits
    aux.stride = mask ? aux.ld / 8 * n : aux.ld * n;
    cudaFree(aux.device);
    aux.host.assign(static_cast<std::size_t>(aux.bytes()), 0xff);
    require(cudaMalloc(&aux.device, aux.host.size()));
    if (mask)
      for (unsigned char& byte : aux.host) byte = static_cast<unsigned char>(any(0, 255));
    else
      aux.fill();
    aux.upload();
    bias.fill();
  }
  bool bit(long i, long j) const {
    const long at = j * aux.ld + i;
    return (aux.host[static_cast<std::size_t>(at / 8)] >> (at % 8) & 1) != 0;
  }
};

void check_sums(const Case& t, Extras& extras, std::vector<double> want, std::vector<double> error,
                long terms, const char* what) {
  take(extras.bias, what);
  const Format format = format_of(extras.bias.type);
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double got = extras.bias.value(0, static_cast<long>(i), 0);
    const double allowed = error[i] * (1 + static_cast<double>(terms) * t.unit()) +
                           static_cast<double>(terms) * t.unit() * static_cast<double>(terms) * 50 +
                           format.unit * (std::abs(want[i]) + error[i]) + format.least;
    require(std::abs(got - want[i]) <= allowed, what);
  }
}

void check_lt(cublasLtHandle_t handle, const Case& t, int kind) {
  const bool with_epilogue = kind != CUBLASLT_EPILOGUE_DEFAULT;
  // fp8 and 8-bit integers need aligned sizes and the forms that tensor cores have.
  const long unit = t.ld_unit();
  const bool free = unit == 1;
  const long m = any(1, free ? 40 : 3) * unit, n = any(1, 40), k = any(1, free ? 50 : 4) * unit;
  const long batch = with_epilogue ? 1 : any(1, 3);
  const auto op_a = free ? any_op() : CUBLAS_OP_T, op_b = free ? any_op() : CUBLAS_OP_N;
  const auto by_rows = [&] { return free && !with_epilogue && any(0, 1) != 0; };
  Matrix a = operand(t.a, op_a, m, k, unit, batch, by_rows());
  Matrix b = operand(t.b, op_b, k, n, unit, batch, by_rows());
  const bool result_by_rows = by_rows();
  Matrix c(t.c, m, n, unit, batch, result_by_rows), d(t.d, m, n, unit, batch, result_by_rows);
  const Scalars s = any_scalars(t);
  a.fill(), b.fill(), c.upload(), d.upload();
  if (s.beta_value != 0) c.fill();
  Extras extras(t, kind, m, n);
  cublasLtMatmulDesc_t desc = nullptr;
  ok(cublasLtMatmulDescCreate(&desc, t.compute, t.scale));
  set(desc, CUBLASLT_MATMUL_DESC_TRANSA, op_a);
  set(desc, CUBLASLT_MATMUL_DESC_TRANSB, op_b);
  set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<cublasLtEpilogue_t>(kind));
  if ((kind & (kBias | kGradient | CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB)) != 0)
    set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, extras.bias.device);
  if ((kind & kAux) != 0) {
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, extras.aux.device);
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{extras.aux.ld});
  }
  const auto la = layout_of(a), lb = layout_of(b), lc = layout_of(c), ld = layout_of(d);
  cublasLtMatmulPreference_t preference = nullptr;
  ok(cublasLtMatmulPreferenceCreate(&preference));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const std::string what = "cublasLtMatmul, types " + std::to_string(t.a) + " to " +
                           std::to_string(t.d) + ", epilogue " + std::to_string(kind);
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, ld, preference, 1, &found, &count);
  const auto destroy = [&] {
    for (const auto layout : {la, lb, lc, ld}) ok(cublasLtMatrixLayoutDestroy(layout));
    ok(cublasLtMatmulPreferenceDestroy(preference));
    ok(cublasLtMatmulDescDestroy(desc));
  };
  if (with_epilogue && is_integer(t.a)) {
    require(!on_virtual_gpu() || status == CUBLAS_STATUS_NOT_SUPPORTED ||
                status == CUBLAS_STATUS_INVALID_VALUE,
            (what + ", of integers: " + cublasGetStatusName(status)).c_str());
    return destroy();
  }
  // cuBLASLt 13.0 accepts one row with a gradient of A, and does not write D.
  if (!on_virtual_gpu() && kind == CUBLASLT_EPILOGUE_BGRADA && m == 1) return destroy();
  const auto refused = [&](cublasStatus_t by) {
    if (!with_epilogue || on_virtual_gpu()) return false;
    if (by == CUBLAS_STATUS_SUCCESS && count != 0) return false;
    std::printf("%s, compute %d, %ld x %ld x %ld, ld %ld: %s\n", what.c_str(), t.compute, m, n, k,
                d.ld, cublasGetStatusName(by));
    destroy();
    return true;
  };
  if (refused(status)) return;
  ok(status, what);
  require(count == 1 && found.state == CUBLAS_STATUS_SUCCESS &&
              (found.workspaceSize == 0 || !on_virtual_gpu()),
          (what + ": " + std::to_string(count) + " algorithms, " +
           cublasGetStatusName(found.state) + ", workspace " + std::to_string(found.workspaceSize))
              .c_str());
  void* workspace = nullptr;
  if (found.workspaceSize != 0) require(cudaMalloc(&workspace, found.workspaceSize));
  const cublasStatus_t done =
      cublasLtMatmul(handle, desc, s.alpha, a.device, la, b.device, lb, s.beta, c.device, lc,
                     d.device, ld, &found.algo, workspace, found.workspaceSize, nullptr);
  require(cudaFree(workspace));
  if (refused(done)) return;
  ok(done, what);
  // How an epilogue rounds is not documented: it may begin with numbers of D's type, and have GELU
  // by an approximate tanh.
  const double slack = on_virtual_gpu() ? 0 : 4 * format_of(t.d).unit,
               gelu_slack = on_virtual_gpu() ? 0 : 0x1p-10;
  take(d, what);
  const std::vector<unsigned char> aux_before = extras.aux.host;
  for (long entry = 0; entry < batch; ++entry) {
    Exact x = exact(t, op_a, op_b, a, b, c, s.alpha_value, s.beta_value, entry);
    if (kind == CUBLASLT_EPILOGUE_BGRADA || kind == CUBLASLT_EPILOGUE_BGRADB) {
      const bool of_a = kind == CUBLASLT_EPILOGUE_BGRADA;
      std::vector<double> want(static_cast<std::size_t>(of_a ? m : n)), none(want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        for (long l = 0; l < k; ++l)
          want[i] += of_a ? op(a, op_a, 0, static_cast<long>(i), l)
                          : op(b, op_b, 0, l, static_cast<long>(i));
        none[i] = t.input_rounding * static_cast<double>(k);
      }
      check_sums(t, extras, want, none, k, "a gradient of an operand");
    }
    if ((kind & kAux) != 0 && (kind & (kDrelu | kDgelu)) == 0 && with_epilogue)
      require(cudaMemcpy(extras.aux.host.data(), extras.aux.device, extras.aux.host.size(),
                         cudaMemcpyDeviceToHost));
    std::vector<double> sums(static_cast<std::size_t>(m)), errors(sums.size());
    for (long j = 0; j < n; ++j) {
      for (long i = 0; i < m; ++i) {
        double &v = x.v(i, j), &e = x.e(i, j);
        if (with_epilogue && (kind & kBias) != 0) {
          const double bias = extras.bias.value(0, i, 0);
          v += bias;
          e += (2 * t.unit() + slack) * (2 * std::abs(v) + std::abs(bias));
        }
        if (with_epilogue && (kind & kRelu) != 0 && kind < kGelu + kAux) {
          if ((kind & kAux) != 0 && std::abs(v) > e)
            require(extras.bit(i, j) == (v > 0), "a bit of the mask");
          v = std::max(v, 0.0);
        } else if ((kind & kGelu) != 0) {
          // What cuBLASLt stores where D is FP8 is not documented.
          if ((kind & kAux) != 0 && (on_virtual_gpu() || !is_fp8(t.d))) {
            const Format format = format_of(extras.aux.type);
            require(std::abs(extras.aux.value(0, i, j) - v) <=
                        e + format.unit * (std::abs(v) + e) + format.least,
                    (what + ": an element in front of GELU").c_str());
          }
          v = gelu(v);
          e = 1.2 * e + (32 * t.unit() + slack + gelu_slack) * (1 + std::abs(v));
        } else if ((kind & kDrelu) != 0) {
          if (!extras.bit(i, j)) v = e = 0;
        } else if ((kind & kDgelu) != 0) {
          const double slope = gelu_slope(extras.aux.value(0, i, j));
          e = 1.2 * e + (32 * t.unit() + 1e-8 + slack + gelu_slack) * std::abs(v);
          v *= slope;
        }
        sums[static_cast<std::size_t>(i)] += v;
        errors[static_cast<std::size_t>(i)] += e + slack * std::abs(v);
      }
    }
    require(is_near(d, entry, x), (what + ", " + std::to_string(m) + " x " + std::to_string(n) +
                                   " x " + std::to_string(k))
                                      .c_str());
    if ((kind & (kDrelu | kDgelu)) != 0 && (kind & kGradient) != 0)
      check_sums(t, extras, sums, errors, n, "the gradient of the bias");
  }
  if ((kind & (kDrelu | kDgelu)) != 0) require(extras.aux.host == aux_before, "aux is read only");
  destroy();
}

void check_products(cublasLtHandle_t handle) {
  constexpr int kRounds = 8;
  constexpr int kEpilogues[] = {1,  2,   130, 4,   6,   134, 136, 152,
                                32, 160, 36,  164, 192, 208, 256, 512};
  for (const Case& t : kCases) {
    for (int i = 0; i < kRounds; ++i) check_lt(handle, t, CUBLASLT_EPILOGUE_DEFAULT);
    for (const int kind : kEpilogues) check_lt(handle, t, kind);
  }
}

// fp8's scales and the largest magnitude.
void check_scales(cublasLtHandle_t handle) {
  const float one = 1, zero = 0;
  Matrix x(kE4, 16, 16, 16), y(kE4, 16, 16, 16), z(kE4, 16, 16, 16), half(k16B, 16, 16, 16);
  x.fill(), y.fill(), z.upload(), half.upload();
  constexpr int kApart = 4;  // for their alignment
  std::vector<float> host = {2, 0, 0, 0, 4, 0, 0, 0, 0.5f};
  host.resize(4 * kApart);
  float* const scales = upload(host);
  cublasLtMatmulDesc_t desc = nullptr;
  ok(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, k32F));
  set(desc, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
  set(desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales);
  set(desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scales + kApart);
  set(desc, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, scales);  // of a wider C that is not read
  set(desc, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, scales + 2 * kApart);
  set(desc, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, scales + 3 * kApart);
  const cublasStatus_t done = multiply(handle, desc, &one, x, y, &zero, half, z);
  if (!on_virtual_gpu() && done == CUBLAS_STATUS_NOT_SUPPORTED) {
    std::puts("fp8 with scales is not supported");
    return;
  }
  ok(done, "fp8 with scales");
  take(z, "fp8 with scales");
  const Case t{kE4, kE4, k16B, kE4, CUBLAS_COMPUTE_32F, k32F, 0};
  Exact wanted = exact(t, CUBLAS_OP_T, CUBLAS_OP_N, x, y, half, 4, 0, 0);
  require(is_near(z, 0, wanted), "2 * 4 * 0.5 times the product");
  double largest = 0;
  for (const double value : wanted.value) largest = std::max(largest, std::abs(value) * 2);
  require(std::abs(download(scales, host.size())[3 * kApart] - largest) <= 1e-5 * largest,
          "the largest magnitude before D's scale");
  if (!on_virtual_gpu()) return;
  require(multiply(handle, desc, &one, x, y, &one, half, z), CUBLAS_STATUS_NOT_SUPPORTED,
          "a scale of a wider C that is read");
}

// alpha by rows; what is refused.
void check_special(cublasLtHandle_t handle) {
  const float one = 1, zero = 0, two = 2;
  Matrix p(k32F, 4, 3), q(k32F, 3, 2), r(k32F, 4, 2), alphas(k32F, 4, 1);
  p.fill(), q.fill(), r.upload(), alphas.fill();
  cublasLtMatmulDesc_t rows = nullptr;
  ok(cublasLtMatmulDescCreate(&rows, CUBLAS_COMPUTE_32F, k32F));
  set(rows, CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO);
  const cublasStatus_t by_row = multiply(handle, rows, alphas.device, p, q, nullptr, r, r);
  if (on_virtual_gpu() || by_row != CUBLAS_STATUS_NOT_SUPPORTED) ok(by_row, "alpha by rows");
  take(r, "alpha by rows");
  const Case plain{k32F, k32F, k32F, k32F, CUBLAS_COMPUTE_32F, k32F, 0};
  Exact by_rows = exact(plain, CUBLAS_OP_N, CUBLAS_OP_N, p, q, r, 1, 0, 0);
  for (long i = 0; i < 4; ++i) {
    for (long j = 0; j < 2; ++j) by_rows.v(i, j) *= alphas.value(0, i, 0);
  }
  if (by_row == CUBLAS_STATUS_SUCCESS) require(is_near(r, 0, by_rows), "alpha by rows");

  // Refused by name, and wrong arguments.
  set(rows, CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_HOST);
  require(multiply(handle, rows, &one, p, r, &two, r, r), CUBLAS_STATUS_INVALID_VALUE,
          "shapes that do not fit");
  set(rows, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  require(multiply(handle, rows, &one, p, q, &zero, r, r), CUBLAS_STATUS_INVALID_VALUE, "no bias");
  set(rows, CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_UPPER);
  require(!on_virtual_gpu() ||
              multiply(handle, rows, &one, p, q, &zero, r, r) == CUBLAS_STATUS_NOT_SUPPORTED,
          "a triangle of D");
  // Scales come with FP4: not they are what is refused.
  set(rows, CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_FULL);
  set(rows, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  set(rows, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, alphas.device);
  cublasLtMatrixLayout_t fp4 = nullptr;
  ok(cublasLtMatrixLayoutCreate(&fp4, CUDA_R_4F_E2M1, 4, 3, 4), "a layout of FP4");
  require(!on_virtual_gpu() ||
              cublasLtMatmul(handle, rows, &one, p.device, fp4, q.device, layout_of(q), &zero,
                             r.device, layout_of(r), r.device, layout_of(r), nullptr, nullptr, 0,
                             nullptr) == CUBLAS_STATUS_NOT_SUPPORTED,
          "FP4");
}

// What the documentation of epilogues and of C excludes.
void check_documented(cublasLtHandle_t handle) {
  const float one = 1, half = 0.5f;
  Matrix a(k32F, 8, 8), b(k32F, 8, 8), c(k32F, 8, 8), d(k32F, 8, 8), bias(k32F, 8, 1);
  a.fill(), b.fill(), c.fill(), d.fill(), bias.fill();
  struct Setting {
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    std::int64_t aux_ld = 8;
    std::int32_t aux_type = -1;
    bool scaled = false;
  };
  const auto status = [&](const Setting& setting, const Matrix& in, const Matrix& out) {
    cublasLtMatmulDesc_t desc = nullptr;
    ok(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, k32F));
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, setting.epilogue);
    set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.device);
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, d.device);
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, setting.aux_ld);
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, setting.aux_type);
    if (setting.scaled) set(desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, bias.device);
    const cublasStatus_t result = multiply(handle, desc, &one, a, b, &half, in, out);
    ok(cublasLtMatmulDescDestroy(desc));
    return result;
  };
  Matrix by_rows(k32F, 8, 8, 1, 1, true), result(k32F, 8, 8);
  by_rows.fill(), result.fill();
  const auto refused = [](cublasStatus_t found) {
    return found == CUBLAS_STATUS_NOT_SUPPORTED || found == CUBLAS_STATUS_INVALID_VALUE;
  };
  require(refused(status({}, by_rows, result)), "C and D have one order");
  require(refused(status({CUBLASLT_EPILOGUE_GELU_BIAS}, by_rows, by_rows)),
          "GELU with a bias, D by rows");
  require(refused(status({CUBLASLT_EPILOGUE_GELU_AUX, 12}, c, result)),
          "the leading dimension of GELU's input is a multiple of 8");
  require(refused(status({CUBLASLT_EPILOGUE_RELU_AUX, 64}, c, result)),
          "the leading dimension of the mask is a multiple of 128");
  require(refused(status({CUBLASLT_EPILOGUE_GELU_AUX, 8, k16F}, c, result)),
          "the type of GELU's input is D's");
  require(refused(status({CUBLASLT_EPILOGUE_DEFAULT, 8, -1, true}, c, result)),
          "only narrow types have scales");

  // A leading dimension of 0 repeats C's first column, where cuBLASLt accepts it.
  Matrix column(k32F, 8, 8);
  column.fill();
  column.ld = 0;
  const cublasStatus_t repeated = status({}, column, result);
  if (!on_virtual_gpu() && repeated != CUBLAS_STATUS_SUCCESS) return;
  ok(repeated, "C's first column");
  take(result, "C's first column");
  const Case plain{k32F, k32F, k32F, k32F, CUBLAS_COMPUTE_32F, k32F, 0};
  Exact wanted = exact(plain, CUBLAS_OP_N, CUBLAS_OP_N, a, b, column, 1, half, 0);
  require(is_near(result, 0, wanted), "C's first column");
}

void check_transform(cublasLtHandle_t handle) {
  Matrix a(k16F, 6, 4, 1, 2, true), c(k32F, 4, 6, 1, 2);
  a.fill(), c.upload();
  const float two = 2, zero = 0;
  cublasLtMatrixTransformDesc_t desc = nullptr;
  ok(cublasLtMatrixTransformDescCreate(&desc, k32F));
  const cublasOperation_t transpose = CUBLAS_OP_T;
  ok(cublasLtMatrixTransformDescSetAttribute(desc, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA,
                                             &transpose, sizeof transpose));
  ok(cublasLtMatrixTransform(handle, desc, &two, a.device, layout_of(a), &zero, nullptr, nullptr,
                             c.device, layout_of(c), nullptr));
  take(c, "cublasLtMatrixTransform");
  for (long e = 0; e < 2; ++e) {
    for (long i = 0; i < 4; ++i) {
      for (long j = 0; j < 6; ++j)
        require(c.value(e, i, j) == 2 * a.value(e, j, i), "twice the transposed matrix");
    }
  }
}

// What a program does that looks for the fastest algorithm.
void check_algorithms(cublasLtHandle_t handle) {
  int ids[8] = {}, count = 0;
  ok(cublasLtMatmulAlgoGetIds(handle, CUBLAS_COMPUTE_32F, k32F, k32F, k32F, k32F, k32F, 8, ids,
                              &count));
  require(count >= 1, "an algorithm");
  cublasLtMatmulAlgo_t algorithm;
  ok(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, k32F, k32F, k32F, k32F, k32F, ids[0],
                            &algorithm));
  require(cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, k32F, k32F, k32F, k32F, k32F, -1,
                                 &algorithm) != CUBLAS_STATUS_SUCCESS,
          "an id that is none");
  std::size_t bytes = 0;
  ok(cublasLtMatmulAlgoCapGetAttribute(&algorithm, CUBLASLT_ALGO_CAP_TILE_IDS, nullptr, 0, &bytes),
     "the size of the list of tiles");
  std::vector<std::uint32_t> tiles(bytes / 4);
  if (bytes != 0) {
    ok(cublasLtMatmulAlgoCapGetAttribute(&algorithm, CUBLASLT_ALGO_CAP_TILE_IDS, tiles.data(),
                                         bytes, &bytes));
  }
  require(tiles.size() == bytes / 4, "the size that was said");
  std::int32_t able = -1;
  ok(cublasLtMatmulAlgoCapGetAttribute(&algorithm, CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT, &able,
                                       sizeof able, &bytes),
     "whether it has batches");
  require(able != -1 && bytes == sizeof able, "whether it has batches");
  require(cublasLtMatmulAlgoCapGetAttribute(&algorithm, CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT,
                                            &able, 1, &bytes),
          CUBLAS_STATUS_INVALID_VALUE, "a value that is too short");

  const std::int32_t splits = 2;
  std::int32_t found = 0, id = -1;
  ok(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &splits,
                                          sizeof splits));
  ok(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &found,
                                          sizeof found, nullptr));
  require(found == splits, "the configuration is kept");
  ok(cublasLtMatmulAlgoConfigGetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id,
                                          &bytes));
  require(id == ids[0] && bytes == sizeof id, "the id");
  require(cublasLtMatmulAlgoConfigSetAttribute(&algorithm, CUBLASLT_ALGO_CONFIG_ID, &id, sizeof id),
          CUBLAS_STATUS_INVALID_VALUE, "the id can only be read");
}

}  // namespace

int main() {
  const auto part = [](const char* name, void (*check)(cublasLtHandle_t)) {
    run_part(name, [check] {
      cublasLtHandle_t lt = nullptr;
      ok(cublasLtCreate(&lt));
      check(lt);
      ok(cublasLtDestroy(lt));
    });
  };
  part("products", check_products);
  part("scales", check_scales);
  part("special", check_special);
  part("documented", check_documented);
  part("transform", check_transform);
  part("algorithms", check_algorithms);
}
