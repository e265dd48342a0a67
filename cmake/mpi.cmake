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

# The sources are compiled twice: statically for the command line and the tests, and below for the shared library.
file(GLOB DISTAL_MPI_SOURCES CONFIGURE_DEPENDS src/engine/mpi/*.cpp)
add_library(distal_mpi_engine STATIC ${DISTAL_MPI_SOURCES})
target_link_libraries(distal_mpi_engine PUBLIC distal_core MPI::MPI_CXX)

if(DISTAL_SANITIZE)
  return()  # the tests with sanitizers need only the engine
endif()

add_executable(distal_mpi src/cli/mpi/main.cpp src/cli/mpi/run.cpp)
set_target_properties(distal_mpi PROPERTIES OUTPUT_NAME distal-mpi)
target_link_libraries(distal_mpi PRIVATE distal_mpi_engine)

file(GLOB DISTAL_MPI_API_SOURCES CONFIGURE_DEPENDS src/api/mpi/*.cpp)
add_library(distal_mpi_library SHARED ${DISTAL_MPI_SOURCES} ${DISTAL_MPI_API_SOURCES})
set_target_properties(distal_mpi_library PROPERTIES OUTPUT_NAME distal_mpi EXPORT_NAME distal_mpi
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_link_libraries(distal_mpi_library PUBLIC distal_library MPI::MPI_CXX PRIVATE fmt::fmt absl::inlined_vector)
target_include_directories(distal_mpi_library PRIVATE src)

# `distal` looks for distal-mpi in its own folder.
install(TARGETS distal_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
install(TARGETS distal_mpi_library EXPORT distalMpiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
export(EXPORT distalMpiTargets NAMESPACE distal:: FILE ${CMAKE_BINARY_DIR}/distalMpiTargets.cmake)
install(EXPORT distalMpiTargets NAMESPACE distal:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/distal)
