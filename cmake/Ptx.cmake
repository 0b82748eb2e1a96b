set(LADDER_DEVICE_CODE "" CACHE PATH
  "a build folder that has the device code already, for builds without nvcc")

# ladder_ptx(<target> <source.cu>... [ARCH compute_80] [OPTIONS ...]): compiles each source to PTX
# with line information at build time. The files are <current binary dir>/<target>/<name>.ptx.
# <target> builds all of them; its property LADDER_PTX_FILES lists them, and LADDER_PTX_DIR is their
# folder.
macro(ladder_ptx target)
  ladder_device_code(${target} ptx compute_80 ${ARGN})
endmacro()

# ladder_cubin(<target> <source.cu>... [ARCH sm_90] [OPTIONS ...]): the same for machine code,
# <name>.cubin; the properties are LADDER_CUBIN_FILES and LADDER_CUBIN_DIR.
macro(ladder_cubin target)
  ladder_device_code(${target} cubin sm_90 ${ARGN})
endmacro()

# Shared by both: `form` is nvcc's option and the file extension.
function(ladder_device_code target form arch)
  cmake_parse_arguments(arg "" "ARCH" "OPTIONS" ${ARGN})
  if(arg_ARCH)
    set(arch ${arg_ARCH})
  endif()
  set(lines -lineinfo)
  if("-G" IN_LIST arg_OPTIONS)   # which has line information of its own
    set(lines "")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  if(LADDER_DEVICE_CODE)
    file(RELATIVE_PATH place ${CMAKE_BINARY_DIR} ${folder})
    set(folder ${LADDER_DEVICE_CODE}/${place})
  endif()
  file(MAKE_DIRECTORY ${folder})
  set(files "")
  foreach(source ${arg_UNPARSED_ARGUMENTS})
    get_filename_component(name ${source} NAME_WE)
    get_filename_component(path ${source} ABSOLUTE)
    set(out ${folder}/${name}.${form})
    list(APPEND files ${out})
    if(LADDER_DEVICE_CODE)
      continue()
    endif()
    add_custom_command(
      OUTPUT ${out}
      COMMAND ${CMAKE_CUDA_COMPILER} -${form} ${lines} -std=c++20 -arch=${arch} ${arg_OPTIONS}
              -MD -MF ${out}.d -MT ${out} -o ${out} ${path}
      DEPENDS ${path}
      DEPFILE ${out}.d
      COMMENT "${form} ${target}/${name} (${arch})"
      VERBATIM)
  endforeach()
  if(LADDER_DEVICE_CODE)
    add_custom_target(${target})
  else()
    add_custom_target(${target} DEPENDS ${files})
  endif()
  string(TOUPPER ${form} upper)
  set_target_properties(${target} PROPERTIES LADDER_${upper}_FILES "${files}" LADDER_${upper}_DIR
    ${folder})
endfunction()
