#!/bin/sh
# Installs the Debian packages that are missing: deps.sh PACKAGE...
# As root directly, otherwise through sudo; without either it says what to install.
set -eu

missing=""
for package in "$@"; do
    status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    echo "snip: this is not a Debian system; please install the equivalents of:$missing" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo"
else
    echo "snip: packages are missing and there is no root or sudo here; as root: apt-get install$missing" >&2
    exit 1
fi
echo "snip: installing$missing" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $as_root apt-get update -q && $as_root apt-get install -y -q --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "snip: could not install:$missing" >&2
    exit 1
fi
