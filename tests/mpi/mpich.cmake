# The MPI engine with a second MPI, where there is one beside the first: nothing in it may depend on which MPI it is.
include(${CMAKE_SOURCE_DIR}/cmake/mpich.cmake)
if(NOT TARGET mpich)
  message(STATUS "the tests with MPICH are left out")
  return()
endif()

distal_mpi_targets(distal_mpich mpich)
distal_mpi_executables(mpich distal_mpich_library)
add_executable(distal_mpich ${DISTAL_MPI_CLI_SOURCES})
set_target_properties(distal_mpich PROPERTIES OUTPUT_NAME distal-mpi RUNTIME_OUTPUT_DIRECTORY
                                                                     ${CMAKE_BINARY_DIR}/mpich)
target_link_libraries(distal_mpich PRIVATE distal_mpich_objects distal_core)
foreach(algorithm summa cannon johnson)
  add_test(NAME mpich/${algorithm}
           COMMAND ${DISTAL_MPICH_EXEC} -n 3 $<TARGET_FILE:distal_mpich> run
                   ${CMAKE_SOURCE_DIR}/algorithms/${algorithm}.distal --engine mpi --set ni=37,nj=53,nk=29 --check)
  set_tests_properties(mpich/${algorithm} PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2)
endforeach()

add_test(NAME mpich/transport COMMAND ${DISTAL_MPICH_EXEC} -n 3 $<TARGET_FILE:mpich_transport_test>)
set_tests_properties(mpich/transport PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2)

add_test(NAME mpich/random_apart_4 COMMAND ${DISTAL_MPICH_EXEC} -n 4 $<TARGET_FILE:mpich_programs_test> apart random
                                           6005000 50)
set_tests_properties(mpich/random_apart_4 PROPERTIES TIMEOUT 300 LABELS mpi PROCESSORS 2)
foreach(memory shared apart)
  add_test(NAME mpich/algorithms_${memory}_3 COMMAND ${DISTAL_MPICH_EXEC} -n 3 $<TARGET_FILE:mpich_programs_test>
                                                     ${memory} algorithms 3 1)
  set_tests_properties(mpich/algorithms_${memory}_3 PROPERTIES TIMEOUT 300 LABELS mpi PROCESSORS 2)
endforeach()

add_test(NAME mpich/api_on_3 COMMAND ${DISTAL_MPICH_EXEC} -n 3 $<TARGET_FILE:mpich_api_test>)
set_tests_properties(mpich/api_on_3 PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2)

# How a job ends depends on what the MPI does when one rank aborts.
add_test(NAME mpich/failing_rank COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/refusals_test.py
                                         Death.test_rank_that_fails_ends_the_job
                                         Death.test_application_of_which_a_rank_fails_ends)
set_tests_properties(mpich/failing_rank PROPERTIES TIMEOUT 120 LABELS mpi PROCESSORS 2 ENVIRONMENT
  "DISTAL_MPIRUN=${DISTAL_MPICH_EXEC};DISTAL_PROGRAMS_ON_RANKS=$<TARGET_FILE:mpich_programs_test>;\
DISTAL_API_ON_RANKS=$<TARGET_FILE:mpich_api_test>")
