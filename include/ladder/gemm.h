/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of libladder: C = alpha op(A) op(B) + beta C for FP32 matrices in the memory of a
 * GPU, with batches and an epilogue, and for 16-bit and 8-bit matrices (ladder_gemm_typed()).
 * docs/library/c-api.md is its manual.
 *
 * Every function returns a status. It never prints and never ends the program. A failing function
 * leaves a text that names the argument and the rule: ladder_last_error(). A call that is refused
 * (LADDER_STATUS_INVALID_ARGUMENT, _NOT_SUPPORTED, _WORKSPACE_TOO_SMALL) has enqueued nothing.
 * CUDA errors that another library's call left are neither reported nor cleared. */
#ifndef LADDER_GEMM_H
#define LADDER_GEMM_H
#include <stddef.h>
#include <stdint.h>

#define LADDER_VERSION_MAJOR 0
#define LADDER_VERSION_MINOR 1
#define LADDER_VERSION_PATCH 0
#define LADDER_API __attribute__((visibility("default")))

#ifdef __cplusplus
#define LADDER_INT : int /* values outside of an enumeration are refused, hence must be defined */
extern "C" {
#else
#define LADDER_INT
#endif

typedef struct ladder_context* ladder_handle;
struct CUstream_st; /* cudaStream_t is a pointer to it; the CUDA headers are not needed */

typedef enum ladder_status LADDER_INT {
  LADDER_STATUS_OK = 0,
  LADDER_STATUS_INVALID_ARGUMENT = 1,    /* an argument breaks a rule of this file */
  LADDER_STATUS_NOT_SUPPORTED = 2,       /* a valid call that no kernel computes on this GPU */
  LADDER_STATUS_WORKSPACE_TOO_SMALL = 3, /* the caller's workspace; the text says the bytes */
  LADDER_STATUS_OUT_OF_MEMORY = 4,
  LADDER_STATUS_EXECUTION_FAILED = 5, /* the CUDA runtime refused the work */
  LADDER_STATUS_NO_DEVICE = 6,        /* no CUDA device, or not the handle's device is current */
  LADDER_STATUS_INTERNAL = 7,
} ladder_status;

typedef enum ladder_layout LADDER_INT {
  LADDER_ROW_MAJOR = 0,
  LADDER_COL_MAJOR = 1,
} ladder_layout;
/* The conjugate of a real matrix is the matrix: both transpose. */
typedef enum ladder_op LADDER_INT {
  LADDER_OP_N = 0,
  LADDER_OP_T = 1,
  LADDER_OP_C = 2,
} ladder_op;

/* How products are computed. All results are FP32. IEEE: every product and sum is an FP32
 * operation. AUTO: the fastest whose error bound for the given operands is no larger than IEEE's.
 * TF32: operands in tf32 (10 bits of mantissa). The others emulate FP32: operands are split into
 * terms of the named type, and the number after the X says how many products of terms are added. */
typedef enum ladder_precision LADDER_INT {
  LADDER_PRECISION_DEFAULT = 0, /* the handle's: ladder_set_precision(), at first IEEE */
  LADDER_PRECISION_IEEE = 1,
  LADDER_PRECISION_AUTO = 2,
  LADDER_PRECISION_TF32 = 3,
  LADDER_PRECISION_TF32X3 = 4,
  LADDER_PRECISION_BF16X3 = 5,
  LADDER_PRECISION_BF16X6 = 6,
  LADDER_PRECISION_BF16X9 = 7,
  LADDER_PRECISION_FP16X3 = 8,
} ladder_precision;

/* Where alpha and beta are. On the device they are read when the kernels run. */
typedef enum ladder_pointer_mode LADDER_INT {
  LADDER_POINTER_MODE_HOST = 0,
  LADDER_POINTER_MODE_DEVICE = 1,
} ladder_pointer_mode;

/* DETERMINISTIC: the same call gives the same bits each time. Every kernel does so today; the flag
 * makes it a demand. BATCH_INVARIANT: besides, a row of C has the same bits whatever m, n and the
 * number of batches are; IEEE, or AUTO, which is IEEE then. */
enum { LADDER_DETERMINISTIC = 1u, LADDER_BATCH_INVARIANT = 2u };

typedef enum ladder_activation LADDER_INT {
  LADDER_ACTIVATION_NONE = 0,
  LADDER_ACTIVATION_RELU = 1,      /* NaN stays NaN */
  LADDER_ACTIVATION_GELU = 2,      /* x (1 + erf(x / sqrt 2)) / 2 */
  LADDER_ACTIVATION_GELU_TANH = 3, /* its approximation by tanh */
} ladder_activation;

typedef enum ladder_bias LADDER_INT {
  LADDER_BIAS_NONE = 0,
  LADDER_BIAS_PER_ROW = 1,    /* m elements: one is added to each row of C */
  LADDER_BIAS_PER_COLUMN = 2, /* n elements */
} ladder_bias;

/* C = scale activation(alpha op(A) op(B) + beta C + bias) + residual. */
typedef struct ladder_epilogue {
  ladder_activation activation;
  ladder_bias bias_kind;
  const float* bias;     /* on the device */
  int64_t bias_stride;   /* elements between the biases of a batch; 0: all share one */
  const float* residual; /* on the device, null: none; m x n in the layout of C; not C itself */
  int64_t ld_residual;
  int64_t residual_stride;
  float scale;
} ladder_epilogue;

/* One call. ladder_gemm_call_init() fills in row-major, no operation, one product, the handle's
 * precision and no epilogue. op(A) is m x k, op(B) is k x n, C is m x n. A row-major matrix has its
 * element (i, j) at i * ld + j, a column-major one at i + j * ld. As in BLAS, C is not read where
 * beta is 0, nor are A and B where k or alpha is 0. A, B and C are on the handle's device, aligned
 * to 4 bytes. C overlaps neither A nor B, which is not checked. */
typedef struct ladder_gemm_call {
  size_t struct_size; /* ladder_gemm_call_init() sets it; later versions only append members */
  ladder_layout layout;
  ladder_op op_a, op_b;
  ladder_precision precision;
  uint32_t flags;
  int64_t m, n, k;
  const float* alpha; /* where the handle's pointer mode says */
  const float* beta;
  const float* a;
  const float* b;
  float* c;
  int64_t lda, ldb, ldc;
  /* A batch: number i starts i strides behind the pointer. A stride of 0 shares A or B. */
  int64_t batch_count;
  int64_t stride_a, stride_b, stride_c;
  /* Instead of a, b, c and strides: batch_count pointers each, all three in host memory or all in
   * device memory. On the device they are read when the kernels run: IEEE and AUTO only. */
  const float* const* a_pointers;
  const float* const* b_pointers;
  float* const* c_pointers;
  ladder_epilogue epilogue;
} ladder_gemm_call;

/* What a call would do. */
typedef struct ladder_gemm_plan {
  size_t struct_size;         /* set it to sizeof(ladder_gemm_plan) */
  ladder_precision precision; /* AUTO, or the one that is used */
  int deterministic, batch_invariant;
  size_t workspace_bytes; /* what the call takes of a workspace */
  char kernel[64];        /* as `ladder list` names it */
  char why[256];          /* why this kernel */
  char details[512];      /* tiles and splits as "name: value; ..." */
} ladder_gemm_plan;

/* Creates a handle for the current device: loads the kernels and obtains the handle's memory, so
 * that no call does either; the very first call may be captured into a graph. Not to be called
 * while a stream is being captured in global mode. */
LADDER_API ladder_status ladder_create(ladder_handle* handle);
/* Null is allowed. The handle's work must have ended, and its graphs must not be launched again. */
LADDER_API ladder_status ladder_destroy(ladder_handle handle);

/* The stream of the following calls; at first the default stream. */
LADDER_API ladder_status ladder_set_stream(ladder_handle handle, struct CUstream_st* stream);
LADDER_API ladder_status ladder_get_stream(ladder_handle handle, struct CUstream_st** stream);
LADDER_API ladder_status ladder_set_pointer_mode(ladder_handle handle, ladder_pointer_mode mode);
LADDER_API ladder_status ladder_get_pointer_mode(ladder_handle handle, ladder_pointer_mode* mode);
LADDER_API ladder_status ladder_set_precision(ladder_handle handle, ladder_precision precision);
LADDER_API ladder_status ladder_get_precision(ladder_handle handle, ladder_precision* precision);
/* Device memory for the following calls, aligned to 256 bytes. One call at a time uses it: the
 * handle's streams must be ordered by the caller. With it no call allocates, and a precision other
 * than IEEE and AUTO that needs more is refused. Null: the handle's own memory, which becomes as
 * large as `bytes`, at least 32 MiB, and is for the stream of the first call that uses it. A call
 * that needs more, or is on another stream, then takes memory from a pool, which may allocate, also
 * in a capture; the graph owns that memory. */
LADDER_API ladder_status ladder_set_workspace(ladder_handle handle, void* memory, size_t bytes);

LADDER_API void ladder_gemm_call_init(ladder_gemm_call* call);
/* Enqueues the call in the handle's stream. */
LADDER_API ladder_status ladder_gemm(ladder_handle handle, const ladder_gemm_call* call);
/* A group of calls, each with its own sizes, in ascending order. All are checked before the first
 * is enqueued. */
LADDER_API ladder_status ladder_gemm_grouped(ladder_handle handle, const ladder_gemm_call* calls,
                                             int64_t count);
/* A call in the handle's precision, without batch and epilogue. */
LADDER_API ladder_status ladder_sgemm(ladder_handle handle, ladder_layout layout, ladder_op op_a,
                                      ladder_op op_b, int64_t m, int64_t n, int64_t k,
                                      const float* alpha, const float* a, int64_t lda,
                                      const float* b, int64_t ldb, const float* beta, float* c,
                                      int64_t ldc);

/* The bytes with which the call runs on the kernel that it takes with unlimited memory. */
LADDER_API ladder_status ladder_workspace_bytes(ladder_handle handle, const ladder_gemm_call* call,
                                                size_t* bytes);
/* What the call would do with the handle as it is. Enqueues nothing. */
LADDER_API ladder_status ladder_plan(ladder_handle handle, const ladder_gemm_call* call,
                                     ladder_gemm_plan* plan);

/* Elements in memory: IEEE binary32, bfloat16, IEEE binary16, and OCP's 8-bit types (OFP8). */
typedef enum ladder_type LADDER_INT {
  LADDER_TYPE_F32 = 0,
  LADDER_TYPE_BF16 = 1,
  LADDER_TYPE_F16 = 2,
  LADDER_TYPE_E4M3 = 3,
  LADDER_TYPE_E5M2 = 4,
} ladder_type;

/* FP32 factors of the elements of A and B, on the device, in cuBLASLt's order.
 * TENSOR: one for A, one for B.
 * BLOCK, as DeepGEMM has them, for row-major calls: scales_a has one per row of op(A) and 128
 * elements of k, as a [ceil(k / 128)][m] array; scales_b one per 128 x 128 elements of op(B), as a
 * [ceil(n / 128)][ceil(k / 128) rounded up to a multiple of 4] array. Column-major calls exchange
 * the roles of A and B, m and n: one per column of op(B), one per 128 x 128 of op(A). */
typedef enum ladder_scaling LADDER_INT {
  LADDER_SCALING_NONE = 0,
  LADDER_SCALING_TENSOR = 1,
  LADDER_SCALING_BLOCK = 2,
} ladder_scaling;

/* C = alpha op(A) op(B) + beta C on tensor cores, with exact products and FP32 sums; compute
 * capability 9.0 only. Which types:
 *   BF16 to BF16 or F32, F16 to F16 or F32: no scales, no operation;
 *   E4M3 to BF16 or F32 with BLOCK, E4M3 to BF16 with TENSOR, E5M2 to BF16 with BLOCK: op(A) and
 *   op(B) are stored along k, that is, row-major op_a N and op_b T, column-major op_a T and op_b N.
 * Leading dimensions count elements. No rule of alignment but that of the type. */
typedef struct ladder_typed_call {
  size_t struct_size; /* ladder_typed_call_init() sets it; later versions only append members */
  ladder_layout layout;
  ladder_op op_a, op_b;
  ladder_type type_ab, type_c;
  ladder_scaling scaling;
  int64_t m, n, k;
  float alpha, beta;
  const void* a;
  const void* b;
  void* c;
  int64_t lda, ldb, ldc;
  const float* scales_a; /* null without scales */
  const float* scales_b;
} ladder_typed_call;

/* Row-major, no operation, BF16 to BF16, no scales, alpha 1, beta 0. */
LADDER_API void ladder_typed_call_init(ladder_typed_call* call);
/* Enqueues the call in the handle's stream. */
LADDER_API ladder_status ladder_gemm_typed(ladder_handle handle, const ladder_typed_call* call);
/* What the call takes of a workspace. */
LADDER_API ladder_status ladder_typed_workspace_bytes(ladder_handle handle,
                                                      const ladder_typed_call* call, size_t* bytes);

/* Which elements of a row-major matrix share a scale: all; 128 of a row (A's of BLOCK); 128 x 128
 * (op(B)^T's of BLOCK, whose rows are along k). */
typedef enum ladder_grain LADDER_INT {
  LADDER_GRAIN_TENSOR = 0,
  LADDER_GRAIN_ROW_BLOCK = 1,
  LADDER_GRAIN_SQUARE = 2,
} ladder_grain;

/* The number of scales of a rows x cols matrix, gaps included; -1 for no grain or a size that is
 * negative or above 2^30. */
LADDER_API int64_t ladder_scale_count(ladder_grain grain, int64_t rows, int64_t cols);
/* Enqueues x = q scale for a row-major matrix, with q of an 8-bit type, rounded to nearest: a scale
 * is the largest magnitude over the type's largest number, or 1 where all elements are 0. NaN stays
 * NaN. Where an element is infinite, those that share its scale become zeros and NaN. */
LADDER_API ladder_status ladder_quantize(ladder_handle handle, ladder_type type, ladder_grain grain,
                                         int64_t rows, int64_t cols, const float* x, int64_t ldx,
                                         void* q, int64_t ldq, float* scales);

/* Of this thread's last failing call; "" before the first. Valid until its next call fails. */
LADDER_API const char* ladder_last_error(void);
/* "invalid argument" */
LADDER_API const char* ladder_status_string(ladder_status status);
/* "fp16x3" */
LADDER_API const char* ladder_precision_string(ladder_precision precision);
/* 10000 major + 100 minor + patch, of the library that runs. */
LADDER_API int ladder_version(void);

#ifdef __cplusplus
}
#endif
#endif
