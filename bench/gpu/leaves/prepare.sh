#!/usr/bin/env bash
# Builds the benchmark of leaves alone: prepare.sh FOLDER. FOLDER/leaves then needs a GPU and CUDA's libraries.
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")")")
[[ $# == 1 ]] || { echo "usage: prepare.sh FOLDER" >&2; exit 2; }
rm -rf "$1/source"
mkdir -p "$1"
"${DISTAL_BINARY:-$root/distal}" emit "$root/bench/gpu/leaves/leaves.distal" --target legion -o "$1/source" >/dev/null
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
"$nvcc" -O3 -std=c++20 -arch="${GPU_ARCH:-sm_90}" -I "$1/source" -I "$1/source/distal" -o "$1/leaves" \
  "$root/bench/gpu/leaves/leaves.cu" "$1"/source/leaves_gpu_*.cu -lcublas
