# Measures against long builds.
find_program(LADDER_CCACHE ccache)
foreach(language CXX CUDA)
  if(LADDER_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${LADDER_CCACHE})
  endif()
endforeach()
option(LADDER_UNITY "compile the sources of a library in a few groups, not one by one" ON)
set(LADDER_HOST_ISAS native CACHE STRING
  "host instruction sets that vectorised code is compiled for: native (this machine's best) or all")
set_property(CACHE LADDER_HOST_ISAS PROPERTY STRINGS native all)

# ladder_unity(<target> <groups> [SKIP <source>...]): compiles the target's C++ sources in about
# <groups> translation units. A SKIP source remains its own unit; names in anonymous namespaces must
# differ among the others.
function(ladder_unity target groups)
  cmake_parse_arguments(arg "" "" "SKIP" ${ARGN})
  if(NOT LADDER_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  list(LENGTH sources count)
  math(EXPR batch "(${count} + ${groups} - 1) / ${groups}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  if(arg_SKIP)
    set_source_files_properties(${arg_SKIP} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cu$")  # CMake 3.31 and later would group them, too
  if(sources)
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# -O1 for code that runs once per command, not per element: it compiles a third faster.
add_library(ladder_fast_build INTERFACE)
target_compile_options(ladder_fast_build INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)

# LADDER_ISAS: the instruction sets of the virtual GPU's executor, lowest first.
set(LADDER_ISAS x86_64 x86_64_v3 x86_64_v4)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(LADDER_ISAS aarch64)
elseif(LADDER_HOST_ISAS STREQUAL "native")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE macros ERROR_QUIET)
  set(LADDER_ISAS x86_64)
  set(needs_v3 AVX2 BMI BMI2 F16C FMA LZCNT MOVBE)
  set(needs_v4 ${needs_v3} AVX512F AVX512BW AVX512CD AVX512DQ AVX512VL)
  foreach(level v3 v4)
    set(has_all ON)
    foreach(need ${needs_${level}})
      if(NOT macros MATCHES "#define __${need}__ 1")
        set(has_all OFF)
      endif()
    endforeach()
    if(has_all)
      set(LADDER_ISAS x86_64_${level})
    endif()
  endforeach()
elseif(NOT LADDER_HOST_ISAS STREQUAL "all")
  message(FATAL_ERROR "LADDER_HOST_ISAS: '${LADDER_HOST_ISAS}': must be native or all")
endif()
