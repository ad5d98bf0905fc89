#!/usr/bin/env bash
# usage: tools/check_format.sh
# Fails if clang-format would change a C or C++ source of the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folders=()
for folder in include src cli tests examples bench bindings; do
  [[ -d $folder ]] && folders+=("$folder")
done
find "${folders[@]}" \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c' \) -not -path '*/fixtures/*' \
  -print0 | xargs -0 --no-run-if-empty clang-format --dry-run -Werror --style=file
