# Builds a fake BLAS for blas_library_test.cpp, and defines a macro with its path.
function(fake_blas name prefix size)
  add_library(${name} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/leaf/fake_blas.cpp)
  target_compile_definitions(${name} PRIVATE FAKE_PREFIX=${prefix} FAKE_SIZE=${size})
  add_dependencies(leaf_test ${name})
  string(TOUPPER ${name} variable)
  target_compile_definitions(leaf_test PRIVATE ${variable}="$<TARGET_FILE:${name}>")
endfunction()

fake_blas(fake_openblas "" int)
fake_blas(fake_scipy scipy_ int)
fake_blas(fake_wide "" int64_t)
