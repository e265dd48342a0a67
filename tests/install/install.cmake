# Installs a build, then builds and runs an application against the installation. Everything happens in a folder outside
# the repository, so that the application cannot use the sources by accident.
#
# Needs: BUILD, the build folder; SOURCE, the folder `app`; CXX, the compiler; MPIRUN, where BUILD has MPI.

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(DEFINED ENV{TMPDIR})
  set(temporary $ENV{TMPDIR})
else()
  set(temporary /tmp)
endif()
string(RANDOM LENGTH 12 word)
set(folder ${temporary}/distal-install-${word})
file(MAKE_DIRECTORY ${folder})
file(COPY ${SOURCE} DESTINATION ${folder})
if(MPIRUN)
  file(COPY ${SOURCE}/../../../examples/mpi_layout.cpp DESTINATION ${folder}/app)
endif()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${folder}/app -B ${folder}/app/build -DCMAKE_PREFIX_PATH=${folder}/prefix
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${folder}/app/build)
run(${folder}/app/build/app)
run(${folder}/app/build/rows)
run(${folder}/prefix/bin/distal --help)
if(MPIRUN)
  run(${MPIRUN} -n 4 ${folder}/app/build/mpi_layout)
  file(COPY ${SOURCE}/../../../algorithms/summa.distal DESTINATION ${folder})
  run(${folder}/prefix/bin/distal run ${folder}/summa.distal --engine mpi --ranks 2 --set ni=9,nj=8,nk=7)
  # As after `./distal`, which does not build the library for MPI.
  file(GLOB_RECURSE libraries ${folder}/prefix/libdistal_mpi*)
  file(REMOVE ${libraries})
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${folder}/app -B ${folder}/app/build-without-mpi
                          -DCMAKE_PREFIX_PATH=${folder}/prefix -DCMAKE_CXX_COMPILER=${CXX}
                  OUTPUT_QUIET ERROR_VARIABLE said)
  if(NOT said MATCHES "without[ \n]+its[ \n]+library[ \n]+for[ \n]+MPI")
    message(FATAL_ERROR "an installation without the library for MPI says: ${said}")
  endif()
endif()
# Only reached if all passed: a failed test leaves its folder to be inspected.
file(REMOVE_RECURSE ${folder})
