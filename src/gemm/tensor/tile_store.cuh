// SPDX-License-Identifier: Apache-2.0
// Stores of a warpgroup's sums to C for beta = 0: directly from registers, or through shared memory
// by TMA.
#pragma once
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/sync.cuh"
#include "device/ptx/tma.cuh"
#include "device/ring.cuh"
#include "gemm/tensor/tensor_tile.cuh"

#include <cstddef>
#include <cstdint>

namespace ladder {

// Transposes kCount words per lane among kCount lanes that are kStep apart: afterwards the i-th of
// them has in w[j] what the j-th had in w[i].
template <unsigned kStep, class Word, unsigned kCount>
__device__ __forceinline__ void transpose_lanes(Word (&w)[kCount]) {
  const unsigned lane = threadIdx.x % 32 / kStep;
#pragma unroll
  for (unsigned bit = 1; bit < kCount; bit *= 2) {
    const bool upper = (lane & bit) != 0;
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) {
      if ((i & bit) != 0) continue;
      const Word got = __shfl_xor_sync(0xFFFFFFFFU, upper ? w[i] : w[i + bit], kStep * bit);
      (upper ? w[i] : w[i + bit]) = got;  // of two words, the lower lane keeps the lower one
    }
  }
}

// Stores the tile directly from registers. Requires beta = 0 and rows of C that are 16-byte aligned
// multiples of 16 bytes; a 16-bit C is stored in 16-byte vectors. For small tiles, of which a block
// computes few: the stores start at once, need no shared memory, and the block exits without
// waiting for them.
template <class T>
class DirectStore {
 public:
  using Out = typename T::Out;
  static constexpr int kChunksLater = 0, kTail = 0;
  struct Buffers {};

  __device__ __forceinline__ DirectStore(Buffers& /*buffers*/, const TensorMaps& /*maps*/,
                                         int /*warpgroup*/) {}

  template <int kWidth, class At>
  __device__ __forceinline__ void take(const Product<T>& product, const Target<Out>& c,
                                       const At& at) const {
    const int end = min(c.n, at.col + kWidth), row = at.row + product.row() + product.lane_row();
    int col = at.col + product.col();
    if constexpr (sizeof(Out) == 2) {
      static_assert(!T::kTf32 && T::WN % 32 == 0, "four lanes have 32 columns of a row");
      col += static_cast<int>(threadIdx.x) % 4 * 8;
      auto* const gC = c.gC + row * c.ld + col;
#pragma unroll
      for (int j = 0; j < T::WN; j += 32) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          alignas(16) std::uint32_t w[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const float* const sums = product.sums + j / 2 + 4 * i + 2 * e;
            w[i] = j + 8 * i < kWidth ? pack_two(c.alpha * sums[0], c.alpha * sums[1], Out{}) : 0;
          }
          transpose_lanes<1>(w);
          if (row + 8 * e < c.m && col + j < end) {
            *reinterpret_cast<uint4*>(gC + 8 * e * c.ld + j) = *reinterpret_cast<const uint4*>(w);
          }
        }
      }
    } else {
      col += product.lane_col();
      auto* const gC = c.gC + row * c.ld + col;
      Product<T>::for_each_pair([&](int i, int j, int first, int second) {
        if (row + i < c.m && col + j < end) {
          store_pair(c, gC + i * c.ld + j, product.sums[first], product.sums[second]);
        }
      });
    }
  }
  __device__ __forceinline__ void send(int /*piece*/) const {}
  template <int kPieces, class Spare>
  __device__ __forceinline__ void finish(Spare /*spare*/) const {}
  __device__ __forceinline__ static void init(Buffers& /*buffers*/) {}
  __device__ __forceinline__ static void serve(Buffers& /*buffers*/, const TensorMaps& /*maps*/) {}
};

// Stores the tile by TMA, for beta = 0: in chunks of 8 KB (swizzled rows of 128 bytes) that
// alternate between kBuffers buffers. TMA does not store beyond C. Results that fit the registers
// beside the product's are stored later, while the next tile's first products run: all of a 16-bit
// C, two sums per register; five eighths of a 32-bit C; nothing with TF32 and 8-bit operands, whose
// fragments and partial sums need those registers.
//
// A proxy fence is required between the threads' writes and the TMA read, anywhere on the path from
// the ones to the other in their block (Lustig et al., "Mixed-Proxy Extensions for the NVIDIA PTX
// Memory Consistency Model", ISCA 2022). On Hopper the fence waits for all of the warp's memory
// accesses, which delays the next products of a consumer warp. Therefore one thread fences for all,
// after the barrier at which they synchronise. Chunks of a 16-bit C that are stored during products
// are forwarded to a producer warp, which fences and stores, so that no warpgroup synchronises for
// them. This made a 32-bit C slower: between tiles, three of its chunks are stored one after
// another.
//
// Narrow tiles, of kNarrow columns, have contiguous whole boxes of B; the columns beyond the last
// whole box are elsewhere. All boxes except those of these rests are therefore aligned to L2 cache
// lines, in B and in C. The part of a rest that is less than a chunk has its own map, c_tail, with
// boxes of kTail columns.
template <class T, int kNarrow = T::BN>
class TileStore {
 public:
  using Out = typename T::Out;
  static constexpr int kBuffers = 2;
  static constexpr bool kPacked = sizeof(Out) == 2;
  static constexpr int kCols = kSwizzleBytes / static_cast<int>(sizeof(Out));  // per box
  static constexpr int kRows = T::kTf32 ? 32 : 64;  // per box and per chunk
  static constexpr int kChunks = T::kTf32 ? T::WM / kRows : T::WN / kCols;
  static constexpr int kChunksLater = T::kTf32 || T::kScaled ? 0
                                      : kPacked              ? kChunks
                                                             : kChunks / 2 + 1;
  static constexpr int kChunksNow = kChunks - kChunksLater;
  static constexpr int kChunkBytes = 8192;
  static constexpr int kWordsPerChunk = (kPacked ? T::kSums / 2 : T::kSums) / kChunks;
  static constexpr int kTail =
      kNarrow % kCols;  // columns of a narrow tile's last chunk, if it has fewer
  struct Buffers {
    alignas(1024) char chunk[kBuffers][kChunkBytes];
    // For forwarded chunks: the barriers "four warps have written it" and "it has been read", and
    // its column and row.
    std::uint64_t written[kBuffers], read[kBuffers];
    int2 place[kBuffers];
  };

  // Called by one thread before the block synchronises.
  __device__ __forceinline__ static void init(Buffers& buffers) {
    if constexpr (kPacked) {
      for (auto& barrier : buffers.written)
        ptx::mbarrier_init(ptx::shared_address(&barrier), kWarpgroup / 32);
      for (auto& barrier : buffers.read) ptx::mbarrier_init(ptx::shared_address(&barrier), 1);
    }
  }

  // Called by one lane of a producer warp: stores the forwarded chunks until finish() announces the
  // end, and waits until shared memory has been read.
  __device__ __forceinline__ static void serve(Buffers& buffers, const TensorMaps& maps) {
    if constexpr (kPacked) {
      for (auto ring = Ring<kBuffers>::of_consumer();; ring.advance()) {
        const int i = ring.stage();
        ptx::mbarrier_wait(ptx::shared_address(&buffers.written[i]), ring.parity());
        const int2 place = buffers.place[i];
        if (place.x == kNothing) return;
        ptx::fence_proxy_async();
        const bool tail = kTail > 0 && place.y < 0;
        ptx::tma_store(tail ? maps.c_tail : maps.c, ptx::shared_address(buffers.chunk[i]), place.x,
                       tail ? ~place.y : place.y);
        ptx::bulk_commit();
        ptx::bulk_wait_read<0>();
        ptx::mbarrier_arrive(ptx::shared_address(&buffers.read[i]));
      }
    }
  }

  __device__ __forceinline__ TileStore(Buffers& buffers, const TensorMaps& maps, int warpgroup)
      : buffers_(ptx::shared_address(buffers.chunk)), maps_(maps), warpgroup_(warpgroup) {}

  // Receives the product's sums for the first kWidth columns of the block's tile. The tensor cores
  // idle meanwhile, so a 16-bit C skips the multiplication if alpha = 1. A 32-bit C lacks the
  // registers for two code paths.
  template <int kWidth, class At>
  __device__ __forceinline__ void take(const Product<T>& product, const Target<Out>& c,
                                       const At& at) {
    static_assert(kWidth == T::BN || (kWidth == kNarrow && !T::kTf32),
                  "tf32's tiles have one width");
    row_ = at.row + product.row();
    col_ = at.col + product.col();
    rest_ = at.rest + product.col();
    narrow_ = kWidth < T::BN;
    chunks_ = kChunksOf<kWidth>;
    if (kPacked && c.alpha == 1.0F) {
      take_chunks<kWidth>([&](int i) { return product.sums[i]; });
    } else {
      take_chunks<kWidth>([&](int i) { return c.alpha * product.sums[i]; });
    }
  }

  // Stores piece h of the results that were kept, if there are any.
  __device__ __forceinline__ void send(int h) {
    if (kChunksNow + h < chunks_) put(kChunksNow + h, kept(h));
    if (h == kChunksLater - 1) chunks_ = 0;
  }

  // Stores the rest and waits until shared memory has been read, before the block exits. spare(i)
  // is the shared address of the i-th of kPieces unused chunks: only this warpgroup has read them,
  // and no thread writes them any more. Stores through them need not wait for a buffer.
  template <int kPieces, class Spare>
  __device__ __forceinline__ void finish(Spare spare) {
    if (kPacked) sync();  // all warps have multiplied the old content
#pragma unroll
    for (int h = 0; h < kChunksLater; ++h) {
      if (kChunksNow + h >= chunks_) break;
      if (kPacked && h < kPieces) {  // measured: no gain for a 32-bit C
        put_in(spare(h), kChunksNow + h, kept(h));
      } else {
        put(kChunksNow + h, kept(h));
      }
    }
    if constexpr (kPacked) {
      wait_until_read();
      hand_over(kNothing, 0);
    }
    if (leads()) ptx::bulk_wait_read<0>();
  }

 private:
  static constexpr int kNothing = -1;  // in place of a column
  static_assert(kTail * sizeof(Out) != kSwizzleBytes / 2,
                "boxes of 64 bytes per row have another swizzle");
  template <int kWidth>
  static constexpr int kChunksOf = T::kTf32 ? kChunks : (kWidth + kCols - 1) / kCols;

  __device__ __forceinline__ int col_of(int h) const {
    return (kNarrow == T::BN || h * kCols < kInWholeBoxes<T, kNarrow> ? col_ : rest_) + h * kCols;
  }
  __device__ __forceinline__ bool is_tail(int h) const {
    return kTail > 0 && h == kNarrow / kCols && narrow_;
  }

  __device__ __forceinline__ static bool leads() { return threadIdx.x % kWarpgroup == 0; }
  __device__ __forceinline__ void sync() const { ptx::barrier_sync(1 + warpgroup_, kWarpgroup); }

  // Stores some chunks of the results of kWidth columns now and keeps the others. value(i) is the
  // result of sum i.
  template <int kWidth, class Value>
  __device__ __forceinline__ void take_chunks(Value value) {
    constexpr int kTaken = kChunksOf<kWidth>, kSums = T::kTf32 ? T::kSums : kWidth / 2;
    static_assert(kTaken >= kChunksNow,
                  "the last chunk, which may have fewer columns, is stored later");
    const auto word = [&](int i) -> std::uint32_t {
      if constexpr (kPacked) {
        return 2 * i < kSums ? pack_two(value(2 * i), value(2 * i + 1), Out{}) : 0;
      } else {
        return i < kSums ? __float_as_uint(value(i)) : 0;
      }
    };
#pragma unroll
    for (int h = 0; h < kChunksNow; ++h) {
      put(h, [&](int i) { return word(h * kWordsPerChunk + i); });
    }
#pragma unroll
    for (int i = 0; i < (kTaken - kChunksNow) * kWordsPerChunk; ++i)
      words_[i] = word(kChunksNow * kWordsPerChunk + i);
  }

  // Returns a function of i: word i of this thread's part of kept piece h.
  __device__ __forceinline__ auto kept(int h) const {
    return [this, h](int i) { return words_[h * kWordsPerChunk + i]; };
  }

  // Stores chunk h through the next buffer, after the buffer's old content has been read. word(i)
  // is word i of this thread's part of the chunk.
  template <class Word>
  __device__ __forceinline__ void put(int h, Word word) {
    const std::uint32_t buffer = buffers_ + next_ * kChunkBytes;
    if constexpr (kPacked) {
      wait_until_read();
      write(buffer, word);
      hand_over(col_of(h), is_tail(h) ? ~row_ : row_);
    } else {
      if (leads()) ptx::bulk_wait_read<kBuffers - 1>();
      sync();
      put_in(buffer, h, word);
      next_ = (next_ + 1) % kBuffers;
    }
  }

  // Waits until the storing warp has read the next buffer. The function after it announces what
  // this warpgroup has written there, with the position; a complemented row selects c_tail.
  __device__ __forceinline__ void wait_until_read() const {
    ptx::mbarrier_wait(buffers_ + kReadAt + next_ * kEntry, parity_);
  }
  __device__ __forceinline__ void hand_over(int col, int row) {
    if (leads()) ptx::store_shared2(buffers_ + kPlaceAt + next_ * kEntry, col, row);
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(buffers_ + kWrittenAt + next_ * kEntry);
    next_ = (next_ + 1) % kBuffers;
    if (next_ == 0) parity_ ^= 1;
  }

  // The same through 8 KB of shared memory that no other thread uses meanwhile.
  template <class Word>
  __device__ __forceinline__ void put_in(std::uint32_t buffer, int h, Word word) {
    write(buffer, word);
    sync();
    if (!leads()) return;
    ptx::fence_proxy_async();  // for all threads that synchronised before
    if constexpr (T::kTf32) {
      ptx::tma_store(maps_.c, buffer, col_, row_ + h * kRows);
      ptx::tma_store(maps_.c, buffer + kRows * kSwizzleBytes, col_ + kCols, row_ + h * kRows);
    } else {
      ptx::tma_store(is_tail(h) ? maps_.c_tail : maps_.c, buffer, col_of(h), row_);
    }
    ptx::bulk_commit();
  }

  template <class Word>
  __device__ __forceinline__ static void write(std::uint32_t buffer, Word word) {
    const int tid = static_cast<int>(threadIdx.x) % kWarpgroup, warp = tid / 32, lane = tid % 32;
    const int g = lane / 4, t = lane % 4;
    const auto place = [&](int line, int bytes) {
      return buffer + line * kSwizzleBytes + (bytes ^ (line % 8 * 16));
    };
    if constexpr (kPacked) {
#pragma unroll
      for (int i = 0; i < kWordsPerChunk;
           i += 4) {  // 16 columns: pieces of 8 x 8, the lower ones second
        const std::uint32_t r[4] = {word(i), word(i + 1), word(i + 2), word(i + 3)};
        ptx::store_matrix4(place(16 * warp + lane % 16, i * 8 + lane / 16 * 16), r);
      }
    } else if constexpr (T::kTf32) {
      const std::uint32_t box = warp / 2 * kRows * kSwizzleBytes;
#pragma unroll
      for (int i = 0; i < kWordsPerChunk; i += 4) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          ptx::store_shared2(box + place(2 * i + 2 * t + e, warp % 2 * 64 + g * 8), word(i + e),
                             word(i + 2 + e));
        }
      }
    } else {
      // Four lanes write 32 bytes of a row, and the swizzle permutes units of 16 bytes: rows g and
      // g + 1 would have bank conflicts. Odd rows therefore write the halves of their 128 bytes in
      // the opposite order.
      constexpr int kHalf = kWordsPerChunk / 2;
      const bool odd = g % 2 != 0;
#pragma unroll
      for (int i = 0; i < kHalf; i += 4) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const std::uint32_t left[2] = {word(i + 2 * e), word(i + 2 * e + 1)};
          const std::uint32_t right[2] = {word(kHalf + i + 2 * e), word(kHalf + i + 2 * e + 1)};
          const std::uint32_t at =
              place(16 * warp + g + 8 * e, (i * 8 + t * 8) ^ (odd ? kSwizzleBytes / 2 : 0));
          ptx::store_shared2(at, odd ? right[0] : left[0], odd ? right[1] : left[1]);
          ptx::store_shared2(at ^ (kSwizzleBytes / 2), odd ? left[0] : right[0],
                             odd ? left[1] : right[1]);
        }
      }
    }
  }

  static constexpr int kWrittenAt = offsetof(Buffers, written), kReadAt = offsetof(Buffers, read),
                       kPlaceAt = offsetof(Buffers, place), kEntry = 8;  // bytes
  std::uint32_t buffers_;                                                // shared address
  const TensorMaps& maps_;
  int warpgroup_, row_ = 0, col_ = 0, rest_ = 0;
  bool narrow_ = false;
  std::uint32_t parity_ =
      1;  // of the phase of read[next_] to wait for: the first round has it for nothing
  int next_ = 0, chunks_ = 0;  // buffer; chunks of the tile, 0 if none is left
  std::uint32_t words_[kChunksLater == 0 ? 1 : kChunksLater * kWordsPerChunk];
};

}  // namespace ladder
