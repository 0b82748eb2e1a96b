# Programs and libraries that have the CUDA runtime linked in.

# vgpu_static(<program>): the program with the runtime linked in, from the same objects.
function(vgpu_static name)
  add_executable(vgpu_program_${name}.static $<TARGET_OBJECTS:vgpu_program_${name}>)
  set_target_properties(vgpu_program_${name}.static PROPERTIES LINKER_LANGUAGE CUDA
    CUDA_RUNTIME_LIBRARY Static)
  target_link_libraries(vgpu_program_${name}.static PRIVATE Threads::Threads ${CMAKE_DL_LIBS}
    ${ARGN})
  add_dependencies(vgpu_test_programs vgpu_program_${name}.static)
endfunction()

foreach(name vector_add graphs library pools symbols streams_events threads unsupported processes
  api_errors tensor_maps)
  vgpu_static(${name})
endforeach()
vgpu_test(static.vector_add --silent --counters ${here}/vector_add.counters.json
  -- vector_add.static)
vgpu_test(static.verbose --verbose
  --stderr "^vgpu: [^ ]*/vgpu_program_vector_add.static: static runtime, [0-9]+ entry points redirected\n$"
  -- vector_add.static)
vgpu_test(shared.verbose --verbose
  --stderr "^vgpu: [^ ]*/vgpu_program_vector_add: shared runtime, libcudart.so.13 is the virtual GPU.s\n$"
  -- vector_add)
vgpu_test(static.odd_folder --silent --installed-in "a b:c$LIB" -- vector_add.static)
vgpu_test(static.graphs --silent -- graphs.static)
vgpu_test(static.symbols --silent -- symbols.static)
vgpu_test(static.streams_events --stderr "^vgpu: times between events are" -- streams_events.static)
vgpu_test(static.library --stderr "lost cannot run: .*function nowhere has no body here"
  -- library.static)
vgpu_test(static.pools --exit 86 --stderr "^vgpu: cudaFreeAsync: " -- pools.static)
vgpu_test(static.threads --exit 86 --stderr "^vgpu: cudaFree: 0x[0-9a-f]+ is not the start"
  -- threads.static)
vgpu_test(static.unsupported --stderr "^vgpu: cudaArrayGetSparseProperties is not implemented\n"
  -- unsupported.static)
vgpu_test(static.api_errors --check=none -- api_errors.static)
vgpu_test(static.tensor_maps -- tensor_maps.static)
vgpu_script(static.processes processes.py processes.static)
if(TARGET vgpu_cublas)
  vgpu_static(cublas CUDA::cublas)
  vgpu_test(static.cublas --stderr "cublasUint8gemmBias is not implemented" -- cublas.static)
endif()

# A program and a library that it is linked to or loads later, each with a runtime.
add_library(vgpu_own_runtime SHARED two_runtimes_library.cu)
add_library(vgpu_own_runtime_stripped SHARED $<TARGET_OBJECTS:vgpu_own_runtime>)
target_link_options(vgpu_own_runtime_stripped PRIVATE -s)
foreach(library vgpu_own_runtime vgpu_own_runtime_stripped)
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CUDA CUDA_RUNTIME_LIBRARY Static)
  add_dependencies(vgpu_test_programs ${library})
endforeach()
vgpu_program(two_runtimes two_runtimes.cu)
vgpu_static(two_runtimes)
vgpu_program(two_runtimes_linked two_runtimes.cu)
target_link_options(vgpu_program_two_runtimes_linked PRIVATE -Wl,--no-as-needed)
target_link_libraries(vgpu_program_two_runtimes_linked PRIVATE vgpu_own_runtime)
vgpu_static(two_runtimes_linked -Wl,--no-as-needed vgpu_own_runtime)
foreach(way "" .static)
  vgpu_test(two_runtimes.linked${way} --silent -- two_runtimes_linked${way})
  vgpu_test(two_runtimes.loaded${way} --silent -- two_runtimes${way} $<TARGET_FILE:vgpu_own_runtime>
    3)
  vgpu_test(two_runtimes.stripped${way} --exit 1
    --stderr "^vgpu: [^ ]*_stripped.so has the CUDA runtime linked in and no symbols that say where: "
    --stderr "vgpu: [^ ]*_stripped.so: its CUDA runtime is linked in without symbols and cannot be "
    -- two_runtimes${way} $<TARGET_FILE:vgpu_own_runtime_stripped> 1)
endforeach()
vgpu_test(two_runtimes.verbose --verbose
  --stderr "two_runtimes_linked: shared runtime, .*\nvgpu: .*libvgpu_own_runtime.so: static runtime, "
  -- two_runtimes_linked)

# Thread-local variables that the loader must place at once: more of them than it keeps room for.
add_library(vgpu_own_tls SHARED own_tls.cpp)
vgpu_static(two_units -Wl,--no-as-needed vgpu_own_tls)
vgpu_test(static.two_units --silent -- two_units.static)

# CUDA 12's functions, which differ from CUDA 13's.
vgpu_program(cuda12 cuda12.cpp cuda12_runtime.cpp)
target_include_directories(vgpu_program_cuda12 SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
vgpu_test(static.cuda12 --verbose --stderr "vgpu_program_cuda12: static runtime of CUDA 12, "
  --stderr "vgpu: cudaLaunchCooperativeKernelMultiDevice of CUDA 12 is not implemented\n$" -- cuda12)

# The same program, linked to a library with the shared runtime's name and versions.
set(map ${CMAKE_CURRENT_BINARY_DIR}/libcudart.so.12.map)
file(WRITE ${map} "libcudart.so.12 { global: *; };\n")
add_library(vgpu_fake_cudart12 SHARED cuda12_runtime.cpp)
target_compile_definitions(vgpu_fake_cudart12 PRIVATE VGPU_SHARED_RUNTIME)
target_include_directories(vgpu_fake_cudart12 SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_options(vgpu_fake_cudart12 PRIVATE -Wl,-soname,libcudart.so.12
  -Wl,--version-script=${map})
set_target_properties(vgpu_fake_cudart12 PROPERTIES NO_SONAME ON)
vgpu_program(cuda12_shared cuda12.cpp LIBRARIES vgpu_fake_cudart12)
target_include_directories(vgpu_program_cuda12_shared SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
vgpu_test(shared.cuda12 --verbose
  --stderr "vgpu_program_cuda12_shared: shared runtime, libcudart.so.12 is the virtual GPU.s\n"
  --stderr "vgpu: cudaLaunchCooperativeKernelMultiDevice of CUDA 12 is not implemented\n$"
  -- cuda12_shared)

# As nvcc builds them when it is called by hand.
if(LADDER_SANITIZE)
  return()
endif()
function(vgpu_nvcc name)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(OUTPUT ${file} COMMAND ${CMAKE_CUDA_COMPILER} ${ARGN} -o ${file}
    DEPENDS hello.cu require.hpp WORKING_DIRECTORY ${here} VERBATIM)
  add_custom_target(vgpu_nvcc_${name} ALL DEPENDS ${file})
  add_dependencies(vgpu_test_programs vgpu_nvcc_${name})
  add_executable(vgpu_program_${name} IMPORTED GLOBAL)
  set_target_properties(vgpu_program_${name} PROPERTIES IMPORTED_LOCATION ${file})
endfunction()
set(hello_hello "")
set(hello_no_pie -Xcompiler -fno-pie -Xlinker -no-pie)
set(hello_marked -O0 -g -Xcompiler -fcf-protection=full)  # with endbr64 in the host code
set(hello_sections -Xcompiler -ffunction-sections -Xlinker --gc-sections)
set(hello_own_libstdcxx -Xcompiler -static-libstdc++ -Xcompiler -static-libgcc)
set(hello_rdc -rdc=true -arch=sm_90)
foreach(kind hello no_pie marked sections own_libstdcxx rdc)
  vgpu_nvcc(hello_${kind} hello.cu ${hello_${kind}})
  vgpu_test(static.nvcc.${kind} --silent --stdout "^NVIDIA H200 .*: 100 131\n$" -- hello_${kind})
endforeach()
vgpu_nvcc(hello_stripped hello.cu -Xlinker -s)
vgpu_test(static.nvcc.stripped --exit 2
  --stderr "^vgpu: [^ ]*hello_stripped has the CUDA runtime linked in and no symbols that say where: link it without -s .and do not strip it., or with `nvcc -cudart shared`\n$"
  -- hello_stripped)
