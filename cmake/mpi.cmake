# The MPI engine, and distal-mpi, a command line linked with it, which `distal` starts. Without an MPI everything else
# is built, and `distal run --engine mpi` says what is missing.

# False if the compiler wrapper of an MPI is installed without mpi.h: FindMPI would fail the whole configuration.
function(mpi_has_headers out)
  find_program(wrapper NAMES ${MPI_CXX_COMPILER} mpicxx mpic++ NO_CACHE)
  set(${out} TRUE PARENT_SCOPE)
  if(wrapper)
    file(WRITE ${CMAKE_BINARY_DIR}/mpi_header.cpp "#include <mpi.h>\n")
    execute_process(COMMAND ${wrapper} -E ${CMAKE_BINARY_DIR}/mpi_header.cpp
                    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status)
      message(STATUS "${wrapper} finds no mpi.h")
      set(${out} FALSE PARENT_SCOPE)
    endif()
  endif()
endfunction()

set(mpi_wanted OFF)
# MPI libraries are not instrumented for the thread sanitizer.
if(DISTAL_MPI AND NOT DISTAL_SANITIZE STREQUAL "thread")
  mpi_has_headers(mpi_wanted)
endif()
if(mpi_wanted)
  set(MPI_CXX_SKIP_MPICXX ON)  # without the obsolete C++ bindings
  find_package(MPI QUIET COMPONENTS CXX)
endif()
set_property(SOURCE src/cli/mpi_start.cpp APPEND PROPERTY COMPILE_DEFINITIONS DISTAL_MPIEXEC="${MPIEXEC_EXECUTABLE}")
if(NOT MPI_CXX_FOUND)
  message(STATUS "no MPI found: the MPI engine is left out (packages: libopenmpi-dev openmpi-bin)")
  return()
endif()
message(STATUS "MPI: ${MPI_CXX_LIBRARIES}, started by ${MPIEXEC_EXECUTABLE}")

# Environment for tests that start ranks: allows more ranks than cores, and the root user of a container.
set(DISTAL_MPI_FINE
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)

file(GLOB DISTAL_MPI_SOURCES CONFIGURE_DEPENDS src/engine/mpi/*.cpp src/session/mpi/*.cpp)
file(GLOB DISTAL_MPI_API_SOURCES CONFIGURE_DEPENDS src/api/mpi/*.cpp)
file(GLOB DISTAL_MPI_CLI_SOURCES CONFIGURE_DEPENDS src/cli/mpi/*.cpp)

# distal_mpi_targets(NAME MPI...): the MPI engine for one MPI, as NAME_objects, and with the library for applications as
# NAME_library, a shared library beside DISTAL's own.
function(distal_mpi_targets name)
  add_library(${name}_objects OBJECT ${DISTAL_MPI_SOURCES})
  set_target_properties(${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name}_objects PUBLIC distal_headers ${ARGN})
  if(DISTAL_PRECOMPILE)
    target_precompile_headers(${name}_objects PRIVATE ${DISTAL_COMMON_HEADERS})
  endif()
  add_library(${name}_library SHARED ${DISTAL_MPI_API_SOURCES})
  target_link_libraries(${name}_library PUBLIC distal_library ${ARGN} PRIVATE ${name}_objects)
endfunction()

distal_mpi_targets(distal_mpi MPI::MPI_CXX)
set_target_properties(distal_mpi_library PROPERTIES OUTPUT_NAME distal_mpi EXPORT_NAME distal_mpi
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

if(DISTAL_SANITIZE)
  return()  # its tests need no command line
endif()

add_executable(distal_mpi ${DISTAL_MPI_CLI_SOURCES})
set_target_properties(distal_mpi PROPERTIES OUTPUT_NAME distal-mpi)
target_link_libraries(distal_mpi PRIVATE distal_mpi_objects distal_core)

# `distal` looks for distal-mpi in its own folder.
install(TARGETS distal_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
install(TARGETS distal_mpi_library EXPORT distalMpiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
export(EXPORT distalMpiTargets NAMESPACE distal:: FILE ${CMAKE_BINARY_DIR}/distalMpiTargets.cmake)
install(EXPORT distalMpiTargets NAMESPACE distal:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/distal)
