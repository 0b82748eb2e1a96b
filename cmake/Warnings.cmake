# Warnings for host and device code. LADDER_WERROR turns them into errors: CI sets it, while
# elsewhere a compiler newer than CI's does not stop a build. A register spill depends on the
# kernel, not on the host compiler, hence ptxas's warning about it is always an error.
option(LADDER_WERROR "make warnings errors" OFF)
add_library(ladder_warnings INTERFACE)
set(host_warnings -Wall -Wextra -Wshadow -Wno-unknown-pragmas)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports it falsely on std::string's operator+ (GCC bug 105651)
  list(APPEND host_warnings -Wno-restrict)
endif()
set(cuda_warnings "SHELL:-Xcompiler=-Wall,-Wextra")
if(LADDER_WERROR)
  list(APPEND host_warnings -Werror)
  set(cuda_warnings "SHELL:-Werror all-warnings -Xcompiler=-Wall,-Wextra,-Werror")
endif()
list(APPEND host_warnings -Wconversion -Wno-sign-conversion -Wno-float-conversion)
target_compile_options(ladder_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${host_warnings}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xptxas --warn-on-spills,-Werror>")
