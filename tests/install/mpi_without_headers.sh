#!/usr/bin/env bash
# An MPI whose headers are not there, as where only what starts ranks is installed: its package is named, and the rest
# is configured without it. mpi_without_headers.sh SOURCES WORK
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
