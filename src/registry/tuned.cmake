# From src/registry/tuned/<gpu>.json to the tiles that are compiled in: for each rung that declares
# a search space generated/tuned/<rung>.inc, one line a GPU and last the tile set by hand; and
# tunable.inc, the list of those rungs. The tuner compiles a candidate by the same file with a
# single line. docs/tuning.md says it for users.
function(ladder_tuned)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/registry/tuned/*.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  set(tunable "")
  foreach(rung ${ARGN})
    string(APPEND tunable "LADDER_TUNABLE(${rung})\n")
    set(lines "")
    foreach(file ${files})
      file(READ ${file} json)
      string(JSON gpu GET "${json}" gpu)
      string(JSON values ERROR_VARIABLE none GET "${json}" rungs ${rung} values)
      if(none STREQUAL "NOTFOUND")
        string(REGEX REPLACE "[][ \n]" "" values "${values}")
        string(APPEND lines "{\"${gpu}\", launch_tile<Tile<${values}>>},\n")
      endif()
    endforeach()
    file(CONFIGURE OUTPUT generated/tuned/${rung}.inc CONTENT "${lines}{\"\", launch_tile<TileByHand>}\n" @ONLY)
  endforeach()
  file(CONFIGURE OUTPUT generated/tunable.inc CONTENT "${tunable}")
endfunction()
