#!/usr/bin/env bash
# An MPI without headers, as on a machine where only mpirun is installed: the message names the missing package, and the
# project is configured without MPI. Usage: mpi_without_headers.sh SOURCES WORK
set -euo pipefail
root=$1
work=$2

rm -rf "$work"
mkdir -p "$work/bin"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/mpicxx"
chmod +x "$work/bin/mpicxx"
export PATH="$work/bin:$PATH"

# shellcheck source=tools/setup.sh
source "$root/tools/setup.sh"
missing_openmpi | grep -Fxq libopenmpi-dev

cmake -S "$root" -B "$work/build" -G Ninja -DDISTAL_TESTS=OFF -DDISTAL_BENCHMARKS=OFF >"$work/log" 2>&1 ||
  { cat "$work/log"; exit 1; }
grep -F "$work/bin/mpicxx finds no mpi.h" "$work/log"
grep -F 'no MPI found: the MPI engine is left out (packages: libopenmpi-dev openmpi-bin)' "$work/log"
