#!/usr/bin/env bash
# usage: tools/install.sh GROUP...
# Installs the Debian packages of tools/dependencies.txt that are missing or too old. Says nothing and needs no
# network when there are none. Exit code 3: they are missing and cannot be installed from here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v dpkg-query >/dev/null; then
  echo "This is no Debian system: the packages of tools/dependencies.txt are expected to be installed." >&2
  exit 0
fi

missing=()
while read -r group source package minimum _; do
  [[ $source == apt && " $* " == *" $group "* ]] || continue
  read -r state version <<<"$(dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$package" 2>/dev/null || true)"
  if [[ ${state:-} != installed ]] || ! dpkg --compare-versions "$version" ge "$minimum"; then
    missing+=("$package")
  fi
done < <(grep -v '^#' tools/dependencies.txt)
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
    as_root=(sudo)
  else
    echo "These Debian packages are missing or too old; install them as root, then start again:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 3
  fi
fi

echo "Installing Debian packages: ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 15 "$log" >&2
  echo "The packages cannot be installed; the command was:" >&2
  echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 3
fi
