// SPDX-License-Identifier: Apache-2.0
#include "analyse/tile.hpp"

#include <tuple>

#include <gtest/gtest.h>

namespace ladder::analyse {
namespace {

struct Published {
  const char *rung, *kernel, *global, *shared;
};

// Notes on kernels 1 to 10: loads per result by level, of the tiles that they give.
TEST(PublishedLoads, a_result_by_level) {
  const Published table[] = {
      {"r01_naive", "kernel<Tile>", "2K", "0"},
      {"r02_coalesced", "kernel<Tile>", "2K", "0"},
      {"r03_smem_tile",
       "void ladder::r03_smem_tile::kernel<ladder::r03_smem_tile::Tile<32> >(ladder::Problem)",
       "K/16", "2K"},
      {"r04_block_tile_1d", "kernel<x::Tile<64, 64, 8, 8> >", "K/32", "9K/8"},
      {"r05_block_tile_2d", "kernel<x::Tile<128, 128, 8, 8, 8> >", "K/64", "K/4"},
  };
  for (const Published& row : table) {
    const auto tile = tile_of(row.rung, row.kernel);
    ASSERT_TRUE(tile) << row.rung;
    const Loads loads = loads_per_result(*tile, 4096);
    EXPECT_EQ(loads.global_formula, row.global) << row.rung;
    EXPECT_EQ(loads.shared_formula, row.shared) << row.rung;
  }
}

TEST(Loads, numbers_follow_the_formulas) {
  const auto tile = tile_of("r04_block_tile_1d", "x::Tile<64, 64, 8, 8>");
  const Loads loads = loads_per_result(*tile, 4096);
  EXPECT_DOUBLE_EQ(loads.global_loads, 4096.0 / 32);
  EXPECT_DOUBLE_EQ(loads.shared_loads, 4096.0 * 9 / 8);
}

TEST(Tile, parameters_keep_the_rungs_names_and_order) {
  const auto tile = tile_of("r10_warp_tile", "k<r::Tile<128, 128, 32, 64, 32, 8, 8>, true>");
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->wm, 64);
  EXPECT_EQ(tile->wn, 32);
  ASSERT_EQ(tile->parameters.size(), 7U);
  EXPECT_EQ(tile->parameters[3], (std::pair<std::string, int>("WM", 64)));
}

TEST(Tile, large_tiles_have_groups_of_warps_behind_the_warps_tile) {
  const auto tile = tile_of("simt_tiles", "k<s::Tile<64, 128, 16, 64, 64, 2, 16, 8, 5, 2>, true>");
  ASSERT_TRUE(tile);
  EXPECT_EQ(std::tuple(tile->bm, tile->bn, tile->bk, tile->wm, tile->wn, tile->tm, tile->tn),
            std::tuple(64, 128, 16, 64, 64, 16, 8));
  EXPECT_EQ(tile->stages, 5);
}

TEST(Tile, types_stand_before_the_numbers) {
  const auto bf16 = tile_of("r14_wgmma", "k<r::Tile<__nv_bfloat16, float, 128, 256, 4> >(r::Maps)");
  ASSERT_TRUE(bf16);
  EXPECT_TRUE(bf16->warpgroups && bf16->in_step);
  EXPECT_EQ(std::tuple(bf16->bm, bf16->bn, bf16->bk, bf16->stages), std::tuple(128, 256, 64, 4));
  // A product of 64 x 256 outputs reads 64 of A and 256 of B.
  EXPECT_EQ(loads_per_result(*bf16, 4096).shared_formula, "5K/256");
  const auto tf32 =
      tile_of("r16_persistent", "k<r::Tile<float, float, 256, 128, 4>, true>(r::Maps)");
  ASSERT_TRUE(tf32);
  EXPECT_EQ(tf32->bk, 32);
  EXPECT_EQ(tf32->pair, 2);
}

TEST(Tile, r17_takes_its_widest_where_that_fills_the_device) {
  const auto small =
      tile_of("tensor_tiles", "k<r::Tile<__half, __half, 128, 64, 8, (ladder::Blocks)0, 64> >");
  ASSERT_TRUE(small);
  EXPECT_EQ(small->bn, 64);
  Problem p = make_problem(4096, 4096, 4096);
  p.in = p.out = Type::kF16;
  const TileShape large = *tile_for("tensor_tiles", *small, p, 132);
  EXPECT_EQ(std::tuple(large.bm, large.bn, large.pair), std::tuple(128, 256, 2));
  EXPECT_EQ(tile_for("tensor_tiles", *small, make_problem(1024, 1024, 1024), 132)->bn, 64);
  EXPECT_EQ(tile_for("r16_persistent", *small, p, 132)->bn, 64) << "others have one tile";
}

TEST(Tile, rungs_on_tensor_cores) {
  const auto r17 = tile_of(
      "r17_stream_k", "k<ladder::r17_stream_k::Tile<__nv_bfloat16, float, 128, 256, 4> >(int)");
  ASSERT_TRUE(r17);
  EXPECT_EQ(std::tuple(r17->bm, r17->bn, r17->bk, r17->stages), std::tuple(128, 256, 64, 4));
  EXPECT_TRUE(r17->evenly);
  EXPECT_EQ(r17->pair, 2);
  for (const auto& [rung, kernel, terms, products, bk] :
       {std::tuple("r18_bf16x6",
                   "k<ladder::r18_bf16x6::Tile<ladder::terms::Format<__nv_bfloat16, 3, 0, 32>, "
                   "128, 256, 3, 6> >(int)",
                   3, 6, 32),
        std::tuple("r19_fp16x3",
                   "k<ladder::r19_fp16x3::Tile<ladder::terms::Format<__half, 2, 14, 64>, 128, 256, "
                   "3, 4> >(int)",
                   2, 3, 64)}) {
    const auto tile = tile_of(rung, kernel);
    ASSERT_TRUE(tile) << rung;
    EXPECT_EQ(std::tuple(tile->bm, tile->bn, tile->bk), std::tuple(128, 256, bk)) << rung;
    EXPECT_EQ(std::tuple(tile->terms, tile->products), std::tuple(terms, products)) << rung;
    for (const int size : {512, 2000, 4096})
      EXPECT_EQ(tile_for(rung, *tile, make_problem(size, size, size), 132)->bn, 256) << rung;
  }
}

TEST(Tile, of_8_bit_operands) {
  const std::string scaled = "ladder::Scaled<__nv_fp8_e4m3, (ladder::Scaling)2>";
  const auto r20 = tile_of(
      "r20_fp8", "k<r::Tile<__nv_fp8_e4m3, __nv_bfloat16, (ladder::Scaling)2, 128, 256, 4> >(int)");
  const auto library = tile_of("scaled_tiles", "k<t::Tile<" + scaled +
                                                   ", float, 64, 128, 9, (ladder::Blocks)0, 128>, "
                                                   "(t::Finish)0>(int)");
  ASSERT_TRUE(r20 && library);
  EXPECT_EQ(std::tuple(r20->bm, r20->bn, r20->bk, r20->stages), std::tuple(128, 256, 128, 4));
  EXPECT_EQ(std::tuple(library->bm, library->bn, library->bk, library->stages),
            std::tuple(64, 128, 128, 9));
  EXPECT_TRUE(r20->promotes && library->promotes);
  EXPECT_EQ(r20->columns_of_product(), 128);
  Problem large = make_problem(4096, 4096, 4096);
  large.in = Type::kE4m3;
  const auto tile = tile_for("scaled_tiles", *library, large, 132);
  ASSERT_TRUE(tile);
  EXPECT_EQ(std::tuple(tile->bm, tile->bn, tile->bk, tile->pair), std::tuple(128, 256, 128, 2));
  large.m = 128;
  EXPECT_FALSE(tile_for("scaled_tiles", *library, large, 132)) << "its plan chooses";
}

TEST(Tile, split_operands_have_terms_and_products) {
  const auto tile =
      tile_of("ladder_bf16x6",
              "void ladder::kernel<ladder::CooperativeTile<ladder::TermFormat<__nv_bfloat16, "
              "3>, 6, 64, 4, 4>, false, false>(CUtensorMap_st)");
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->terms, 3);
  EXPECT_EQ(tile->products, 6);
  EXPECT_EQ(tile->term_bytes, 2);
  EXPECT_EQ(tile->bm, 128);
  EXPECT_EQ(tile->bn, 64);
  EXPECT_EQ(tile->bk, 32) << "lines of 64 bytes";
  EXPECT_EQ(tile->stages, 4);
  const auto tf32 =
      tile_of("ladder_bf16x6",
              "k<ladder::CooperativeTile<ladder::TermFormat<float, 2>, 3, 64, 3, 3>, false>");
  ASSERT_TRUE(tf32);
  EXPECT_EQ(tf32->term_bytes, 4);
  EXPECT_EQ(tf32->bk, 32) << "lines of 128 bytes";
  const auto ping_pong =
      tile_of("ladder_fp16x3",
              "k<ladder::PingPongTile<ladder::TermFormat<__half, 2>, 3, 4>, false, false>");
  ASSERT_TRUE(ping_pong);
  EXPECT_EQ(std::tuple(ping_pong->bm, ping_pong->bn, ping_pong->bk), std::tuple(64, 128, 64));
  EXPECT_EQ(std::tuple(ping_pong->terms, ping_pong->products, ping_pong->stages),
            std::tuple(2, 3, 4));
  // Large problems take 128 x 256: three units of A and six of B, which are three stages.
  const auto wide = tile_for("ladder_bf16x6", *tile, make_problem(4096, 4096, 4096), 132);
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->bn, 256);
  EXPECT_EQ(wide->stages, 3);
  EXPECT_EQ(wide->columns_of_product(), 128);
  EXPECT_EQ(loads_per_result(*wide, 1).global_formula, "9K/256");
  EXPECT_FALSE(tile_for("ladder_bf16x6", *tile, make_problem(2000, 2000, 2000), 264))
      << "between: not known";
  EXPECT_EQ(tile_for("ladder_bf16x6", *tile, make_problem(512, 512, 512), 132)->bn, 64);
}

TEST(Tile, what_is_not_known_is_not_guessed) {
  EXPECT_FALSE(tile_of("r99_other", "k<r::Tile<128, 128> >"));
  EXPECT_FALSE(tile_of("r05_block_tile_2d", "something_else()"));
}

}  // namespace
}  // namespace ladder::analyse
