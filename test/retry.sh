#!/usr/bin/env bash
# Runs a command that downloads, up to three times: a connection that is refused
# once isn't a failure. Not for tests.
#
#   test/retry.sh COMMAND…
set -u
for pause in 5 20 ''; do
	"$@" && exit
	status=$?
	[ -n "$pause" ] || exit "$status"
	echo "retry.sh: status $status, again in $pause s: $*" >&2
	sleep "$pause"
done
