# Converts src/registry/tuned/<gpu>.json into the tiles that are compiled in. For each rung with a
# search space it writes generated/tuned/<rung>.inc, with one line per GPU and the manual tile last,
# and it writes tunable.inc, the list of those rungs. The tuner compiles a candidate with the same
# file, which then has a single line. docs/tuning.md describes this for users.
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
    file(CONFIGURE OUTPUT generated/tuned/${rung}.inc CONTENT
      "${lines}{\"\", launch_tile<TileByHand>}\n" @ONLY)
  endforeach()
  file(CONFIGURE OUTPUT generated/tunable.inc CONTENT "${tunable}")
endfunction()
