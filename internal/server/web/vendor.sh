#!/usr/bin/env bash
# Fetches the libraries that browsers get, and axe for the tests of the page, from npm: the versions and the checksums of
# their packages below. Whoever changes a version looks at what changed, and writes the new checksum here.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch PACKAGE VERSION SHA256 FOLDER FILE...
fetch() {
	local name=$1 version=$2 sum=$3 to=$4
	shift 4
	(cd "$work" && npm pack --silent "$name@$version" > /dev/null)
	echo "$sum  $work/$name-$version.tgz" | sha256sum --check --quiet
	mkdir -p "$work/$name" "$to"
	tar -xzf "$work/$name-$version.tgz" -C "$work/$name"
	for file in "$@"; do install -m 644 "$work/$name/package/$file" "$to/"; done
	(cd "$to" && sha256sum -- $(ls | grep -v SHA256SUMS) > SHA256SUMS)
}

fetch uplot 1.6.32 4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d uplot dist/uPlot.iife.min.js dist/uPlot.min.css LICENSE
fetch axe-core 4.14.1 e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745 ../../../e2e/browser/testdata/axe axe.min.js LICENSE LICENSE-3RD-PARTY.txt
