# Embeds the headers of emitted Legion programs into DISTAL, so that it finds them wherever it is installed.
set(support ${CMAKE_SOURCE_DIR}/src/engine/legion/support)
set(DISTAL_LEGION_SUPPORT ${CMAKE_BINARY_DIR}/legion_support.cpp)
file(GLOB headers CONFIGURE_DEPENDS ${support}/*.h)
list(APPEND headers ${CMAKE_SOURCE_DIR}/src/data/random.h ${CMAKE_SOURCE_DIR}/src/lang/block_cyclic.h
     ${CMAKE_SOURCE_DIR}/src/lang/index_role.h)
set(entries "")
foreach(header ${headers})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  string(REGEX REPLACE "^${support}/|^${CMAKE_SOURCE_DIR}/src/" "" name ${header})
  file(READ ${header} text)
  string(APPEND entries "      {\"${name}\", R\"distal(${text})distal\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${DISTAL_LEGION_SUPPORT} @ONLY CONTENT [[#include "engine/legion/support_files.h"

namespace distal::core {

const std::map<std::string, std::string>& legion_support_files() {
  static const std::map<std::string, std::string> files{
@entries@  };
  return files;
}

}  // namespace distal::core
]])
