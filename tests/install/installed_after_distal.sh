#!/usr/bin/env bash
# `./distal` builds every file that `cmake --install` needs. Usage: installed_after_distal.sh SOURCES BUILD WORK
set -euo pipefail
sources=$1
build_folder=$2
work=$3

# Runs what `./distal` does, but records the targets in place of building them.
mkdir -p "$work/build"
export root=$work
# shellcheck source=tools/setup.sh
source "$sources/tools/setup.sh"
built=()
is_fresh() { return 1; }
set_up_tools() { :; }
configure() { :; }
build() { built+=("${@:2}"); }
set_up_distal

# The files of the build folder that the installation copies, without the optional ones and those of the package.
needed=$(grep 'file(INSTALL' -A 3 "$build_folder/cmake_install.cmake" | tr -d '\n' | sed 's/file(INSTALL/\n&/g' |
  grep -v OPTIONAL | grep -o "\"$build_folder/[^\"]*\"" | tr -d '"' | grep -v '\.cmake$')
[[ $needed == *libdistal.so* ]]

made=$(printf '%s\n' "${built[@]}"; ninja -C "$build_folder" -t inputs "${built[@]}")
for file in $needed; do
  file=$(readlink -f "$file")  # ninja names only one of the links to a library
  name=${file#"$build_folder/"}
  grep -Fxq -e "$name" -e "$file" <<<"$made" ||
    { echo "./distal builds ${built[*]}, and cmake --install needs $name"; exit 1; }
done
