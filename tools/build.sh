#!/usr/bin/env bash
# usage: tools/build.sh PRESET [CMAKE-OPTION...]
# Configures and builds a preset of CMakePresets.json. A second call finds nothing to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
shift

quiet=(--quiet)
[[ -t 1 ]] && quiet=()
started=$SECONDS
cmake --preset "$preset" --log-level=WARNING "$@" >/dev/null
cmake --build --preset "$preset" --parallel "$(nproc)" -- "${quiet[@]}"
echo "Built ($preset) in $((SECONDS - started)) s."
