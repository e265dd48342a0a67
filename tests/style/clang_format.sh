#!/usr/bin/env bash
# Every C++ source is as clang-format writes it. Usage: clang_format.sh ROOT
set -euo pipefail

cd "$1"
folders=()
for folder in include src tests bench examples python; do
  [[ -d $folder ]] && folders+=("$folder")
done
if ! find "${folders[@]}" \( -name '*.cpp' -o -name '*.h' \) -print0 |
  xargs -0 clang-format --style=file --dry-run --Werror; then
  echo "to repair: find ${folders[*]} -name '*.cpp' -o -name '*.h' | xargs clang-format -i" >&2
  exit 1
fi
