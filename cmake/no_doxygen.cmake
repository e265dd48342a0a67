message(FATAL_ERROR "The reference needs doxygen, which was not found when the build was configured. Install it (it is "
                    "Debian's package doxygen) and configure again.")
