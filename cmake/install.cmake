# cmake --install installs the command line, the library, its public headers and the package for find_package(distal).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET distal)
  install(TARGETS distal RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(CODE "set(DISTAL_PROGRAM \"$<TARGET_FILE:distal>\")
    set(DISTAL_MAN \"${CMAKE_INSTALL_MANDIR}\")
    set(DISTAL_SHARE \"${CMAKE_INSTALL_DATADIR}\")")
  install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/install_words.cmake)
endif()
install(TARGETS distal_library EXPORT distalTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/distal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/tune/models DESTINATION ${CMAKE_INSTALL_DATADIR}/distal)
# The build folder serves as a package too.
export(EXPORT distalTargets NAMESPACE distal:: FILE ${CMAKE_BINARY_DIR}/distalTargets.cmake)
install(EXPORT distalTargets NAMESPACE distal:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/distal)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/distalConfigVersion.cmake COMPATIBILITY SameMajorVersion)
configure_file(${CMAKE_SOURCE_DIR}/cmake/distalConfig.cmake ${CMAKE_BINARY_DIR}/distalConfig.cmake COPYONLY)
install(FILES ${CMAKE_BINARY_DIR}/distalConfig.cmake ${CMAKE_BINARY_DIR}/distalConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/distal)
