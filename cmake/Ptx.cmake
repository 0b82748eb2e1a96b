# ladder_ptx(<target> <source.cu>... [ARCH compute_80] [OPTIONS ...]): compiles each source to PTX with line
# information at build time. The files are <current binary dir>/<target>/<name>.ptx; <target> builds them all, and
# its property LADDER_PTX_FILES lists them, LADDER_PTX_DIR is their folder.
function(ladder_ptx target)
  cmake_parse_arguments(arg "" "ARCH" "OPTIONS" ${ARGN})
  if(NOT arg_ARCH)
    set(arg_ARCH compute_80)
  endif()
  set(lines -lineinfo)
  if("-G" IN_LIST arg_OPTIONS)   # which has line information of its own
    set(lines "")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  file(MAKE_DIRECTORY ${folder})
  set(files "")
  foreach(source ${arg_UNPARSED_ARGUMENTS})
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(path ${source} ABSOLUTE)
    set(out ${folder}/${name}.ptx)
    add_custom_command(
      OUTPUT ${out}
      COMMAND ${CMAKE_CUDA_COMPILER} -ptx ${lines} -std=c++20 -arch=${arg_ARCH} ${arg_OPTIONS}
              -MD -MF ${out}.d -MT ${out} -o ${out} ${path}
      DEPENDS ${path}
      DEPFILE ${out}.d
      COMMENT "PTX ${target}/${name} (${arg_ARCH})"
      VERBATIM)
    list(APPEND files ${out})
  endforeach()
  add_custom_target(${target} DEPENDS ${files})
  set_target_properties(${target} PROPERTIES LADDER_PTX_FILES "${files}" LADDER_PTX_DIR ${folder})
endfunction()

# ladder_cubin(<target> <source.cu>... [ARCH sm_90] [OPTIONS ...]): the same for machine code, <name>.cubin; its property
# LADDER_CUBIN_DIR is the folder.
function(ladder_cubin target)
  cmake_parse_arguments(arg "" "ARCH" "OPTIONS" ${ARGN})
  if(NOT arg_ARCH)
    set(arg_ARCH sm_90)
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  file(MAKE_DIRECTORY ${folder})
  set(files "")
  foreach(source ${arg_UNPARSED_ARGUMENTS})
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(path ${source} ABSOLUTE)
    set(out ${folder}/${name}.cubin)
    add_custom_command(
      OUTPUT ${out}
      COMMAND ${CMAKE_CUDA_COMPILER} -cubin -lineinfo -std=c++20 -arch=${arg_ARCH} ${arg_OPTIONS}
              -MD -MF ${out}.d -MT ${out} -o ${out} ${path}
      DEPENDS ${path}
      DEPFILE ${out}.d
      COMMENT "Machine code ${target}/${name} (${arg_ARCH})"
      VERBATIM)
    list(APPEND files ${out})
  endforeach()
  add_custom_target(${target} DEPENDS ${files})
  set_target_properties(${target} PROPERTIES LADDER_CUBIN_DIR ${folder})
endfunction()
