#include "cli/options.h"

int main(int argc, char** argv) { return distal::main_command(argc, argv); }
