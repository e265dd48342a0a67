#!/usr/bin/env bash
# clang-tidy finds nothing in any source. Usage: clang_tidy.sh ROOT BUILD
set -euo pipefail

cd "$1"
find src -name '*.cpp' -print0 | xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$2" --quiet
