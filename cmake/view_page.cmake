# Embeds the page of `distal draw` into DISTAL. The modules of its script are joined in one scope: their imports are
# left out, so every name at the top of a module must be unique.
set(page ${CMAKE_SOURCE_DIR}/src/view/page)
set(DISTAL_VIEW_PAGE ${CMAKE_BINARY_DIR}/view_page.cpp)
# A module stands after those that it imports.
set(modules svg text blocks machine colour layout axes solid film planes space traffic tensors axis_labels charts memory
            choice views)

function(read_page_file name variable)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page}/${name})
  file(READ ${page}/${name} text)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# The text of the modules, one after another, as several string literals: compilers limit the length of one.
function(join_modules variable)
  set(joined "")
  foreach(module ${ARGN})
    read_page_file(${module}.js text)
    string(REGEX REPLACE "(^|\n)import [^;]*from \"\\./[^;]*;" "" text "${text}")
    string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
    string(APPEND joined "R\"distal(${text})distal\"\n")
  endforeach()
  set(${variable} "${joined}" PARENT_SCOPE)
endfunction()

join_modules(script ${modules} describe main)
join_modules(command ${modules} command)
read_page_file(page.html html)
read_page_file(page.css page_css)
read_page_file(drawing.css drawing_css)
file(CONFIGURE OUTPUT ${DISTAL_VIEW_PAGE} @ONLY CONTENT [[#include "view/page_files.h"

namespace distal::core {

const PageFiles& page_files() {
  static const PageFiles files{
R"distal(@html@)distal",
R"distal(@page_css@)distal",
R"distal(@drawing_css@)distal",
@script@,
@command@};
  return files;
}

}  // namespace distal::core
]])
