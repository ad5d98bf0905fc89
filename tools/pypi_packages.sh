#!/usr/bin/env bash
# usage: tools/pypi_packages.sh GROUP FOLDER PURPOSE
# Installs the packages of the Python package index that tools/dependencies.txt names in GROUP into FOLDER, and prints the
# folder to put on PYTHONPATH. Without pip, and after a failure, prints one line on stderr instead: that PURPOSE ("the
# tests with X are") left out. A failure is an error only with CI=true. Needs no network once they are there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
group=$1
folder=$2
purpose=$3

if ! python3 -m pip --version >/dev/null 2>&1; then
  echo "There is no pip for python3; $purpose left out." >&2
  exit 0
fi
mkdir -p "$folder"
wanted=$(awk -v group="$group" '$1 == group && $2 == "pypi" { printf "%s==%s --hash=sha256:%s\n", $3, $4, $5 }' \
  tools/dependencies.txt)
if [[ ! -f $folder/installed.txt || $(<"$folder/installed.txt") != "$wanted" ]]; then
  rm -rf "$folder/installed.txt" "$folder/packages"
  printf '%s\n' "$wanted" >"$folder/requirements.txt"
  if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
      --retries 1 --timeout 20 --target "$folder/packages" -r "$folder/requirements.txt" >"$folder/pip.log" 2>&1; then
    rm -rf "$folder/packages"
    echo "The packages of group $group cannot be installed (see $folder/pip.log); $purpose left out." >&2
    [[ ${CI:-} != true ]]
    exit
  fi
  printf '%s\n' "$wanted" >"$folder/installed.txt"
fi
cd "$folder/packages"
pwd
