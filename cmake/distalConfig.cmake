# find_package(distal) defines distal::distal, and with COMPONENTS mpi also distal::distal_mpi.
include(${CMAKE_CURRENT_LIST_DIR}/distalTargets.cmake)
if("mpi" IN_LIST distal_FIND_COMPONENTS)
  # The library for MPI is beside the other one, in a build folder and where it is installed. It may not be built.
  find_library(distal_mpi_file distal_mpi PATHS ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/../..
               NO_DEFAULT_PATH NO_CACHE)
  if(distal_mpi_file)
    include(CMakeFindDependencyMacro)
    set(MPI_CXX_SKIP_MPICXX ON)
    find_dependency(MPI COMPONENTS CXX)
    include(${CMAKE_CURRENT_LIST_DIR}/distalMpiTargets.cmake)
    set(distal_mpi_FOUND TRUE)
  else()
    set(distal_FOUND FALSE)
    set(distal_NOT_FOUND_MESSAGE "this DISTAL was built without its library for MPI (target distal_mpi_library)")
  endif()
endif()
