# shellcheck shell=bash
# Makes Legion available in build/legion. Sourced, never run, after tools/setup.sh.
#
#   set_up_legion    fetches what is missing; false if there is no Legion to use, having said why
#
# What there is to use is described by build/legion/settings, lines of KEY=VALUE; without Legion there is no such file.
#   origin        what was fetched, or "Legion_DIR" for a Legion of the user
#   legion_dir    the folder of LegionConfig.cmake, for cmake -DLegion_DIR=
#   library_path  the folder of the libraries; a program that was linked through legion_dir finds it by itself
#   mpirun        the command that starts several processes, as in "mpirun -n 2 program"; empty if there is none
#   env, args     environment and arguments to run with: they only make the libraries quieter
#   single_args   more arguments for one process, which would else start MPI for nothing
#   crowded_env, crowded_args    more of both for several processes that have not each enough cores of their own
#
# A key without a value means that nothing is needed, or that only the user knows. Values have no quotes; those of env
# and args are words with blanks between.
#
# In the environment, Legion_DIR names a Legion of the user, for which nothing is fetched, and DISTAL_LEGION=off does
# without.

: "${root:?the folder of the repository}"
readonly LEGION_FOLDER="$root/build/legion"

# Debian has no Legion. NVIDIA's wheel for Python carries it, with headers; its Python part is not used. These versions
# go together: later ones of legate have no network, and later ones of UCX refuse a setting of this Realm.
readonly LEGION_WHEELS="legate==26.1.0 libucx-cu12==1.20.0 nvidia-libcal-cu12==0.4.4.50.post1"
readonly LEGION_MEGABYTES=128

# --- Fetching -------------------------------------------------------------------------------------------------------

# A Python with pip; the system's own counts even where another one comes first on the path.
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

# Several processes find each other by MPI. zlib is the one library of Realm that a bare Debian may lack.
missing_legion_packages() {
  legion_is_fetched || pip_python >/dev/null || printf 'python3-pip\n'
  missing_tools mpirun:openmpi-bin
  [[ $(g++ -print-file-name=libz.so.1) == /* ]] || printf 'zlib1g\n'
}

# Any Python will do: nothing of it is run, so the wheels are asked for by name of the one they were made for.
fetch_wheels() {
  local python
  python=$(pip_python) || { echo "there is no Python with pip"; return 1; }
  # shellcheck disable=SC2086 # a list of words
  PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps \
    --only-binary=:all: --implementation cp --python-version 3.11 --platform "manylinux_2_28_$(uname -m)" \
    --target "$1" $LEGION_WHEELS
}

# arrange_legion WHEELS FOLDER: takes what a C++ program needs, a quarter, and puts all libraries into one folder.
# Realm searches for its libraries in legate/wrapper beside itself; that is made the same folder, so that a program runs
# without LD_LIBRARY_PATH.
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

# pip says that it knows no such version where it reached nobody to ask.
why_not_fetched() {
  if grep -q 'from versions: none' "$1"; then
    printf 'PyPI was not reached, or has nothing for this machine (log: %s)' "$1"
  else
    printf 'see %s, which ends with: %s' "$1" "$(tail -n 1 "$1")"
  fi
}

# Beside the place it belongs to until it is whole.
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

# The same folder may be used on machines with a driver and without, so this is looked at each time.
set_up_driver() {
  local stand_in="$LEGION_FOLDER/lib/libcuda.so.1"
  if has_nvidia_driver; then
    rm -f "$stand_in"
  elif [[ ! -f $stand_in ]]; then
    g++ -x c -shared -fPIC -O1 -Wl,-soname,libcuda.so.1 -o "$stand_in" "$root/tools/legion/no_driver.c"
  fi
}

# OpenMPI refuses to start for root, and more processes than cores, unless it is told; and by itself it would give all
# threads of a process one core.
mpirun_command() {
  local start
  start=$(command -v mpirun) || return 0
  if "$start" --version 2>/dev/null | grep -q 'Open MPI'; then
    start+=" --oversubscribe --allow-run-as-root --bind-to none"
  fi
  printf '%s' "$start"
}

# write_settings ORIGIN LEGION_DIR [KEY=VALUE...]; all at once, for those who read them meanwhile.
write_settings() {
  mkdir -p "$LEGION_FOLDER" &&
    printf '%s\n' "origin=$1" "legion_dir=$2" "mpirun=$(mpirun_command)" "${@:3}" >"$LEGION_FOLDER/settings.new" &&
    mv "$LEGION_FOLDER/settings.new" "$LEGION_FOLDER/settings"
}

# Realm ties its threads to cores that it takes for its own, and polls the network with every worker that has nothing
# to do. With two processes on two cores a launch takes 100 ms then; untied and with one worker it takes 1 to 2 ms.
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
    # In a shell of its own, so that a failure ends only this: without MPI there is still one process.
    # shellcheck disable=SC2086 # a list of words
    (install_packages $missing) || say "these are for Legion; the rest goes on without"
  fi
  legion_is_fetched || fetch_legion || return 1
  cp "$root/tools/legion/LegionConfig.cmake" "$LEGION_FOLDER/lib/cmake/Legion" && set_up_driver &&
    write_fetched_settings
}

set_up_own_legion() {
  if [[ ! -f $Legion_DIR/LegionConfig.cmake ]]; then
    say "Legion_DIR is $Legion_DIR, and there is no LegionConfig.cmake in it; Legion is left out."
    return 1
  fi
  write_settings Legion_DIR "$Legion_DIR"
}

choose_legion() {
  if [[ ${DISTAL_LEGION:-on} == off ]]; then return 1; fi
  if [[ -n ${Legion_DIR:-} ]]; then set_up_own_legion; else set_up_fetched_legion; fi
}

# What a program on Legion is built with: Legion, and DISTAL's library for its leaves. Without Legion the engine itself
# says how to get it.
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
