# cmake --build build --target reference makes the C++ library's reference as web pages in build/reference/html.
set(DISTAL_REFERENCE_DIR ${CMAKE_BINARY_DIR}/reference)
find_program(DISTAL_DOXYGEN doxygen)

if(DISTAL_DOXYGEN)
  file(MAKE_DIRECTORY ${DISTAL_REFERENCE_DIR})
  configure_file(${CMAKE_SOURCE_DIR}/docs/reference/Doxyfile.in ${DISTAL_REFERENCE_DIR}/Doxyfile @ONLY)
  set(DISTAL_MAKE_REFERENCE ${DISTAL_DOXYGEN} ${DISTAL_REFERENCE_DIR}/Doxyfile)
else()
  # The target fails with an explanation, so that a missing reference is noticed.
  set(DISTAL_MAKE_REFERENCE ${CMAKE_COMMAND} -P ${CMAKE_SOURCE_DIR}/cmake/no_doxygen.cmake)
endif()

add_custom_target(reference COMMAND ${DISTAL_MAKE_REFERENCE} VERBATIM
                  COMMENT "The reference goes to ${DISTAL_REFERENCE_DIR}/html")
