#!/usr/bin/env bash
# Builds the wheel with the DISTAL library of a build folder, installs it into a virtual environment there, and runs the
# tests. Usage: run.sh SOURCE BUILD PYTHON
#
# Exits with 77, which ctest shows as skipped, where the packages of PyPI cannot be had.
set -euo pipefail

source=$1 build=$2 python=$3
folder="$build/python"

skip() {
  echo "the Python package is not tested: $*"
  exit 77
}

# A Python with the headers of its C interface and with venv.
usable() {
  "$1" - <<'PYTHON' 2>/dev/null
import ensurepip, os, sys, sysconfig, venv
sys.exit(sys.version_info < (3, 10) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))
PYTHON
}
usable "$python" || python=/usr/bin/python3
usable "$python" || skip "no Python from 3.10 on with venv and headers (Debian's python3-venv and python3-dev)"

mkdir -p "$folder"
needed=$(cat "$source/python/tests/requirements.txt" "$source/pyproject.toml" && "$python" --version)
if [[ ! -f $folder/needed || $(<"$folder/needed") != "$needed" ]]; then
  rm -rf "$folder/venv" "$folder/needed"
  "$python" -m venv "$folder/venv"
  "$folder/venv/bin/pip" --disable-pip-version-check install -q --retries 1 --timeout 20 \
    'scikit-build-core>=0.11' 'nanobind>=3' -r "$source/python/tests/requirements.txt" >"$folder/pip.log" 2>&1 ||
    skip "PyPI is not reachable: $(grep -m 1 ERROR "$folder/pip.log" || tail -n 1 "$folder/pip.log")"
  printf '%s' "$needed" >"$folder/needed"
fi

rm -rf "$folder/wheel"
"$folder/venv/bin/pip" --disable-pip-version-check wheel "$source" --no-deps --no-build-isolation -w "$folder/wheel" \
  --config-settings cmake.source-dir=python --config-settings "cmake.define.distal_DIR=$build" \
  --config-settings "build-dir=$folder/build" -v >"$folder/wheel.log" 2>&1 ||
  { tail -n 40 "$folder/wheel.log" && exit 1; }
"$folder/venv/bin/pip" --disable-pip-version-check install -q --force-reinstall --no-deps "$folder"/wheel/*.whl

# In an empty folder, so that what is imported is what is installed.
cd "$folder/wheel"
export DISTAL_SOURCE=$source DISTAL_BUILD=$build
exec "$folder/venv/bin/python" -B -m pytest -q -p no:cacheprovider "$source/python/tests" "${@:4}"
