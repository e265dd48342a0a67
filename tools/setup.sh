# shellcheck shell=bash
# Shared by ./distal and ./test: installs what is missing, configures and builds. Sourced, never run.
#
# Needs: root, the folder of the repository.

: "${root:?the folder of the repository}"
readonly EXIT_RESOURCES=3

say() { printf 'distal: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit "$EXIT_RESOURCES"
}

# Runs a command while no other launcher installs or builds. The lock is on this file, so that it outlives the build
# folder.
with_lock() {
  (
    flock 9
    "$@"
  ) 9<"$root/tools/setup.sh"
}

# --- Packages -------------------------------------------------------------------------------------------------------

# Pairs of a command or header and its package.
readonly RUN_TOOLS="cmake:cmake ninja:ninja-build g++:g++"
readonly TEST_TOOLS="python3:python3 clang-format:clang-format clang-tidy:clang-tidy doxygen:doxygen
  node:nodejs chromium:chromium"
readonly FUZZ_TOOLS="clang++:clang"
readonly RUN_HEADERS="fmt/format.h:libfmt-dev CLI/CLI.hpp:libcli11-dev nlohmann/json.hpp:nlohmann-json3-dev
  absl/container/inlined_vector.h:libabsl-dev xxhash.h:libxxhash-dev"
readonly TEST_HEADERS="gtest/gtest.h:libgtest-dev benchmark/benchmark.h:libbenchmark-dev"

missing_tools() {
  local pair
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || printf '%s\n' "${pair##*:}"
  done
}

# Asks the compiler, so that libraries from other sources than packages count. Without a compiler, names all packages.
missing_headers() {
  local pair
  if ! command -v g++ >/dev/null; then
    for pair in "$@"; do printf '%s\n' "${pair##*:}"; done
    return
  fi
  for pair in "$@"; do
    printf '#if !__has_include(<%s>)\n%s\n#endif\n' "${pair%%:*}" "${pair##*:}"
  done | g++ -E -P -x c++ - | sed '/^$/d'
}

# missing_mpi WRAPPER:PACKAGE STARTER:PACKAGE. Tries the compiler wrapper: it may be installed without the headers.
missing_mpi() {
  printf '#include <mpi.h>\n' | "${1%%:*}" -E -x c++ - >/dev/null 2>&1 || printf '%s\n' "${1##*:}"
  missing_tools "$2"
}
missing_openmpi() { missing_mpi mpicxx:libopenmpi-dev mpirun:openmpi-bin; }
# The MPI engine is also tested with MPICH. The plain names mpicxx and mpirun stay those of Open MPI.
missing_mpich() { missing_mpi mpicxx.mpich:libmpich-dev mpiexec.mpich:mpich; }

# BLAS is loaded at run time, so the library without headers is enough. g++ prints a full path if it finds the file.
missing_openblas() {
  { command -v g++ >/dev/null && [[ $(g++ -print-file-name=libopenblas.so.0) == /* ]]; } ||
    printf 'libopenblas0-pthread\n'
}

# Prints a Python with NumPy: the first on the path, or else the system's.
numpy_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' >/dev/null 2>&1; then
      command -v "$python"
      return
    fi
  done
  return 1
}

# The tests of the Python package make a virtual environment and build an extension module, with any Python that can.
missing_python() {
  local python check='import ensurepip, os, sysconfig
assert os.path.exists(sysconfig.get_path("include") + "/Python.h")'
  for python in python3 /usr/bin/python3; do
    if "$python" -c "$check" >/dev/null 2>&1; then return; fi
  done
  printf 'python3-venv\npython3-dev\n'
}

# Prints the packages that are missing for "run", "test" or "fuzz", one per line. "fuzz" includes those for "test".
missing_packages() {
  # shellcheck disable=SC2086 # lists of words
  {
    missing_tools $RUN_TOOLS
    missing_headers $RUN_HEADERS
    missing_openblas
    if [[ $1 == fuzz ]]; then missing_tools $FUZZ_TOOLS; fi
    if [[ $1 != run ]]; then
      missing_tools $TEST_TOOLS
      missing_openmpi
      missing_mpich
      missing_headers $TEST_HEADERS
      numpy_python >/dev/null || printf 'python3-numpy\n'
      missing_python
    fi
  }
}

install_packages() {
  local as_root=()
  command -v apt-get >/dev/null || die "missing: $*. Please install these (Debian's names); there is no apt-get here."
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "missing: $*. Please install them: apt-get install $*"
    as_root=(sudo)
    # Without a terminal sudo must not ask for a password.
    [[ -t 0 ]] || as_root+=(-n)
  fi
  say "installing $*"
  local log="$root/build/install.log"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
  # Ignore failures of the update: one unreachable source need not matter. The installation decides.
  "${apt[@]}" update >"$log" 2>&1 || true
  if ! "${apt[@]}" install --no-install-recommends "$@" >>"$log" 2>&1; then
    tail -n 5 "$log" >&2
    die "could not install: $*. The full log is in $log"
  fi
}

set_up_tools() {
  local missing
  mkdir -p "$root/build" || die "cannot write to $root/build"
  missing=$(missing_packages "$1")
  [[ -n $missing ]] || return 0
  # shellcheck disable=SC2086 # a list of words
  install_packages $missing
  missing=$(missing_packages "$1")
  [[ -z $missing ]] || die "still missing after the installation: ${missing//$'\n'/ }"
}

# wants_engine NAME WORD...: whether a command line asks for the engine.
wants_engine() {
  local name=$1 word before=
  shift
  for word in "$@"; do
    if [[ $word == "--engine=$name" || ($before == --engine && $word == "$name") ]]; then return 0; fi
    before=$word
  done
  return 1
}

# --- Build ----------------------------------------------------------------------------------------------------------

# Runs a command with its output in a log. If it takes long, prints a line with the progress on stderr.
run_quietly() {
  local what=$1 log=$2 pid status=0 waited=0 progress
  shift 2
  "$@" >"$log" 2>&1 &
  pid=$!
  trap 'kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; exit 130' INT TERM
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.1
    waited=$((waited + 1))
    if ((waited == 20)) && [[ ! -t 2 ]]; then say "$what (log: $log)"; fi
    if ((waited >= 10 && waited % 5 == 0)) && [[ -t 2 ]]; then
      progress=$(tail -n 1 "$log" | grep -o '^\[[0-9]*/[0-9]*\]' || true)
      printf '\r\033[Kdistal: %s %s' "$what" "$progress" >&2
    fi
  done
  wait "$pid" || status=$?
  trap - INT TERM
  if ((waited >= 10)) && [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  return "$status"
}

build_folder() { if [[ $1 == default ]]; then printf '%s/build' "$root"; else printf '%s/build-%s' "$root" "$1"; fi; }

# A build folder stores the path of its sources. Removes one that was copied here together with the sources.
drop_foreign_build() {
  local cache="$1/CMakeCache.txt"
  [[ -f $cache ]] || return 0
  grep -Fxq "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" || rm -rf "$1"
}

# configure PRESET [OPTION...]
configure() {
  local folder again=()
  folder=$(build_folder "$1")
  mkdir -p "$folder" || die "cannot write to $folder"
  # CMake caches that it found no MPI. One may be installed by now.
  if grep -qs '^MPI_CXX_COMPILER:.*NOTFOUND' "$folder/CMakeCache.txt"; then again=(-U 'MPI*'); fi
  if ! (cd "$root" && run_quietly "configuring $1" "$folder/configure.log" cmake --preset "$@" "${again[@]}"); then
    tail -n 20 "$folder/configure.log" >&2
    die "configuring failed; the full log is in $folder/configure.log"
  fi
}

# build PRESET TARGET...
build() {
  local folder name=$1
  folder=$(build_folder "$name")
  shift
  if ! run_quietly "building $name" "$folder/build.log" "${build_prefix[@]}" ninja -C "$folder" \
    ${DISTAL_JOBS:+-j "$DISTAL_JOBS"} "$@"; then
    grep -A 20 -m 1 '^FAILED' "$folder/build.log" >&2 || tail -n 20 "$folder/build.log" >&2
    die "the build failed; the full log is in $folder/build.log"
  fi
}

# A command line prefix that the build and its tests run under; ./test sets it.
build_prefix=()

# True if the command line was built here from the current sources. Compares the times of folders too, which change when
# a file is added or removed.
is_fresh() {
  local stamp="$root/build/stamp" sources
  sources=("$root/src" "$root/cmake" "$root/CMakeLists.txt" "$root/CMakePresets.json")
  [[ -x $root/build/distal && -f $stamp && $(<"$stamp") == "$root" ]] || return 1
  [[ -z $(find "${sources[@]}" -newer "$stamp" -print -quit) ]]
}

# Builds the command line, and the library, which `cmake --install` installs too. The stamp file has the time of the
# start of the build, so that sources that are edited during the build count as newer.
set_up_distal() {
  is_fresh && return
  drop_foreign_build "$root/build"
  set_up_tools run
  rm -f "$root/build/stamp"
  printf '%s' "$root" >"$root/build/stamp.new"
  [[ -f $root/build/build.ninja ]] || configure default -DDISTAL_TESTS=OFF -DDISTAL_BENCHMARKS=OFF
  build default distal distal_library
  mv "$root/build/stamp.new" "$root/build/stamp"
}
