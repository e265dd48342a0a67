#include "cli/options.h"

int main(int argc, char** argv) { return distal::core::main_command(argc, argv); }
