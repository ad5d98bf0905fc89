# cmake --install: headers, libraries, the program, the shipped packages, and what finds them (CMake and pkg-config). The
# tree can be moved: nothing in it names a folder of the machine.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(kernelpack_config ${CMAKE_INSTALL_LIBDIR}/cmake/kernelpack)
set(kernelpack_packages ${CMAKE_INSTALL_DATADIR}/kernelpack/packages)
set(kernelpack_components cpp)
if(TARGET kernelpack_shared)
  list(APPEND kernelpack_components c)
endif()

install(DIRECTORY include/kernelpack DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY packages/ DESTINATION ${kernelpack_packages})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(KERNELPACK_CLI)
  install(TARGETS kernelpack_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS kernelpack EXPORT kernelpack-cpp ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET kernelpack_shared)
  install(TARGETS kernelpack_shared EXPORT kernelpack-c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
foreach(component IN LISTS kernelpack_components)
  install(EXPORT kernelpack-${component} NAMESPACE kernelpack:: FILE kernelpack-${component}.cmake
          DESTINATION ${kernelpack_config})
endforeach()

configure_package_config_file(cmake/kernelpackConfig.cmake.in ${PROJECT_BINARY_DIR}/install/kernelpackConfig.cmake
  INSTALL_DESTINATION ${kernelpack_config} PATH_VARS kernelpack_packages)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/kernelpackConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/kernelpackConfig.cmake
              ${PROJECT_BINARY_DIR}/install/kernelpackConfigVersion.cmake
  DESTINATION ${kernelpack_config})

# What a linker that is no C++ compiler's needs beside the archive.
set(kernelpack_static_libraries -lstdc++ -lm -pthread ${CMAKE_DL_LIBS})
list(TRANSFORM kernelpack_static_libraries REPLACE "^([^-].*)$" "-l\\1")
list(JOIN kernelpack_static_libraries " " kernelpack_static_libraries)
set(kernelpack_archive ${CMAKE_STATIC_LIBRARY_PREFIX}kernelpack${CMAKE_STATIC_LIBRARY_SUFFIX})
file(RELATIVE_PATH kernelpack_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" kernelpack_up "${kernelpack_up}")
set(kernelpack_pc kernelpack-static.pc)
if(TARGET kernelpack_shared)
  list(APPEND kernelpack_pc kernelpack.pc)
endif()
foreach(file IN LISTS kernelpack_pc)
  configure_file(cmake/${file}.in ${PROJECT_BINARY_DIR}/install/${file} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/install/${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
