# shellcheck shell=bash
# Makes the MPI engine available. Sourced, never run, after tools/setup.sh.

: "${root:?the folder of the repository}"

# Whether a build was configured with an MPI.
has_mpi_engine() { grep -q '^build distal-mpi:' "$root/build/build.ninja"; }

# Installs an MPI and builds the engine if they are missing. Without an MPI the engine itself says how to get one.
set_up_mpi_engine() {
  local missing
  missing=$(missing_openmpi)
  if [[ -n $missing ]]; then
    # In a subshell, so that a failure does not end the script.
    # shellcheck disable=SC2086 # a list of words
    (install_packages $missing) || return 0
  fi
  # The build may have been configured before the MPI was installed.
  has_mpi_engine || configure default
  has_mpi_engine || return 0
  build default distal distal_mpi
}
