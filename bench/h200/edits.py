#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Choices of r17_stream_k undone, one at a time: each edit makes a copy of what the kernel is compiled of, in which some
text is replaced. bench/h200/edits.sh times the copies beside r17 as it is.
    edits.py list              names
    edits.py write EDIT FOLDER the files that differ, and r17_stream_k.cu, as they lie below src/"""
import dataclasses
import pathlib
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src"
RUNG = "rungs/cuda/r17_stream_k.cu"
TURNS, STORE, PLAN = (f"device/{name}.cuh" for name in ("warpgroup_turns", "tile_store", "tensor_plan"))


@dataclasses.dataclass(frozen=True)
class Edit:
    name: str
    what: str  # as the table of docs/ladder/r17.md says it
    changes: tuple  # (file, text, what stands there instead)


EDITS = (
    Edit("no_narrow_tiles", "all tiles of one width",
         ((PLAN, "t.narrow > 0 && wide < waves", "t.narrow < 0 && wide < waves"),)),
    Edit("boxes_apart", "narrow tiles one behind the other, whole boxes and rests in turn",
         ((PLAN, "int col = narrow.col, in_a_line = narrow.columns;", "int col = narrow.col;"),
          (PLAN, "behind.tiles_n = in_a_line = narrow.in_a_line;", "behind.tiles_n = narrow.in_a_line;"),
          (PLAN, "constexpr int kBoxes = kInWholeBoxes<T, T::kNarrow>, kRest = T::kNarrow - kBoxes;  // columns", ""),
          (PLAN, "col + pair.n * kBoxes}", "col + pair.n * T::kNarrow}"),
          (PLAN, "col + (in_a_line - 1) * kBoxes + pair.n * kRest}", "col + pair.n * T::kNarrow}"))),
    Edit("no_turns", "both warpgroups come to a tile's end together",
         ((TURNS, "kOn && work.end - work.begin >= T::STAGES;", "kOn && work.end < work.begin;"),)),  # without the code ptxas gets lost
    Edit("turns_of_two_stages", "turns two stages before a tile's end, in 16 bits", ((TURNS, "? 3 : 1;", "? 3 : 2;"),)),
    Edit("turns_of_one_stage", "turns one stage before a tile's end, in tf32, too", ((TURNS, "? 3 : 1;", "? 1 : 1;"),)),
    Edit("last_turn_as_others", "turns no earlier where nothing follows",
         ((TURNS, "const Work& work, bool last)", "const Work& work, bool /*last*/)"),
          (TURNS, "(last ? T::STAGES : kAhead)", "kAhead"))),
    Edit("nothing_stored", "sums are neither packed nor stored",
         ((RUNG, "store.template take<kWidth>(product, c, here);", "static_cast<void>(here);"),)),
    Edit("warpgroups_store", "16-bit chunks fenced and stored by the warpgroup that wrote them",
         ((STORE, "    if constexpr (kPacked) {\n      wait_until_read();\n      write(buffer, word);",
           "    if constexpr (kPacked && kNarrow < 0) {\n      wait_until_read();\n      write(buffer, word);"),
          (STORE, "      wait_until_read();\n      hand_over(kNothing, 0);", "      next_ = 0;\n      hand_over(kNothing, 0);"))),
    Edit("all_threads_fence", "every thread that wrote a chunk fences, not one",
         ((STORE, "    write(buffer, word);\n    meet();\n    if (!leads()) return;\n    ptx::fence_proxy_async();  // for all who have met\n",
           "    write(buffer, word);\n    ptx::fence_proxy_async();\n    meet();\n    if (!leads()) return;\n"),)),
    Edit("last_tile_by_buffers", "the last tile through the two buffers, not through lines of A",
         ((STORE, "if (kPacked && h < kPieces) {", "if (kPieces < 0) {"),)),
    Edit("always_alpha", "sums are multiplied by alpha, also by 1",
         ((STORE, "if (kPacked && c.alpha == 1.0F) {", "if constexpr (kNarrow < 0) {"),)),
    Edit("four_chunks_later", "four of eight 32-bit chunks leave beside products, not five",
         ((STORE, "kChunks / 2 + 1;", "kChunks / 2;"),)),
    Edit("first_copy_divides", "the first stage's place is divided for, and copied once the pair has met",
         ((RUNG, "kStartsAtOnce = !T::kSmall && kFinish != Finish::kParts;", "kStartsAtOnce = T::kSums < 0;"),)),
    Edit("k_there_and_back", "every second tile of a block from the end of k to its beginning",
         ((RUNG, "rank, at, step * T::BK, boxes);",
           "rank, at,\n                      (work.tile / plan.blocks % 2 == 0 ? step : work.begin + work.end - 1 - step) * T::BK, boxes);"),)),
    Edit("three_stages", "three stages, not four, where all tiles have one width: at 8192",
         ((RUNG, "Tile<In, Out, 128, 256, 4, Blocks::kPairAlongM>>", "Tile<In, Out, 128, 256, 3, Blocks::kPairAlongM>>"),)),
)


def edited(edit):
    """The files of an edit, by name: r17_stream_k.cu and those that it changes."""
    files = {name: (SOURCE / name).read_text() for name in (RUNG, *(change[0] for change in edit.changes))}
    for name, text, instead in edit.changes:
        if (found := files[name].count(text)) != 1:
            sys.exit(f"edits.py: {edit.name}: src/{name} has this {found} times, not once:\n{text}")
        files[name] = files[name].replace(text, instead)
    return files


def main():
    match sys.argv[1:]:
        case ["list"]:
            print(*(edit.name for edit in EDITS), sep="\n")
        case ["write", name, folder]:
            found = next((edit for edit in EDITS if edit.name == name), None)
            if found is None:
                sys.exit(f"edits.py: there is no edit '{name}'; `edits.py list` names them")
            for path, text in edited(found).items():
                to = pathlib.Path(folder) / path
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(text)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
