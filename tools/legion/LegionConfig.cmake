# find_package(Legion) reads this for the Legion that tools/legion.sh fetches. The wheel's own file asks for a CUDA
# toolkit, which the headers and libraries do not need.
#
# It lies in lib/cmake/Legion of the folder that it describes, and uses relative paths, so that the folder can be moved.
get_filename_component(Legion_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET Legion::Legion)
  add_library(Legion::Realm SHARED IMPORTED)
  set_target_properties(Legion::Realm PROPERTIES
    IMPORTED_LOCATION "${Legion_PREFIX}/lib/librealm-legate.so.25"
    IMPORTED_SONAME librealm-legate.so.25
    INTERFACE_INCLUDE_DIRECTORIES "${Legion_PREFIX}/include;${Legion_PREFIX}/include/realm")
  add_library(Legion::Legion SHARED IMPORTED)
  set_target_properties(Legion::Legion PROPERTIES
    IMPORTED_LOCATION "${Legion_PREFIX}/lib/liblegion-legate.so.1"
    IMPORTED_SONAME liblegion-legate.so.1
    INTERFACE_COMPILE_FEATURES cxx_std_17
    INTERFACE_INCLUDE_DIRECTORIES "${Legion_PREFIX}/include/mappers"
    INTERFACE_LINK_LIBRARIES Legion::Realm)
endif()
