#!/usr/bin/env bash
# usage: tools/build.sh PRESET [CMAKE-OPTION...]
# Configures and builds a preset of CMakePresets.json. A second call finds nothing to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
shift

started=$SECONDS
cmake --preset "$preset" --log-level=WARNING "$@" >/dev/null
build=(cmake --build --preset "$preset" --parallel "$(nproc)")
if [[ -t 1 ]]; then
  "${build[@]}"
else
  "${build[@]}" -- --quiet | sed '/^ninja: no work to do\.$/d'
fi
echo "Built ($preset) in $((SECONDS - started)) s."
