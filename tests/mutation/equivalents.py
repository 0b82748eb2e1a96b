# SPDX-License-Identifier: Apache-2.0
"""Mutants that mutation.py does not make, by what they are: their kind and the line of source that
they change, in kernels of these rungs whose demangled names contain one of these parts.

EQUIVALENT ones compute the same as the rung. NOT_CAUGHT ones are wrong, but no problem or schedule
of the tests shows it. If the compiler unrolls the line, all copies are left out, in these kernels
only. `mutation.py --list` prints the mutants with their lines, and the entries that fit none.
"""
import typing


class Mutant(typing.NamedTuple):
    kind: str
    source: str  # the lines that it changes, with " | " between
    copy: int  # of mutants of one kernel with the same kind and source
    copies: int

    def __str__(self):
        copy = f" (copy {self.copy} of {self.copies})" if self.copies > 1 else ""
        return f"{self.kind}: {self.source}{copy}"


class Entry(typing.NamedTuple):
    reason: str
    kind: str
    source: str  # the first of the mutant's lines
    rungs: tuple
    kernels: tuple  # parts of demangled names

    def fits(self, rung, kernel, mutant):
        return (rung in self.rungs and self.kind == mutant.kind
                and self.source == mutant.source.partition(" | ")[0]
                and any(part in kernel for part in self.kernels))


ANY = ("",)  # kernel
SPLIT = ("guarded", "split_bf16", "split_fp16")
# Products that are not guarded: the guarded ones' loops are functions of their own.
PLAIN = ("split_bf16", "split_fp16")
UNGUARDED = (" 128, 3, 3>, false", " 128, 4, 4>, false", " 256, 3, 4>, false",
             " 256, 3, 6>, false", " 64, 3, 3>, false", " 64, 4, 4>, false", "PingPongTile",
             "fused_kernel")
# 16-bit kernels of pairs of blocks, by the columns of the last tiles.
PAIRS_192, PAIRS_232, PAIRS_256 = (
    f"bfloat16, 128, 256, 4, (ladder::Blocks)1, {columns}>, (ladder::tensor_tiles::Finish)0"
    for columns in (192, 232, 256))
TENSOR = ("tensor_tiles",)
GUARDED_FP16 = ("guarded", "split_fp16")
PING_PONG = ("PingPongTile",)
RAGGED_PAIRS = (PAIRS_192, PAIRS_232)
ALL_PAIRS = (*RAGGED_PAIRS, PAIRS_256)
# Lines of several mutants.
NEXT_PIECE = ("if (end_.tile < begin_.tile || (last && end_.step == begin_.step)) return false; < "
              "if (work_.end == work_.last && !next_piece()) return false;")
WAIT_OF_PAIR = "__device__ __forceinline__ void wait() const { ptx::barrier_sync(kBarrier, 2 * kWarpgroup); }"
WAIT_FOR_BUFFER = "ptx::mbarrier_wait(buffers_ + kReadAt + next_ * kEntry, parity_);"
WAIT_FOR_BUFFER_AT_END = ("ptx::mbarrier_wait(buffers_ + kReadAt + next_ * kEntry, parity_); < "
                          "wait_until_read();")
WAIT_FOR_EMPTY_STAGE = "ptx::mbarrier_wait(ptx::shared_address(&s.empty[ring.stage()]), ring.parity());"
WAIT_FOR_FULL_STAGE = "ptx::mbarrier_wait(ptx::shared_address(&s.full[ring.stage()]), ring.parity());"
WAIT_FOR_STAGE_OF_R12 = ("ptx::mbarrier_wait(stage + offsetof(Stage, empty), parity); < "
                         "for (int step = 1; step < steps; ++step) copy(T::BK);")
FILL_OF_ONE = "for (int step = work.begin; step < work.end; ++step) { < fill_ring<1, Order>("
PLAIN_ROWS = ("const int scale = vector < x.vectors ? __ldg(x.gExponent + vector) : 0; < "
              "return plain_vectors<T::BM>(x.a, row) & plain_vectors<T::BN>(x.b, col);")
EQUIVALENT = {
    "A share of k is empty only where k is 0; a stage behind its end is not multiplied, or has zeros.": [
        ("bound",
         "if (step < end) { < for (int i = 0; i < T::STAGES - 1; ++i) load(shared + i * (T::kStageFloats * 4), begin + i);",
         ("simt_parts",), ("part_tile<",)),
    ],
    "A vector that begins at column n stores no element.": [
        ("bound",
         "if (left <= 0) return; < store4_scaled<kAligned>(o.c + row * p.ldc + col, &rC[i][j], static_cast<int>(p.n) - col,",
         ("r08",), (", true>",)),
    ],
    "The scales are first read after the barrier of a strip's first tile.": [
        ("barrier",
         "__syncthreads();  // scales are there < "
         "split_strip<F, kExtra == Extra::kCount, (4 * kFloat4s * kWide > kStripDepth)>(",
         SPLIT, ("split_at_once<",)),
    ],
    "A block also splits the next block's tile, into the same terms.": [
        ("bound",
         "const bool inside = at < k && vector < x.vectors; < load(round);",
         SPLIT, ("split_at_once<",)),
        ("bound",
         "if (tile >= tiles || first >= padded) break; < "
         "split_strip<F, kExtra == Extra::kCount, (4 * kFloat4s * kWide > kStripDepth)>(",
         ("split_bf16", "split_fp16"), ("split_at_once<",)),
    ],
    "Each vector has its own block, and no block has a second group.": [
        ("bound",
         "const bool mine = vector < x.vectors; < split_along<F, kWide, kFloat4s, kExtra == Extra::kCount>(group.x, pass.k, pass.slabs,",
         ("split_fp16",), ("split_at_once<ladder::TermFormat<__half, 2>, 256",)),
        ("barrier",
         "__syncthreads();  // before the next group's use of shared memory < first_pass_groups<F, kWide, kFloat4s, kExtra>(pass, groups_a, groups);",
         ("split_fp16", "split_bf16"),
         ("first_pass<ladder::TermFormat<__half, 2>, 256, 4,",
          "first_pass<ladder::TermFormat<__nv_bfloat16, 3>, 256, 4,",
          "first_pass<ladder::TermFormat<__half, 2>, 32, 2,",
          "first_pass<ladder::TermFormat<__half, 2>, 32, 4,",
          "first_pass<ladder::TermFormat<__half, 2>, 64, 4,")),
    ],
    "No block has a second group of vectors here.": [
        ("bound",
         "for (int group = block; group < groups; group += blocks) { < first_pass_groups<F, kWide, kFloat4s, kExtra>(pass, groups_a, groups);",
         SPLIT, ("first_pass<",)),
        ("bound",
         ": x(operand_of(pass, group < groups_of_a)), < pass, OperandGroup(pass, group, groups_a), s);",
         SPLIT, ("first_pass<",)),
    ],
    "The first stage is waited for separately only to start earlier.": [
        ("poll", "if (started == 0) ptx::mbarrier_wait(ptx::shared_address(&barriers.full[0]), 0);",
         SPLIT, ANY),
        ("parity 1",
         "if (started == 0) ptx::mbarrier_wait(ptx::shared_address(&barriers.full[0]), 0);",
         SPLIT, ANY),
    ],
    "One more stage, which is not multiplied, or one more tile, which is outside C.": [
        ("bound",
         "for (int step = work.begin; step < work.end; ++step) { < fill_ring<T::kHalves, Order>(",
         SPLIT, UNGUARDED),
        ("bound",
         "if (tile_ < plan_.whole_tiles) { < if (work_.end == work_.last && !next_piece()) return false;",
         SPLIT, UNGUARDED),
        ("bound", FILL_OF_ONE,
         SPLIT,
         (" 128, 3, 3>, true", " 128, 4, 4>, true", " 256, 3, 4>, true", " 256, 3, 6>, true",
          " 64, 3, 3>, true", " 64, 4, 4>, true", "fused_kernel")),
        ("bound", "}  // namespace ladder",
         PLAIN,
         (" 128, 3, 3>, false", " 128, 4, 4>, false", " 256, 3, 4>, false", " 256, 3, 6>, false",
          " 64, 3, 3>, false", " 64, 4, 4>, false", "PingPongTile")),
        ("bound",
         "for (int step = work.begin; step < work.end; ++step) { < if (consume<T, kParts, Guard::kGuards>(s, x, plan, exchange, begin, proceeds)) return;",
         PLAIN,
         (" 128, 3, 3>, true", " 128, 4, 4>, true", " 256, 3, 4>, true", " 256, 3, 6>, true",
          " 64, 3, 3>, true", " 64, 4, 4>, true")),
        ("bound",
         "if (rows.row[e] >= x.c.m) continue; < exceptional |= store_scaled4(x, sums + 4 * q, 4 * q, rows, col, scale[q], whole);",
         PLAIN, PING_PONG),
    ],
    "The scale of a vector outside the matrix selects one of two ways to store the same elements.": [
        ("bound",
         "const int scale = vector < x.vectors ? __ldg(x.gExponent + vector) : 0; < const bool plain = plain_vectors<T::BN>(x.b, col) & (__all_sync(0xFFFFFFFFU, plain_rows) != 0);",
         GUARDED_FP16, ANY),
        ("bound", PLAIN_ROWS, PLAIN, ANY),
    ],
    "The second half of a slab: nothing that wgmma uses was written since the previous fence.": [
        ("fence", "ptx::wgmma_fence();",
         ("split_fp16",), ("CooperativeTile<ladder::TermFormat<__half, 2>, 3, 256, 3, 4>, false",)),
    ],
    "The block has no earlier tile.": [
        ("barrier", "const auto sync = [] { ptx::barrier_sync(1, T::kWarpgroups * kWarpgroup); };",
         PLAIN, PING_PONG),
    ],
    "For some of a thread's columns, which are all inside C or all outside.": [
        ("bound", NEXT_PIECE, PLAIN, PING_PONG),
        ("bound", FILL_OF_ONE, PLAIN, PING_PONG),
        ("bound", PLAIN_ROWS, PLAIN, PING_PONG),
        ("bound",
         "for (int step = work.begin; step < work.end; ++step) { < if (consume<T, kParts, Guard::kGuards>(s, x, plan, exchange, begin, proceeds)) return;",
         PLAIN, PING_PONG),
        ("bound",
         "const bool inside = first + 8 * q < x.c.n; < store_rows(sums, x, rows, col, scale);",
         PLAIN, PING_PONG),
        ("bound",
         "if (rows.row[e] < x.c.m && 8 * q < left) *g = x.c.alpha * (two[0] * (of_row[e] * of_first)); < store_plain(sums, x, rows, col, scale);",
         PLAIN, PING_PONG),
        ("bound",
         "if (rows.row[e] >= x.c.m) continue; < exceptional |= store_scaled4(x, sums + 4 * q, 4 * q, rows, col, scale[q], whole);",
         PLAIN, PING_PONG),
        ("bound", "}  // namespace ladder", PLAIN, PING_PONG),
        ("bound",
         "j = __shfl_sync(0xFFFFFFFFU, col, owner); < store_exceptional(x, inside && (scale == kExceptional || x.b.gExponent[c] == kExceptional), row,",
         PLAIN, PING_PONG),
    ],
    "Each vector has its own block.": [
        ("bound",
         "const bool mine = vector < x.vectors; < split_along<F, kWide, kFloat4s, kExtra == Extra::kCount>(group.x, pass.k, pass.slabs,",
         ("split_bf16",), ("split_at_once<ladder::TermFormat<__nv_bfloat16, 3>, 256",)),
    ],
    "The stage after the last one: nothing is copied to it, and it is not used.": [
        ("wait", "ptx::cp_async_wait<0>();", ("r12",), ANY),
        ("poll", WAIT_FOR_STAGE_OF_R12, ("r12",), ANY),
        ("parity 0", WAIT_FOR_STAGE_OF_R12, ("r12",), ANY),
        ("parity 1", WAIT_FOR_STAGE_OF_R12, ("r12",), ANY),
    ],
    "Producer and consumers execute one more step, beyond k, whose copies are zeros.": [
        ("bound",
         "const bool two = k + 1 < c.n; < product::store<typename T::Out>(c, sums, row0 + row_of_group, col0);",
         ("r15",), ANY),
    ],
    "The last steps of a block's only piece: their stages are not filled again.": [
        ("arrival", "if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&empty));",
         TENSOR, ("float, 128, 64, 9, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)2",)),
    ],
    "The last steps of a block's only tile: their stages are not filled again.": [
        ("wait",
         "__device__ __forceinline__ void wait_for_all_but_last() { ptx::wgmma_wait<1>(); }",
         TENSOR, ("float, 128, 64, 9, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)1",)),
        ("arrival", "if (lane == 0) ptx::mbarrier_arrive(ptx::shared_address(&empty));",
         TENSOR, ("float, 128, 64, 9, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)1",)),
    ],
    "Producer and consumers compute one more tile, outside C: its copies are zeros, and it is not stored.": [
        ("bound",
         "if (tile_ >= plan_.whole_tiles) return false; < bool more = schedule.next(work);",
         TENSOR, ANY),
    ],
    "A warpgroup's turn begins earlier, with the same result.": [
        ("wait", "ptx::wgmma_wait<1>();", PLAIN, PING_PONG),
        ("group", "if (kLastApart && i == T::kProducts - 2) ptx::wgmma_commit();",
         PLAIN, PING_PONG),
    ],
    "No turn follows: the kernel ends.": [
        ("barrier", "if (kOn && warpgroup_ == next) ptx::barrier_sync(kBarrier + next, kThreads);",
         PLAIN, PING_PONG),
    ],
    "The second warpgroup starts its products earlier, with the same result.": [
        ("barrier", WAIT_OF_PAIR, TENSOR, RAGGED_PAIRS),
        ("barrier", "if (passes_on_) ptx::barrier_arrive(kBarrier, 2 * kWarpgroup);",
         TENSOR, ALL_PAIRS),
        ("barrier",
         "__device__ __forceinline__ void sync() const { ptx::barrier_sync(1 + warpgroup_, kWarpgroup); }",
         TENSOR, (PAIRS_232,)),
    ],
    "The first step of a tile has no earlier group of wgmma.": [
        ("wait",
         "__device__ __forceinline__ void wait_for_all_but_last() { ptx::wgmma_wait<1>(); }",
         TENSOR, ALL_PAIRS),
    ],
    "A later step of a tile: nothing that wgmma uses was written since the previous fence.": [
        ("fence", "ptx::wgmma_fence();", TENSOR, ALL_PAIRS),
        ("fence", "ptx::fence_proxy_async();  // for all threads that synchronised before",
         TENSOR, ALL_PAIRS),
    ],
    "A tile has as many boxes of B as a stage.": [
        ("bound", "ptx::tma_load(ptx::shared_address(s.a), maps.a, barrier, k, at.row);",
         TENSOR, (PAIRS_232,)),
    ],
    "A small tile is stored from registers: the storing warps have ended.": [
        ("barrier", "ptx::cluster_wait();",
         TENSOR, (" 64, 128, 9, (ladder::Blocks)1, 128>, (ladder::tensor_tiles::Finish)0",)),
    ],
    "A chunk of a block's last tile is not overwritten: the next group includes it.": [
        ("group", "ptx::bulk_commit();", TENSOR, (PAIRS_256,)),
    ],
    "Four chunks per tile in two buffers: this wait has the same parity in every tile.": [
        ("parity 1", WAIT_FOR_BUFFER, TENSOR, (PAIRS_256,)),
        ("parity 0", WAIT_FOR_BUFFER_AT_END, TENSOR, (PAIRS_256,)),
        ("parity 1", WAIT_FOR_EMPTY_STAGE, TENSOR, (PAIRS_256,)),
    ],
}
NOT_CAUGHT = {
    "No problem was found that catches it with this tile.": [
        ("parity 1", WAIT_FOR_EMPTY_STAGE,
         TENSOR, ("64, 64, 13, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)1",)),
        ("barrier", "ptx::cluster_wait();",
         TENSOR, ("128, 128, 7, (ladder::Blocks)3, 128>, (ladder::tensor_tiles::Finish)0",)),
    ],
    "An edge of C in a case that no problem has with this tile: beta, exceptional elements, pairs.": [
        ("bound",
         "const int first = col + group / 2 * 8 + group % 2;  // of this lane's columns, once exchanged < store_rows(sums, x, rows, col, scale);",
         GUARDED_FP16, ("fused_kernel",)),
        ("bound", "}  // namespace ladder",
         SPLIT,
         (" 128, 3, 3>, false", " 128, 4, 4>, false", " 256, 3, 4>, false", " 256, 3, 6>, false",
          "fused_kernel")),
        ("bound",
         "const bool odd_left = rows.scale[e] == kExceptional || scale.x == kExceptional; < exceptional |= store_scaled4(x, sums + 4 * q, 4 * q, rows, col, scale[q], whole);",
         GUARDED_FP16, ("fused_kernel",)),
        ("bound",
         "j = __shfl_sync(0xFFFFFFFFU, col, owner); < store_exceptional(x, inside && (scale == kExceptional || x.b.gExponent[c] == kExceptional), row,",
         GUARDED_FP16, ("fused_kernel",)),
        ("bound",
         "const bool inside = first + 8 * q < x.c.n; < store_rows(sums, x, rows, col, scale);",
         SPLIT,
         (" 128, 3, 3>, false", " 128, 4, 4>, false", " 256, 3, 4>, false", " 256, 3, 6>, false",
          " 64, 3, 3>, false", " 64, 4, 4>, false", "fused_kernel")),
        ("bound", FILL_OF_ONE, GUARDED_FP16, ("fused_kernel",)),
        ("bound",
         "if (rows.row[e] < x.c.m && 8 * q < left) *g = x.c.alpha * (two[0] * (of_row[e] * of_first)); < store_plain(sums, x, rows, col, scale);",
         GUARDED_FP16, (" 64, 3, 3>, false", "fused_kernel")),
        ("bound",
         "if (rows.row[e] < x.c.m) *reinterpret_cast<float4*>(gC + rows.row[e] * x.c.ld + 8 * q) = four; < store_float4s(sums, x, rows, col, scale);",
         PLAIN, (" 64, 3, 3>, false", " 64, 4, 4>, false")),
    ],
    "One more scale decides whether all are plain, which chooses between two forms of the store.": [
        ("bound", PLAIN_ROWS, ("guarded",), (" 256, 3, 4>, false",)),
    ],
    "The end of a block's share of split tiles: no problem has a second piece with this tile.": [
        ("bound", NEXT_PIECE, ("split_fp16",), (" 128, 3, 3>, false", " 256, 3, 4>, false")),
        ("bound", NEXT_PIECE, ("guarded",), (" 256, 3, 4>, false",)),
        ("bound", NEXT_PIECE,
         TENSOR,
         ("float, float, 256, 128, 4, (ladder::Blocks)2, 128>, (ladder::tensor_tiles::Finish)0",)),
    ],
    "The flag of partial sums is set before all warps have written theirs: with none of the seeds does the other block read in between.": [
        ("barrier",
         "__device__ __forceinline__ void sync() const { ptx::barrier_sync(1 + warpgroup, kWarpgroup); }",
         ("split_fp16",), (" 64, 3, 3>, false",)),
    ],
    "The first tile of a second band of C, which no problem has.": [
        ("bound",
         "if (!T::kSharesB || tile < narrow.first) { < TileOrigin at = origin_of<T>(plan, work.tile, rank);",
         TENSOR, ANY),
        ("bound",
         "if (!T::kSharesB || tile < narrow.first) { < at = origin_of<T>(plan, work.tile, rank);",
         TENSOR, ANY),
        ("bound",
         "if (tile < T::kBand * plan.tiles_n) { < TileOrigin at = origin_of<T>(plan, work.tile, rank);",
         TENSOR, ANY),
    ],
    "The end of a block's share of split tiles: no problem splits tiles that are stored in this way.": [
        ("bound", NEXT_PIECE, TENSOR, ("Finish)1",)),
    ],
    "In these problems the consumers wait here only in the ring's first round.": [
        ("parity 0", WAIT_FOR_FULL_STAGE,
         TENSOR, ("float, 128, 64, 9, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)1",)),
    ],
    "The last chunks are stored over operands that all warps have read: here each warp reads the part of A that it overwrites.": [
        ("barrier",
         "__device__ __forceinline__ void sync() const { ptx::barrier_sync(1 + warpgroup_, kWarpgroup); }",
         TENSOR, ALL_PAIRS),
    ],
    "In these problems the consumers wait here only in rounds of one parity.": [
        ("parity 0", WAIT_FOR_FULL_STAGE, TENSOR, RAGGED_PAIRS),
        ("parity 0", WAIT_OF_PAIR, TENSOR, RAGGED_PAIRS),
        ("parity 1", WAIT_FOR_FULL_STAGE, TENSOR, RAGGED_PAIRS),
        ("parity 1", WAIT_FOR_BUFFER, TENSOR, RAGGED_PAIRS),
        ("parity 1", WAIT_FOR_BUFFER_AT_END, TENSOR, RAGGED_PAIRS),
        ("parity 0", WAIT_FOR_BUFFER_AT_END, TENSOR, (PAIRS_232,)),
    ],
    "A chunk may be written before the previous one has been read: the storing warp is ahead with every seed.": [
        ("poll", WAIT_FOR_BUFFER, TENSOR, ALL_PAIRS),
        ("poll", WAIT_OF_PAIR, TENSOR, RAGGED_PAIRS),
        ("poll", WAIT_FOR_EMPTY_STAGE, TENSOR, (PAIRS_256,)),
    ],
    "In these problems the wait for the storing warp has one parity only.": [
        ("parity 1", WAIT_OF_PAIR, TENSOR, RAGGED_PAIRS),
        ("parity 0", WAIT_FOR_BUFFER, TENSOR, RAGGED_PAIRS),
    ],
    "In these problems the ring is at its first stage in this step.": [
        ("stage", "const std::uint32_t a = ptx::shared_address(s.a[warpgroup_ * T::WM]),",
         TENSOR, RAGGED_PAIRS),
    ],
    "The first narrow tile of a second band of C, which no problem has.": [
        ("bound", "if (pair.n >= narrow.columns) { < at = origin_of<T>(plan, work.tile, rank);",
         TENSOR, RAGGED_PAIRS),
    ],
    "Half of a block's last waits do not wait: arrivals of the other block come in order here.": [
        ("parity 0", WAIT_FOR_EMPTY_STAGE, TENSOR, (PAIRS_192,)),
    ],
    "Products still read a stage that is released: here it is not filled so early.": [
        ("wait", "ptx::wgmma_wait<0>();", TENSOR, (PAIRS_256,)),
    ],
}
ENTRIES = [Entry(reason, *row) for table in (EQUIVALENT, NOT_CAUGHT)
           for reason, rows in table.items() for row in rows]


def known(rung, kernel, mutant):
    """The entry that a mutant of a kernel, by its demangled name, fits, or None."""
    return next((entry for entry in ENTRIES if entry.fits(rung, kernel, mutant)), None)
