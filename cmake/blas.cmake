# Chooses the BLAS that is loaded at run time. It is not linked, because OpenBLAS reads its environment when it is
# loaded, and DISTAL must set that first (docs/decisions/7-blas.md).
#
# Sets DISTAL_BLAS_LIBRARY: the file to load unless the environment variable DISTAL_BLAS names another.
set(DISTAL_BLAS openblas CACHE STRING
    "The BLAS to load: openblas, blis, mkl, or the path of a shared library with CBLAS")
set_property(CACHE DISTAL_BLAS PROPERTY STRINGS openblas blis mkl)

# The names with a version come first: they exist without the development packages, and the loader of another machine
# finds them too.
set(names_openblas libopenblas.so.0 openblas)
set(names_blis libblis.so.4 libblis.so.3 blis)
set(names_mkl libmkl_rt.so.3 libmkl_rt.so.2 libmkl_rt.so.1 mkl_rt)
set(package_openblas "Debian's libopenblas0-pthread")
set(package_blis "Debian's libblis4-pthread")
set(package_mkl "PyPI's mkl")

if(DISTAL_BLAS MATCHES "/")
  get_filename_component(DISTAL_BLAS_LIBRARY "${DISTAL_BLAS}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
  if(NOT EXISTS "${DISTAL_BLAS_LIBRARY}")
    message(FATAL_ERROR "DISTAL_BLAS is ${DISTAL_BLAS}, and there is no such file.")
  endif()
elseif(DEFINED names_${DISTAL_BLAS})
  # First the library that the system selects among several builds, then the folders of Debian's packages.
  find_library(DISTAL_FOUND_${DISTAL_BLAS} NAMES ${names_${DISTAL_BLAS}} NAMES_PER_DIR
               HINTS ENV MKLROOT PATH_SUFFIXES lib lib/intel64)
  find_library(DISTAL_FOUND_${DISTAL_BLAS} NAMES ${names_${DISTAL_BLAS}} NAMES_PER_DIR
               PATH_SUFFIXES ${DISTAL_BLAS}-pthread ${DISTAL_BLAS}-openmp ${DISTAL_BLAS}-serial)
  set(DISTAL_BLAS_LIBRARY "${DISTAL_FOUND_${DISTAL_BLAS}}")
  if(NOT DISTAL_BLAS_LIBRARY AND DISTAL_PYTHON)
    list(GET names_${DISTAL_BLAS} 0 DISTAL_BLAS_LIBRARY)  # where it is not installed, PyPI's OpenBLAS stands in
  elseif(NOT DISTAL_BLAS_LIBRARY)
    message(FATAL_ERROR "DISTAL_BLAS is ${DISTAL_BLAS}, which was not found. Install it (${package_${DISTAL_BLAS}} has "
                        "it), or give the path of a shared library with CBLAS: -DDISTAL_BLAS=/path/to/library.so")
  endif()
else()
  message(FATAL_ERROR "DISTAL_BLAS is ${DISTAL_BLAS}; it may be openblas, blis, mkl, or the path of a shared library "
                      "with CBLAS, with a / in it.")
endif()
message(STATUS "BLAS to load at run time: ${DISTAL_BLAS_LIBRARY}")
