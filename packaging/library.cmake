# Installation rules of libladder, in components: ladder_runtime, the shared library; ladder_devel,
# the headers, the static library, and what find_package(ladder) and pkg-config read;
# ladder_interpose, the library to preload in place of cuBLAS.
# No file names the prefix: the tree can be moved.
include(CMakePackageConfigHelpers)
if(NOT LADDER_DIST)   # else it is built for its programs
  set(package ${CMAKE_CURRENT_BINARY_DIR}/package)
  set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/ladder)
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ladderConfig.cmake.in
    ${package}/ladderConfig.cmake INSTALL_DESTINATION ${package_folder}
    PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
  write_basic_package_version_file(${package}/ladderConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
  file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/ladder.pc.in ${package}/ladder.pc @ONLY)

  set_target_properties(ladder_shared PROPERTIES INSTALL_RPATH "${CUDAToolkit_LIBRARY_DIR}"
    BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS ladder_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT ladder_runtime NAMELINK_COMPONENT ladder_devel)
  if(TARGET ladder_cublas)
    install(TARGETS ladder_cublas LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT ladder_interpose)
  endif()
  install(FILES ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libladder.a DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT ladder_devel)
  install(FILES ${PROJECT_SOURCE_DIR}/include/ladder/gemm.h
    ${PROJECT_SOURCE_DIR}/include/ladder/gemm.hpp
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ladder COMPONENT ladder_devel)
  install(FILES ${package}/ladderConfig.cmake ${package}/ladderConfigVersion.cmake
    DESTINATION ${package_folder} COMPONENT ladder_devel)
  install(FILES ${package}/ladder.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT ladder_devel)
endif()
