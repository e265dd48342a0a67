#include "bindings.h"
#include "interrupt.h"

NB_MODULE(_core, m) {
  using namespace distal::python;
  // The traceback of an uncaught error keeps objects until the end, where nanobind would list them below the error.
  nb::set_leak_warnings(false);
  remember_main_thread();
  bind_errors(m);
  bind_numbers(m);
  bind_machines(m);
  bind_formats(m);
  bind_statements(m);
  bind_schedules(m);
  bind_find(m);
  bind_kernels(m);
  bind_tensors(m);
  bind_programs(m);
  bind_calls(m);
  bind_blas(m);
  bind_ranks(m);
}
