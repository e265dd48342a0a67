# Embeds headers as text into DISTAL, so that it finds them wherever it is installed. `output` becomes the path of a
# source that defines `function`, which `declaration` declares: the texts of the headers of all folders named support by
# name, and of others by their paths in src.
function(distal_embed_headers output function declaration)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/src/ OUTPUT_VARIABLE patterns)
  file(GLOB headers CONFIGURE_DEPENDS ${patterns})
  set(entries "")
  foreach(header ${headers})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    string(REGEX REPLACE "^${CMAKE_SOURCE_DIR}/src/(.*/support/)?" "" name ${header})
    file(READ ${header} text)
    string(APPEND entries "      {\"${name}\", R\"distal(${text})distal\"},\n")
  endforeach()
  set(source ${CMAKE_BINARY_DIR}/${function}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[#include "@declaration@"

namespace distal::core {

const std::map<std::string, std::string>& @function@() {
  static const std::map<std::string, std::string> files{
@entries@  };
  return files;
}

}  // namespace distal::core
]])
  set(${output} ${source} PARENT_SCOPE)
endfunction()

distal_embed_headers(DISTAL_LEGION_SUPPORT legion_support_files engine/legion/support_files.h
                     engine/legion/support/*.h leaf/gpu/support/*.h data/random.h lang/block_cyclic.h lang/index_role.h)
distal_embed_headers(DISTAL_LEAF_SUPPORT leaf_support_files leaf/support_text.h leaf/support/*.h)
