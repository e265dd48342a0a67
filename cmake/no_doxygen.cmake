message(FATAL_ERROR "The reference needs doxygen, which was not found when the build was configured. Install it (the Debian "
                    "package is called doxygen) and configure again.")
