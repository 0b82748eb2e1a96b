# Warnings are errors, for host and device. ptxas's spill warning is one of them: a rung that spills does not build.
add_library(ladder_warnings INTERFACE)
set(host_warnings -Wall -Wextra -Wshadow -Wno-unknown-pragmas)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND host_warnings -Wno-restrict)  # GCC 12 reports it falsely on std::string's operator+ (GCC bug 105651)
endif()
target_compile_options(ladder_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${host_warnings} -Werror -Wconversion -Wno-sign-conversion -Wno-float-conversion>
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings -Xcompiler=-Wall,-Wextra,-Werror>"
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xptxas --warn-on-spills,-Werror>")
