#!/usr/bin/env bash
# usage: tools/build.sh PRESET TARGET [CMAKE-OPTION...]
# Configures a preset of CMakePresets.json and builds a target of it, "all" or "programs" (all but the tests). A second
# call finds nothing to do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
target=$2
shift 2

started=$SECONDS
cmake --preset "$preset" --log-level=WARNING "$@" >/dev/null
build=(cmake --build --preset "$preset" --target "$target" --parallel "$(nproc)")
if [[ -t 1 ]]; then
  "${build[@]}"
else
  "${build[@]}" -- --quiet | sed '/^ninja: no work to do\.$/d'
fi
echo "Built ($preset) in $((SECONDS - started)) s."
