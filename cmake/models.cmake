# Embeds the models of the engines' speed, and installs them as a start for one's own.
set(DISTAL_MODELS ${CMAKE_BINARY_DIR}/machine_models.cpp)
file(GLOB models CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/tune/models/*.model)
set(entries "")
foreach(model ${models})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${model})
  get_filename_component(name ${model} NAME_WE)
  file(READ ${model} text)
  string(APPEND entries "      {\"${name}\", R\"distal(${text})distal\"},\n")
endforeach()
file(CONFIGURE OUTPUT ${DISTAL_MODELS} @ONLY CONTENT [[#include "tune/machine_model.h"

namespace distal::core {

const std::map<std::string, std::string>& embedded_models() {
  static const std::map<std::string, std::string> models{
@entries@  };
  return models;
}

}  // namespace distal::core
]])
