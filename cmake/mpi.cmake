# The MPI engine, and a command line that is linked with it, which `distal` starts. Without an MPI the rest is built, and
# `distal run --engine mpi` says what is missing.

if(DISTAL_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)  # the C++ bindings of old are not wanted
  find_package(MPI QUIET COMPONENTS CXX)
endif()
set_property(SOURCE src/cli/mpi_start.cpp APPEND PROPERTY COMPILE_DEFINITIONS DISTAL_MPIEXEC="${MPIEXEC_EXECUTABLE}")
if(NOT MPI_CXX_FOUND)
  message(STATUS "no MPI found: the MPI engine is left out (packages: libopenmpi-dev openmpi-bin)")
  return()
endif()
message(STATUS "MPI: ${MPI_CXX_LIBRARIES}, started by ${MPIEXEC_EXECUTABLE}")

file(GLOB DISTAL_MPI_SOURCES CONFIGURE_DEPENDS src/engine/mpi/*.cpp)
add_library(distal_mpi_engine STATIC ${DISTAL_MPI_SOURCES})
target_link_libraries(distal_mpi_engine PUBLIC distal_core MPI::MPI_CXX)

add_executable(distal_mpi src/cli/mpi/main.cpp src/cli/mpi/run.cpp)
set_target_properties(distal_mpi PROPERTIES OUTPUT_NAME distal-mpi)
target_link_libraries(distal_mpi PRIVATE distal_mpi_engine)
