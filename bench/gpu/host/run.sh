#!/usr/bin/env bash
# Measures the host's time in the leaves of bench/gpu/leaves, without a GPU and without nvcc: run.sh [FOLDER]
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")")
here=$root/bench/gpu/host
folder=${1:-$root/build/gpu-host}
rm -rf "$folder"
mkdir -p "$folder"
"${DISTAL_BINARY:-$root/distal}" emit "$root/bench/gpu/leaves/leaves.distal" --target legion -o "$folder/source" >/dev/null
"${CXX:-c++}" -O2 -std=c++20 -w -I "$here/nothing" -I "$folder/source" -include cublas_v2.h -o "$folder/host" \
  -x c++ "$here/host.cpp" "$folder"/source/leaves_gpu_*.cu
"$folder/host"
