#!/usr/bin/env bash
# usage: tools/oracle.sh FOLDER
# Installs the oracle of the expression language (tests/oracle/package-lock.json) into FOLDER and prints the path of
# its node_modules. Prints nothing where npm or the lock file is absent; a failure is one line on stderr, no error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$1
lock=tests/oracle/package-lock.json

command -v npm >/dev/null && command -v node >/dev/null && [[ -f $lock ]] || exit 0
while read -r _ _ package version hash; do
  if ! grep -qF "\"$package\": \"$version\"" "$lock" || ! grep -qF "\"$hash\"" "$lock"; then
    echo "tools/dependencies.txt and $lock differ about $package." >&2
    exit 1
  fi
done < <(grep '^oracle npm ' tools/dependencies.txt)
mkdir -p "$folder"
if ! cmp -s "$lock" "$folder/installed.json"; then
  rm -f "$folder/installed.json"
  cp tests/oracle/package.json "$lock" "$folder/"
  if ! (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=0 \
      --fetch-timeout=20000) >"$folder/npm.log" 2>&1; then
    echo "The oracle of the expression language cannot be installed (see $folder/npm.log); its tests are skipped." >&2
    exit 0
  fi
  cp "$lock" "$folder/installed.json"
fi
echo "$PWD/$folder/node_modules"
