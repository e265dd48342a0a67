# MPICH beside another MPI. Defines the target mpich with its headers and libraries, where it is installed.
find_program(DISTAL_MPICH_COMPILER mpicxx.mpich)
find_program(DISTAL_MPICH_EXEC mpiexec.mpich)
if(NOT DISTAL_MPICH_COMPILER OR NOT DISTAL_MPICH_EXEC OR MPIEXEC_EXECUTABLE MATCHES "mpich")
  message(STATUS "no MPICH beside another MPI (packages: libmpich-dev mpich)")
  return()
endif()

# What its compiler would add to a command.
execute_process(COMMAND ${DISTAL_MPICH_COMPILER} -show OUTPUT_VARIABLE command OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(words UNIX_COMMAND "${command}")
set(include ${words})
list(FILTER include INCLUDE REGEX "^-I")
list(TRANSFORM include REPLACE "^-I" "")
set(link ${words})
list(FILTER link INCLUDE REGEX "^-[lL]")

add_library(mpich INTERFACE)
target_include_directories(mpich SYSTEM INTERFACE ${include})
target_compile_definitions(mpich INTERFACE MPICH_SKIP_MPICXX)
target_link_libraries(mpich INTERFACE ${link})
