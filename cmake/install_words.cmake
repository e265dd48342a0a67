# Installs the manual page and the completion of shells, as the command line describes itself.
function(install_words file)
  execute_process(COMMAND ${DISTAL_PROGRAM} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(path "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${file}")
  message(STATUS "Installing: ${path}")
  file(WRITE "${path}" "${text}")
endfunction()

install_words(${DISTAL_MAN}/man1/distal.1 manual)
install_words(${DISTAL_SHARE}/bash-completion/completions/distal completion bash)
install_words(${DISTAL_SHARE}/zsh/site-functions/_distal completion zsh)
install_words(${DISTAL_SHARE}/fish/vendor_completions.d/distal.fish completion fish)
