#!/usr/bin/env bash
# usage: tools/hub_peer.sh FOLDER
# Installs Hugging Face's own client (group hub of tools/dependencies.txt) into FOLDER, for the tests that share a cache
# with it, and prints the folder to put on PYTHONPATH. Prints nothing where pip is absent; a failure is one line on
# stderr, and an error only with CI=true. Needs no network once it is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$1

python3 -m pip --version >/dev/null 2>&1 || exit 0
mkdir -p "$folder"
wanted=$(awk '$1 == "hub" && $2 == "pypi" { printf "%s==%s --hash=sha256:%s\n", $3, $4, $5 }' tools/dependencies.txt)
if [[ ! -f $folder/installed.txt || $(<"$folder/installed.txt") != "$wanted" ]]; then
  rm -rf "$folder/installed.txt" "$folder/packages"
  printf '%s\n' "$wanted" >"$folder/requirements.txt"
  if ! python3 -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
      --retries 1 --timeout 20 --target "$folder/packages" -r "$folder/requirements.txt" >"$folder/pip.log" 2>&1; then
    echo "Hugging Face's client cannot be installed (see $folder/pip.log); the tests with it are skipped." >&2
    [[ ${CI:-} != true ]]
    exit
  fi
  printf '%s\n' "$wanted" >"$folder/installed.txt"
fi
cd "$folder/packages"
pwd
