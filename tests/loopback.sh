#!/usr/bin/env bash
# The tests that start ranks where there is no loopback interface: they make one of their own or, where that is not
# allowed either, are skipped with the reason. loopback.sh PROGRAM
set -u
program=$(realpath "$1")
tests=$(cd "$(dirname "$0")" && pwd)
if unshare -n true 2>/dev/null; then alone="unshare -n"
elif unshare -rn true 2>/dev/null; then alone="unshare -rn"
else echo "skipped: this user may not make a network namespace"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$tests/judge.sh"

# A new namespace has a loopback interface that is down: what this test is about.
probe='eval "$(sed -n "/^loopback()/,/^}/p" "$1")"; loopback'
$alone bash -c "$probe" bash "$tests/mpi_env.sh" && bad "loopback is up in a new namespace" || good

$alone "$tests/mpi.sh" "$program" >"$work/mpi" 2>&1; code=$?
{ [ $code -eq 0 ] || { [ $code -eq 77 ] && grep -q '^skipped: there is no loopback' "$work/mpi"; }; } && good ||
    bad "mpi.sh without a loopback interface ends with $code: $(tail -c 300 "$work/mpi")"

# Where nothing may be set up, not even a namespace of its own: unshare always fails.
mkdir "$work/bin"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/unshare"
chmod +x "$work/bin/unshare"
$alone env PATH="$work/bin:$PATH" "$tests/mpi.sh" "$program" >"$work/mpi" 2>&1; code=$?
{ [ $code -eq 77 ] && grep -qx 'skipped: there is no loopback interface, which Open MPI needs' "$work/mpi"; } && good ||
    bad "mpi.sh where no loopback interface can be had ends with $code: $(tail -c 300 "$work/mpi")"

# The program itself needs none.
$alone "$program" train --preset tiny --steps 2 --warmup 1 --batch-size 4 --quiet --out "$work/run" >"$work/out" 2>&1 &&
    good || bad "train without a network: $(head -c 300 "$work/out")"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
