# cmake --install: the command line, the library, its public headers, and what find_package(distal) needs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS distal RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET distal_mpi)
  # A build of the command line alone has none; `distal` looks for it beside itself.
  install(TARGETS distal_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
endif()
install(TARGETS distal_library EXPORT distalTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/distal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The build folder serves as a package too.
export(EXPORT distalTargets NAMESPACE distal:: FILE ${CMAKE_BINARY_DIR}/distalTargets.cmake)
install(EXPORT distalTargets NAMESPACE distal:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/distal)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/distalConfigVersion.cmake COMPATIBILITY SameMajorVersion)
file(WRITE ${CMAKE_BINARY_DIR}/distalConfig.cmake "include(\${CMAKE_CURRENT_LIST_DIR}/distalTargets.cmake)\n")
install(FILES ${CMAKE_BINARY_DIR}/distalConfig.cmake ${CMAKE_BINARY_DIR}/distalConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/distal)
