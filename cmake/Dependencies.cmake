# Finds the dependencies: Debian's packages, else the headers that `scripts/bundle-headers` puts
# into a folder (LADDER_DEPS, by default .deps) for machines where nothing can be installed. A
# missing dependency disables its part with a message; only nvcc and a C++20 compiler are required.
set(LADDER_DEPS "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH
  "folder of bundled headers (scripts/bundle-headers)")
find_package(Threads REQUIRED)
find_package(CUDAToolkit REQUIRED)

# ladder_find_headers(<target> <header> [DEFINES ...]): an INTERFACE target for a header-only
# library.
function(ladder_find_headers target header)
  cmake_parse_arguments(arg "" "" "DEFINES" ${ARGN})
  find_path(${target}_DIR ${header} PATHS ${LADDER_DEPS}/include)
  if(${target}_DIR)
    add_library(ladder_${target} INTERFACE)
    # SYSTEM: their warnings are not ours.
    if(NOT ${target}_DIR STREQUAL "/usr/include")
      target_include_directories(ladder_${target} SYSTEM INTERFACE ${${target}_DIR})
    endif()
    target_compile_definitions(ladder_${target} INTERFACE ${arg_DEFINES})
    set(LADDER_HAVE_${target} ON PARENT_SCOPE)
  else()
    set(LADDER_HAVE_${target} OFF PARENT_SCOPE)
  endif()
endfunction()

ladder_find_headers(cli11 CLI/CLI.hpp)
ladder_find_headers(json nlohmann/json.hpp)
find_package(fmt CONFIG QUIET)
if(fmt_FOUND)
  add_library(ladder_fmt INTERFACE)
  target_link_libraries(ladder_fmt INTERFACE fmt::fmt)
  if(LADDER_DIST)   # packaging/dist builds a static one
    get_target_property(configurations fmt::fmt IMPORTED_CONFIGURATIONS)
    foreach(configuration ${configurations})
      set_target_properties(fmt::fmt PROPERTIES IMPORTED_LOCATION_${configuration}
        ${LADDER_FMT_LIBRARY})
    endforeach()
  endif()
  set(LADDER_HAVE_fmt ON)
else()
  ladder_find_headers(fmt fmt/format.h DEFINES FMT_HEADER_ONLY)
endif()

find_package(GTest QUIET)
if(NOT GTest_FOUND AND EXISTS ${LADDER_DEPS}/googletest/CMakeLists.txt)
  set(INSTALL_GTEST OFF)
  add_subdirectory(${LADDER_DEPS}/googletest ${CMAKE_BINARY_DIR}/googletest EXCLUDE_FROM_ALL SYSTEM)
  if(NOT TARGET GTest::gtest_main)
    add_library(GTest::gtest_main ALIAS gtest_main)
    add_library(GTest::gtest ALIAS gtest)
  endif()
  set(GTest_FOUND ON)
endif()
find_package(benchmark CONFIG QUIET)

find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas x86_64-linux-gnu openblas-pthread)
find_library(OPENBLAS_LIBRARY openblas)
if(OPENBLAS_INCLUDE_DIR AND OPENBLAS_LIBRARY)
  add_library(ladder_openblas INTERFACE)
  target_include_directories(ladder_openblas SYSTEM INTERFACE ${OPENBLAS_INCLUDE_DIR})
  target_link_libraries(ladder_openblas INTERFACE ${OPENBLAS_LIBRARY})
  set(LADDER_HAVE_openblas ON)
endif()

find_path(HIGHWAY_INCLUDE_DIR hwy/highway.h)
find_library(HIGHWAY_LIBRARY hwy)
if(HIGHWAY_INCLUDE_DIR AND HIGHWAY_LIBRARY)
  add_library(ladder_highway INTERFACE)
  target_include_directories(ladder_highway SYSTEM INTERFACE ${HIGHWAY_INCLUDE_DIR})
  target_link_libraries(ladder_highway INTERFACE ${HIGHWAY_LIBRARY})
  # Instruction sets between those of the register tile are disabled. With LADDER_HOST_ISAS=native
  # all are disabled except SSE2, without which Highway does not compile, and this machine's. Bits 0
  # to 14 are x86-64's.
  set(disabled "(HWY_SSSE3|HWY_AVX3_DL)")
  if(LADDER_HOST_ISAS STREQUAL "native")
    set(disabled_x86_64 "0x3fff")
    set(disabled_x86_64_v3 "(0x3fff&~HWY_AVX2)")
    set(disabled_x86_64_v4 "(0x3fff&~HWY_AVX3)")
    set(disabled "${disabled_${LADDER_ISAS}}")
  endif()
  target_compile_definitions(ladder_highway INTERFACE "HWY_DISABLED_TARGETS=${disabled}")
  set(LADDER_HAVE_highway ON)
endif()

find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
if(ZSTD_INCLUDE_DIR AND ZSTD_LIBRARY)
  add_library(ladder_zstd INTERFACE)
  target_include_directories(ladder_zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIR})
  target_link_libraries(ladder_zstd INTERFACE ${ZSTD_LIBRARY})
  set(LADDER_HAVE_zstd ON)
endif()

# A baseline of the climb. The wheel has 600 MB, so it is optional on a machine without a GPU.
option(LADDER_CUBLAS "use cuBLAS where it is found" ON)
if(LADDER_CUBLAS AND TARGET CUDA::cublas)
  set(LADDER_HAVE_cublas ON)
endif()

# ladder_part(<variable> <what it is> <need>...): ON if every need is present, else OFF with a
# message.
function(ladder_part variable what)
  set(missing "")
  foreach(need ${ARGN})
    if(NOT LADDER_HAVE_${need})
      list(APPEND missing ${need})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing ", " missing)
    message(STATUS "off: ${what} (missing: ${missing}; scripts/setup installs them)")
    set(${variable} OFF PARENT_SCOPE)
  else()
    set(${variable} ON PARENT_SCOPE)
  endif()
endfunction()
set(LADDER_HAVE_gtest ${GTest_FOUND})
set(LADDER_HAVE_benchmark ${benchmark_FOUND})
