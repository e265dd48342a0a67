# shellcheck shell=bash
# Makes the MPI engine available. Sourced, never run, after tools/setup.sh.

: "${root:?the folder of the repository}"

# Whether a build was configured with an MPI.
has_mpi_engine() { grep -q '^build distal-mpi:' "$root/build/build.ninja"; }

# Without an MPI the engine itself says how to get one.
set_up_mpi_engine() {
  local missing
  missing=$(missing_openmpi)
  if [[ -n $missing ]]; then
    # In a shell of its own, so that a failure ends only this.
    # shellcheck disable=SC2086 # a list of words
    (install_packages $missing) || return 0
  fi
  # The build may be older than the MPI.
  has_mpi_engine || configure default
  has_mpi_engine || return 0
  build default distal distal_mpi
}
