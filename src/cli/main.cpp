#include "cli/interrupt.h"
#include "cli/options.h"

int main(int argc, char** argv) {
  distal::core::end_on_interrupt(true);
  return distal::core::main_command(argc, argv);
}
