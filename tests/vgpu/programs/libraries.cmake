# Programs that use the libraries: cuBLAS, cuBLASLt, cuFFT, cuSPARSE, cuSOLVER and cuRAND.
if(TARGET vgpu_cublas)
  foreach(name cublas sgemm_ladder blas_products blas_structured blas_batches blas_forms
    blas_repeats blas_vectors)
    vgpu_program(${name} ${name}.cu LIBRARIES CUDA::cublas)
  endforeach()
  vgpu_test(cublas --stderr "cublasUint8gemmBias is not implemented" -- cublas)
  vgpu_test(blas.products
    --stderr "^(vgpu: cublasGemmEx: 32-bit sums of 8-bit integers, but [^\n]* is not supported\n)+$"
    -- blas_products)
  foreach(name blas_lt blas_lt_forms)
    vgpu_program(${name} ${name}.cu LIBRARIES CUDA::cublas CUDA::cublasLt)
  endforeach()
  vgpu_test(blas.lt
    --stderr "vgpu: cublasLtMatmul: a scale of a C that is not fp8, with beta is not supported\n"
    --stderr "^vgpu: cublasLtMatmulAlgoGetHeuristic: [^\n]* is not supported\n"
    --stderr "cublasLtMatmul: CUBLASLT_MATMUL_DESC_FILL_MODE is not supported"
    --stderr "cublasLtMatmul: CUDA_R_4F_E2M1 is not supported"
    --stderr "a bias or an auxiliary matrix where D is row-major is not supported" -- blas_lt)
  vgpu_test(blas.lt_forms --silent -- blas_lt_forms)
  vgpu_test(blas.lt_forms.other_device --exit 1 --device=rtx4090
    --stderr "scale modes 3 and 3 of A and B with this device, batch or type of D is not supported"
    -- blas_lt_forms)
  if(TARGET ladder_cublas AND NOT LADDER_SANITIZE)
    add_dependencies(vgpu_program_blas_products ladder_cublas)
    vgpu_test(blas.products.ladder --blas=ladder -- blas_products)
    vgpu_test(blas.lt.ladder --blas=ladder -- blas_lt)
  endif()
  foreach(name structured repeats)
    vgpu_test(blas.${name} --silent --stdout "^right\n$" -- blas_${name})
  endforeach()
  foreach(name batches forms)
    vgpu_test(blas.${name} --silent -- blas_${name})
  endforeach()
  vgpu_test(blas.vectors --stderr "^vgpu: cublasSscal: an operand is not wholly in device memory\n$"
    -- blas_vectors)
  vgpu_test(sgemm_ladder --stdout "kernel 1: equal\nkernel 2: equal\nkernel 3: equal"
    -- sgemm_ladder)
  foreach(library cublas cublasLt)
    string(TOLOWER ${library} name)
    vgpu_python(exports.${name} check_exports.py ${CMAKE_NM} lib${library}.so.13 -
      ${PROJECT_BINARY_DIR}/vgpu/names/${library}_names.inc -- $<TARGET_FILE:vgpu_${name}>)
  endforeach()
endif()

if(TARGET vgpu_cufft)
  vgpu_program(fft fft.cu LIBRARIES CUDA::cufft)
  vgpu_test(fft --check=all --stdout "^right\n$"
    --stderr "^vgpu: cufftExecC2C: an operand is not wholly in device memory\n$" -- fft)
  vgpu_python(exports.cufft check_exports.py ${CMAKE_NM} libcufft.so.12 -
    ${PROJECT_BINARY_DIR}/vgpu/names/cufft_names.inc -- $<TARGET_FILE:vgpu_cufft>)
endif()

if(TARGET vgpu_cusparse)
  foreach(name sparse sparse_rows)
    vgpu_program(${name} ${name}.cu OPTIONS -DDISABLE_CUSPARSE_DEPRECATED LIBRARIES CUDA::cusparse)
  endforeach()
  vgpu_test(sparse.rows --check=all --silent --stdout "^right\n$" -- sparse_rows)
  vgpu_test(sparse --check=all --stdout "^right\n$"
    --stderr "^(vgpu: cusparseSpMM: these types are not supported\n){2}"
    --stderr "\nvgpu: cusparseSpMM: an operand is not wholly in device memory\n"
    --stderr "\nvgpu: cusparseSpMM: an index lies outside of its matrix: the result is wrong\n"
    --stderr "\nvgpu: cusparseCreateBsrsv2Info is not implemented\n$" -- sparse)
  vgpu_python(exports.cusparse check_exports.py ${CMAKE_NM} libcusparse.so.12 -
    ${PROJECT_BINARY_DIR}/vgpu/names/cusparse_names.inc -- $<TARGET_FILE:vgpu_cusparse>)
endif()

if(TARGET vgpu_cusolver)
  foreach(name solver solver_spectra)
    vgpu_program(${name} ${name}.cu LIBRARIES CUDA::cusolver)
  endforeach()
  vgpu_test(solver.spectra --check=all --silent --stdout "^right\n$" -- solver_spectra)
  vgpu_test(solver --check=all --stdout "^right\n$"
    --stderr "^vgpu: cusolverDnSpotrf: an operand is not wholly in device memory\n"
    --stderr "\nvgpu: cusolverDnXgesvdr is not implemented\n$" -- solver)
  vgpu_python(exports.cusolver check_exports.py ${CMAKE_NM} libcusolver.so.12 -
    ${PROJECT_BINARY_DIR}/vgpu/names/cusolver_names.inc -- $<TARGET_FILE:vgpu_cusolver>)
endif()

if(TARGET vgpu_curand)
  vgpu_program(rand_measured rand_measured.cu LIBRARIES CUDA::curand)
  vgpu_test(rand.measured --silent --stdout "^right\n$" -- rand_measured)
  set_tests_properties(vgpu.rand.measured PROPERTIES TIMEOUT 300)  # MT19937 takes 8 s to begin
  vgpu_program(rand_sequences rand_sequences.cu OPTIONS --extended-lambda LIBRARIES CUDA::curand)
  vgpu_test(rand.sequences --silent --stdout "^right\n$" -- rand_sequences)
  vgpu_program(rand_rules rand_rules.cu LIBRARIES CUDA::curand)
  vgpu_test(rand.rules --check=all --stdout "^right\n$"
    --stderr "^(vgpu: curandGenerate: the output is not wholly in device memory\n)+vgpu: c"
    --stderr "curandGeneratePoissonMethod: the toolkit's host generators do not support it"
    --stderr "curandSetGeneratorOrdering: CURAND_ORDERING_PSEUDO_DYNAMIC, which depends on the GPU"
    --stderr "curandGenerate: in a stream that is being captured, it is not supported"
    --stderr "curandGenerate: the output of a host generator is in device memory" -- rand_rules)
  # The toolkit's library is looked for where the loader looks.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/curand)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${CUDA_curand_LIBRARY} ${folder}/libcurand.so.10 SYMBOLIC)
  vgpu_test(rand.folder --setting LD_LIBRARY_PATH=${folder} --verbose --stdout "^right\n$"
    --stderr "programs/curand/libcurand.so.10: the toolkit's" -- rand_rules)
endif()
