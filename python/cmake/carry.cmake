# Puts DISTAL's libraries, and all libraries that they need beyond the C and C++ runtimes, beside the extension module,
# so that the wheel works on a machine that has none of them. MPI is left out: the wheel uses that of the machine on
# which it runs.
set(mpi "${DISTAL_PYTHON_MPI_LIBRARIES}")
list(JOIN mpi "\" \"" mpi)
string(CONFIGURE [[
  file(GET_RUNTIME_DEPENDENCIES LIBRARIES "$<TARGET_FILE:distal_library>" RESOLVED_DEPENDENCIES_VAR needed
       PRE_EXCLUDE_REGEXES "^ld-linux" "^linux-vdso" "^lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+)\\.so"
       UNRESOLVED_DEPENDENCIES_VAR missing)
  if(missing)
    message(FATAL_ERROR "the DISTAL library needs ${missing}, which the loader does not find here")
  endif()
  set(folder "${CMAKE_INSTALL_PREFIX}/distal")
  foreach(library IN LISTS needed ITEMS "$<TARGET_SONAME_FILE:distal_library>" "@mpi@")
    if(NOT library)
      continue()
    endif()
    get_filename_component(name "${library}" NAME)
    get_filename_component(file "${library}" REALPATH)
    configure_file("${file}" "${folder}/${name}" COPYONLY)
    execute_process(COMMAND strip --strip-unneeded "${folder}/${name}")
    # Those of the build folder are looked for in the wheel.
    file(READ_ELF "${folder}/${name}" RPATH old RUNPATH old_runpath)
    if(old OR old_runpath)
      file(RPATH_SET FILE "${folder}/${name}" NEW_RPATH "$ORIGIN")
    endif()
  endforeach()
]] carry @ONLY)
install(CODE "${carry}" COMPONENT python)
