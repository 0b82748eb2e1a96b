// SPDX-License-Identifier: Apache-2.0
// Handles, and descriptors of vectors and matrices.
#include "sparse/descriptors.hpp"

#include <array>
#include <type_traits>

#include "include/entry_points.hpp"

namespace vgpu {

int refuse_unimplemented(const char* name, bool& said);  // for runtime/stubs.cpp
int refuse_unimplemented(const char* name, bool& said) {
  if (!said) std::fprintf(stderr, "vgpu: %s is not implemented\n", name);
  said = true;
  return CUSPARSE_STATUS_NOT_SUPPORTED;
}

namespace sparse {

void Call::arrays(const SpMat& m, void* data, std::size_t bytes, i64 stride, i64 count,
                  bool written) {
  for (int b = 0; b < (stride == 0 ? 1 : m.batches); ++b) {
    char* const part = static_cast<char*>(data) + b * stride * static_cast<i64>(bytes);
    const std::size_t size = static_cast<std::size_t>(count) * bytes;
    written ? HostCall::out(part, size) : HostCall::in(part, size);
  }
}

Call& Call::structure(const SpMat& m, bool written) {
  const bool coo = m.format == CUSPARSE_FORMAT_COO;
  arrays(m, m.first.data, index_bytes(m.first.type), coo ? m.index_stride : m.first_stride,
         coo ? m.nnz : (m.format == CUSPARSE_FORMAT_CSC ? m.cols : m.rows) + 1, written);
  arrays(m, m.index.data, index_bytes(m.index.type), m.index_stride, m.nnz, written);
  return *this;
}

Call& Call::values(const SpMat& m, bool written) {
  arrays(m, m.values, blas::bytes_of(m.type), m.value_stride, m.nnz * m.block * m.block, written);
  return *this;
}

Call& Call::dense(const DnMat& m, bool written) {
  const std::size_t bytes = blas::bytes_of(m.type);
  const i64 lines = m.by_columns() ? m.cols : m.rows, width = m.by_columns() ? m.rows : m.cols;
  for (int b = 0; b < m.batches; ++b) {
    char* const data = static_cast<char*>(m.values) + b * m.stride * static_cast<i64>(bytes);
    const auto range = [&](auto use) {
      (this->*use)(data, static_cast<std::size_t>(width) * bytes, static_cast<std::size_t>(lines),
                   static_cast<std::size_t>(m.ld) * bytes);
    };
    written ? range(&HostCall::out) : range(&HostCall::in);
  }
  return *this;
}

namespace {

constexpr Status kFine = CUSPARSE_STATUS_SUCCESS, kInvalid = CUSPARSE_STATUS_INVALID_VALUE;

// tell(object, to...)(value...) writes the values to where the caller wants them.
template <class... Targets>
auto tell(const void*, Targets*... to) {
  return [=](auto... values) {
    if ((... || (to == nullptr))) return kInvalid;
    ((*to = values), ...);
    return kFine;
  };
}

// If the arguments are valid.
template <class Pointer, class T>
Status create(Pointer* to, bool valid, T value) {
  return valid ? Objects::create(to, value) : kInvalid;
}

bool is_index(cusparseIndexType_t type) { return index_bytes(type) != 0; }
bool is_base(cusparseIndexBase_t base) {
  return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE;
}

void* mutable_pointer(const void* data) { return const_cast<void*>(data); }

template <class Pointer>
Status create_vector(Pointer* to, i64 size, const void* values, cudaDataType type) {
  return create(to, size >= 0, cusparseDnVecDescr{size, mutable_pointer(values), type});
}

template <class Pointer>
Status create_vector(Pointer* to, i64 size, i64 nnz, const void* indices, const void* values,
                     cusparseIndexType_t index, cusparseIndexBase_t base, cudaDataType type) {
  return create(
      to, nnz >= 0 && nnz <= size && is_index(index) && is_base(base),
      cusparseSpVecDescr{
          size, nnz, {mutable_pointer(indices), index, base}, mutable_pointer(values), type});
}

template <class Pointer>
Status create_dense(Pointer* to, i64 rows, i64 cols, i64 ld, const void* values, cudaDataType type,
                    cusparseOrder_t order) {
  const bool by_columns = order == CUSPARSE_ORDER_COL;
  return create(to,
                rows >= 0 && cols >= 0 && ld >= (by_columns ? rows : cols) &&
                    (by_columns || order == CUSPARSE_ORDER_ROW),
                DnMat{rows, cols, ld, mutable_pointer(values), type, order});
}

template <class Pointer>
Status create_sparse(Pointer* to, cusparseFormat_t format, i64 rows, i64 cols, i64 nnz,
                     const void* first, const void* index, const void* values,
                     cusparseIndexType_t first_type, cusparseIndexType_t index_type,
                     cusparseIndexBase_t base, cudaDataType type, i64 block_rows = 1,
                     i64 block_cols = 1, cusparseOrder_t order = CUSPARSE_ORDER_ROW) {
  SpMat m{format,
          rows,
          cols,
          nnz,
          {mutable_pointer(first), first_type, base},
          {mutable_pointer(index), index_type, base},
          mutable_pointer(values),
          type};
  m.block = block_rows;
  m.order = order;
  return create(to,
                rows >= 0 && cols >= 0 && nnz >= 0 && is_index(first_type) &&
                    is_index(index_type) && is_base(base) && block_rows > 0 &&
                    block_rows == block_cols,
                m);
}

Status set_batches(cusparseSpMatDescr_t m, cusparseFormat_t format, int batches, i64 first,
                   i64 index, i64 value) {
  if (m == nullptr || m->format != format || batches < 1) return kInvalid;
  m->batches = batches;
  m->first_stride = first;
  m->index_stride = index;
  m->value_stride = value;
  return kFine;
}

Status set_pointers(cusparseSpMatDescr_t m, void* first, void* index, void* values) {
  if (m == nullptr) return kInvalid;
  m->first.data = first;
  m->index.data = index;
  m->values = values;
  return kFine;
}

template <class Matrix>
Status attribute(Matrix* m, cusparseSpMatAttribute_t which, std::size_t bytes, auto copy) {
  static_assert(sizeof m->fill == sizeof m->diagonal);
  if (m == nullptr || bytes != sizeof m->fill) return kInvalid;
  if (which == CUSPARSE_SPMAT_FILL_MODE) return copy(&m->fill), kFine;
  if (which == CUSPARSE_SPMAT_DIAG_TYPE) return copy(&m->diagonal), kFine;
  return kInvalid;
}

struct Text {
  const char *name, *text;
};
constexpr std::array kTexts = {
    Text{"CUSPARSE_STATUS_SUCCESS", "success"},
    Text{"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    Text{"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    Text{"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    Text{"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    Text{"CUSPARSE_STATUS_MAPPING_ERROR", "texture memory mapping error"},
    Text{"CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    Text{"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    Text{"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
    Text{"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    Text{"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    Text{"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};
Text texts_of(cusparseStatus_t status) {
  const auto i = static_cast<std::size_t>(status);
  return i < kTexts.size() ? kTexts[i] : Text{"unrecognized error code", "unrecognized error code"};
}

}  // namespace
}  // namespace sparse
}  // namespace vgpu

using namespace vgpu::sparse;  // NOLINT: only entry points follow

// Values of a0, written to the other arguments.
#define VGPU_TELL(name, count, ...) \
  VGPU_BY(name, count, a0 == nullptr ? kInvalid : tell(VGPU_ARGUMENTS_##count)(__VA_ARGS__))
#define VGPU_GET(name, count, ...)               \
  VGPU_TELL(cusparse##name, count, __VA_ARGS__); \
  VGPU_TELL(cusparseConst##name, count, __VA_ARGS__)

VGPU_BY(cusparseCreate, 1, Objects::create(a0, cusparseContext()));
VGPU_BY(cusparseDestroy, 1, a0 == nullptr ? CUSPARSE_STATUS_NOT_INITIALIZED : Objects::destroy(a0));
VGPU_BY(cusparseSetStream, 2, Objects::set(a0, &cusparseContext::stream, a1));
VGPU_TELL(cusparseGetStream, 2, a0->stream);
VGPU_BY(cusparseSetPointerMode, 2, Objects::set(a0, &cusparseContext::mode, a1));
VGPU_TELL(cusparseGetPointerMode, 2, a0->mode);
VGPU_TELL(cusparseGetVersion, 2, CUSPARSE_VERSION);
VGPU_BY(cusparseGetProperty, 2,
        Objects::property(a0, a1, {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH}));
VGPU_BY(cusparseGetErrorName, 1, texts_of(a0).name);
VGPU_BY(cusparseGetErrorString, 1, texts_of(a0).text);

VGPU_BY(cusparseCreateMatDescr, 1, Objects::create(a0, cusparseMatDescr()));
VGPU_BY(cusparseDestroyMatDescr, 1, Objects::destroy(a0));
VGPU_BY(cusparseSetMatType, 2, Objects::set(a0, &cusparseMatDescr::type, a1));
VGPU_BY(cusparseGetMatType, 1, a0->type);
VGPU_BY(cusparseSetMatFillMode, 2, Objects::set(a0, &cusparseMatDescr::fill, a1));
VGPU_BY(cusparseGetMatFillMode, 1, a0->fill);
VGPU_BY(cusparseSetMatDiagType, 2, Objects::set(a0, &cusparseMatDescr::diagonal, a1));
VGPU_BY(cusparseGetMatDiagType, 1, a0->diagonal);
VGPU_BY(cusparseSetMatIndexBase, 2, Objects::set(a0, &cusparseMatDescr::base, a1));
VGPU_BY(cusparseGetMatIndexBase, 1, a0->base);

// A function, and its form for descriptors of what is only read.
#define VGPU_AND_CONST(prefix, name, count, expression) \
  VGPU_BY(cusparse##prefix##name, count, expression);   \
  VGPU_BY(cusparse##prefix##Const##name, count, expression)

VGPU_AND_CONST(Create, DnVec, 4, create_vector(a0, a1, a2, a3));
VGPU_BY(cusparseDestroyDnVec, 1, Objects::destroy(a0));
VGPU_GET(DnVecGet, 4, a0->size, a0->values, a0->type);
VGPU_GET(DnVecGetValues, 2, a0->values);
VGPU_BY(cusparseDnVecSetValues, 2, Objects::set(a0, &cusparseDnVecDescr::values, a1));

VGPU_AND_CONST(Create, SpVec, 8, create_vector(VGPU_ARGUMENTS_8));
VGPU_BY(cusparseDestroySpVec, 1, Objects::destroy(a0));
VGPU_GET(SpVecGet, 8, a0->size, a0->nnz, a0->indices.data, a0->values, a0->indices.type,
         a0->indices.base, a0->type);
VGPU_GET(SpVecGetValues, 2, a0->values);
VGPU_TELL(cusparseSpVecGetIndexBase, 2, a0->indices.base);
VGPU_BY(cusparseSpVecSetValues, 2, Objects::set(a0, &cusparseSpVecDescr::values, a1));

VGPU_AND_CONST(Create, DnMat, 7, create_dense(VGPU_ARGUMENTS_7));
VGPU_BY(cusparseDestroyDnMat, 1, Objects::destroy(a0));
VGPU_GET(DnMatGet, 7, a0->rows, a0->cols, a0->ld, a0->values, a0->type, a0->order);
VGPU_GET(DnMatGetValues, 2, a0->values);
VGPU_BY(cusparseDnMatSetValues, 2, Objects::set(a0, &DnMat::values, a1));
VGPU_TELL(cusparseDnMatGetStridedBatch, 3, a0->batches, a0->stride);
VGPU_BY(cusparseDnMatSetStridedBatch, 3,
        a1 < 1 ? kInvalid
               : (Objects::set(a0, &DnMat::batches, a1), Objects::set(a0, &DnMat::stride, a2)));

VGPU_AND_CONST(Create, Csr, 11,
               create_sparse(a0, CUSPARSE_FORMAT_CSR, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10));
VGPU_AND_CONST(Create, Csc, 11,
               create_sparse(a0, CUSPARSE_FORMAT_CSC, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10));
VGPU_AND_CONST(Create, Coo, 10,
               create_sparse(a0, CUSPARSE_FORMAT_COO, a1, a2, a3, a4, a5, a6, a7, a7, a8, a9));
VGPU_AND_CONST(Create, Bsr, 14,
               create_sparse(a0, CUSPARSE_FORMAT_BSR, a1, a2, a3, a6, a7, a8, a9, a10, a11, a12, a4,
                             a5, a13));
VGPU_BY(cusparseDestroySpMat, 1, Objects::destroy(a0));
#define VGPU_MATRIX a0->rows, a0->cols, a0->nnz
#define VGPU_ARRAYS a0->first.data, a0->index.data, a0->values
VGPU_GET(CsrGet, 11, VGPU_MATRIX, VGPU_ARRAYS, a0->first.type, a0->index.type, a0->index.base,
         a0->type);
VGPU_GET(CscGet, 11, VGPU_MATRIX, VGPU_ARRAYS, a0->first.type, a0->index.type, a0->index.base,
         a0->type);
VGPU_GET(CooGet, 10, VGPU_MATRIX, VGPU_ARRAYS, a0->index.type, a0->index.base, a0->type);
VGPU_BY(cusparseCsrSetPointers, 4, set_pointers(a0, a1, a2, a3));
VGPU_BY(cusparseCscSetPointers, 4, set_pointers(a0, a1, a2, a3));
VGPU_BY(cusparseCooSetPointers, 4, set_pointers(a0, a1, a2, a3));
VGPU_TELL(cusparseSpMatGetFormat, 2, a0->format);
VGPU_TELL(cusparseSpMatGetIndexBase, 2, a0->index.base);
VGPU_GET(SpMatGetValues, 2, a0->values);
VGPU_BY(cusparseSpMatSetValues, 2, Objects::set(a0, &SpMat::values, a1));
VGPU_TELL(cusparseSpMatGetSize, 4, VGPU_MATRIX);
VGPU_TELL(cusparseSpMatGetStridedBatch, 2, a0->batches);
VGPU_BY(cusparseCooSetStridedBatch, 3, set_batches(a0, CUSPARSE_FORMAT_COO, a1, 0, a2, a2));
VGPU_BY(cusparseCsrSetStridedBatch, 4, set_batches(a0, CUSPARSE_FORMAT_CSR, a1, a2, a3, a3));
VGPU_BY(cusparseBsrSetStridedBatch, 5, set_batches(a0, CUSPARSE_FORMAT_BSR, a1, a2, a3, a4));
VGPU_BY(cusparseSpMatGetAttribute, 4,
        attribute(a0, a1, a3, [&](const auto* from) { std::memcpy(a2, from, a3); }));
VGPU_BY(cusparseSpMatSetAttribute, 4,
        attribute(a0, a1, a3, [&](auto* to) { std::memcpy(to, a2, a3); }));
