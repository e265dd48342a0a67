# shellcheck shell=bash
# Makes Legion available in build/legion. Sourced, never run, after tools/setup.sh.
#
#   set_up_legion    fetches what is missing; prints why and returns false if there is no Legion
#
# build/legion/settings describes the Legion to use in lines of KEY=VALUE. Without Legion there is no such file.
#   origin        what was fetched, or "Legion_DIR" for a Legion of the user
#   legion_dir    the folder of LegionConfig.cmake, for cmake -DLegion_DIR=
#   library_path  the folder of the libraries; a program linked through legion_dir finds them without it
#   mpirun        the command that starts several processes, as in "mpirun -n 2 program"; empty if there is none
#   env, args     environment and arguments to run with, which only make the libraries quieter
#   single_args   more arguments for one process, which would otherwise start MPI for nothing
#   crowded_env, crowded_args    more environment and arguments for several processes with too few cores
#
# An empty value means that nothing is needed, or that only the user knows the value. Values have no quotes. The values
# of env and args are words separated by blanks.
#
# Environment: with Legion_DIR the user's own Legion is used and nothing is fetched; DISTAL_LEGION=off disables Legion.

: "${root:?the folder of the repository}"
readonly LEGION_FOLDER="$root/build/legion"

# Debian has no Legion. NVIDIA's Python wheel legate contains it, with headers; the Python part is not used. These
# versions work together: later versions of legate are built without networking, and later versions of UCX refuse a
# setting that this Realm makes.
readonly LEGION_WHEELS="legate==26.1.0 libucx-cu12==1.20.0 nvidia-libcal-cu12==0.4.4.50.post1"
readonly LEGION_MEGABYTES=128

# --- Fetching -------------------------------------------------------------------------------------------------------

# Prints a Python with pip: the first on the path, or else the system's.
pip_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      command -v "$python"
      return
    fi
  done
  return 1
}

# mpirun: several processes find each other through MPI. zlib: the only library of Realm that a bare Debian may lack.
missing_legion_packages() {
  legion_is_fetched || pip_python >/dev/null || printf 'python3-pip\n'
  missing_tools mpirun:openmpi-bin
  [[ $(g++ -print-file-name=libz.so.1) == /* ]] || printf 'zlib1g\n'
}

# Any Python works, because no Python code of the wheels is run. pip is told the Python version of the wheels.
fetch_wheels() {
  local python
  python=$(pip_python) || { echo "no Python with pip was found"; return 1; }
  # shellcheck disable=SC2086 # a list of words
  PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps \
    --only-binary=:all: --implementation cp --python-version 3.11 --platform "manylinux_2_28_$(uname -m)" \
    --target "$1" $LEGION_WHEELS
}

# arrange_legion WHEELS FOLDER: moves what a C++ program needs, a quarter of the wheels, to FOLDER. All libraries go to
# one folder. Realm searches for libraries in legate/wrapper next to itself; a link makes that the same folder, so that
# programs run without LD_LIBRARY_PATH.
arrange_legion() {
  local legate="$1/legate" libraries="$2/lib" bootstrap="librealm_ucp_bootstrap_mpi_ompi.so"
  if mpirun --version 2>/dev/null | grep -qi hydra; then bootstrap="librealm_ucp_bootstrap_mpi_mpich.so"; fi
  mkdir -p "$libraries/ucc" "$libraries/legate" "$libraries/cmake/Legion" &&
    mv "$legate/include/legate/deps" "$2/include" &&
    mv "$legate"/lib64/liblegion-legate.so.1 "$legate"/lib64/librealm-legate.so.25 "$libraries" &&
    mv "$legate/lib64/legate/wrapper/$bootstrap" "$libraries/realm_ucp_bootstrap_mpi.so" &&
    mv "$1"/libucx/lib/libuc?.so.0 "$1"/libucx/lib/ucx "$1"/libucx_cu12.libs/libcudart-* "$libraries" &&
    mv "$1"/nvidia/libcal/cu12/lib/libucc.so.1 "$libraries" &&
    mv "$1"/nvidia/libcal/cu12/lib/ucc/libucc_{cl_basic,ec_cpu,mc_cpu,tl_self,tl_shm,tl_ucp}.so "$libraries/ucc" &&
    ln -s .. "$libraries/legate/wrapper" &&
    mv "$legate/share/Legion/cmake/LegionConfig-version.cmake" "$libraries/cmake/Legion" &&
    printf '%s' "$LEGION_WHEELS" >"$2/fetched"
}

legion_is_fetched() { [[ -f $LEGION_FOLDER/fetched && $(<"$LEGION_FOLDER/fetched") == "$LEGION_WHEELS" ]]; }

# Prints why fetching failed. pip reports "from versions: none" if it did not reach PyPI.
why_not_fetched() {
  if grep -q 'from versions: none' "$1"; then
    printf 'PyPI was not reached, or has no wheels for this machine (log: %s)' "$1"
  else
    printf 'see %s, which ends with: %s' "$1" "$(tail -n 1 "$1")"
  fi
}

# Fetches into a temporary folder, and renames that when it is complete.
fetch_legion() {
  local new="$LEGION_FOLDER.new" log="$root/build/legion.log"
  say "fetching Legion ($LEGION_MEGABYTES MB)"
  rm -rf "$new" "$LEGION_FOLDER"
  if ! { fetch_wheels "$new/wheels" && arrange_legion "$new/wheels" "$new/legion"; } >"$log" 2>&1; then
    rm -rf "$new"
    say "Legion could not be fetched, and is left out: $(why_not_fetched "$log")"
    return 1
  fi
  mv "$new/legion" "$LEGION_FOLDER" && rm -rf "$new"
}

# --- Settings -------------------------------------------------------------------------------------------------------

has_nvidia_driver() { PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -q 'libcuda\.so\.1 '; }

# Checked at each set-up: the same folder may be used on machines with and without a driver.
set_up_driver() {
  local stand_in="$LEGION_FOLDER/lib/libcuda.so.1"
  if has_nvidia_driver; then
    rm -f "$stand_in"
  elif [[ ! -f $stand_in ]]; then
    g++ -x c -shared -fPIC -O1 -Wl,-soname,libcuda.so.1 -o "$stand_in" "$root/tools/legion/no_driver.c"
  fi
}

# Open MPI needs options to start as root and to start more processes than cores. By default it binds all threads of a
# process to one core.
mpirun_command() {
  local start
  start=$(command -v mpirun) || return 0
  if "$start" --version 2>/dev/null | grep -q 'Open MPI'; then
    start+=" --oversubscribe --allow-run-as-root --bind-to none"
  fi
  printf '%s' "$start"
}

# write_settings ORIGIN LEGION_DIR [KEY=VALUE...]: replaces the file atomically, as others may read it meanwhile.
write_settings() {
  mkdir -p "$LEGION_FOLDER" &&
    printf '%s\n' "origin=$1" "legion_dir=$2" "mpirun=$(mpirun_command)" "${@:3}" >"$LEGION_FOLDER/settings.new" &&
    mv "$LEGION_FOLDER/settings.new" "$LEGION_FOLDER/settings"
}

# Realm binds its threads to cores as if it were alone, and every idle worker polls the network. With two processes on
# two cores a launch then takes 100 ms; with unbound threads and one worker it takes 1 to 2 ms.
write_fetched_settings() {
  write_settings "$LEGION_WHEELS" "$LEGION_FOLDER/lib/cmake/Legion" \
    "library_path=$LEGION_FOLDER/lib" \
    "env=UCX_LOG_LEVEL=error UCX_WARN_UNUSED_ENV_VARS=n" \
    "args=-level gpu=6,threads=5" \
    "single_args=-ll:networks none" \
    "crowded_env=REALM_SYNTHETIC_CORE_MAP=d=1,c=64" \
    "crowded_args=-ll:bgwork 1"
}

# --- Setting up -----------------------------------------------------------------------------------------------------

set_up_fetched_legion() {
  local missing
  missing=$(missing_legion_packages)
  if [[ -n $missing ]]; then
    # In a subshell, so that a failure does not end the script: without MPI, Legion still runs in one process.
    # shellcheck disable=SC2086 # a list of words
    (install_packages $missing) || say "these packages are only for Legion; continuing without them"
  fi
  legion_is_fetched || fetch_legion || return 1
  cp "$root/tools/legion/LegionConfig.cmake" "$LEGION_FOLDER/lib/cmake/Legion" && set_up_driver &&
    write_fetched_settings
}

set_up_own_legion() {
  if [[ ! -f $Legion_DIR/LegionConfig.cmake ]]; then
    say "Legion_DIR is $Legion_DIR, which has no LegionConfig.cmake; Legion is left out."
    return 1
  fi
  write_settings Legion_DIR "$Legion_DIR"
}

choose_legion() {
  if [[ ${DISTAL_LEGION:-on} == off ]]; then return 1; fi
  if [[ -n ${Legion_DIR:-} ]]; then set_up_own_legion; else set_up_fetched_legion; fi
}

# Sets up what emitted programs are built with: Legion, and DISTAL's library for the leaves. If there is no Legion, the
# engine itself says how to get it.
set_up_legion_engine() {
  set_up_legion || return 0
  build default distal_library
}

set_up_legion() {
  mkdir -p "$root/build" || die "cannot write to $root/build"
  if ! choose_legion; then
    rm -f "$LEGION_FOLDER/settings"
    return 1
  fi
}
