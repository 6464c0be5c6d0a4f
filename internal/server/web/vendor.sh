#!/usr/bin/env bash
# Fetches the libraries that browsers get, and axe for the tests of the page, from npm, and puts those of the editor into one
# file: the versions and the checksums of their packages below. Whoever changes a version looks at what changed, and writes the new checksum here.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# unpack PACKAGE VERSION SHA256: puts a package into a folder below node_modules
unpack() {
	local name=$1 version=$2 sum=$3 file
	file=$(cd "$work" && npm pack --silent "$name@$version" | tail -n 1)
	echo "$sum  $work/$file" | sha256sum --check --quiet
	mkdir -p "$work/node_modules/$name"
	tar -xzf "$work/$file" -C "$work/node_modules/$name" --strip-components 1
}

# sums FOLDER: writes the checksums of its files
sums() { (cd "$1" && sha256sum -- $(ls | grep -v SHA256SUMS) > SHA256SUMS); }

# fetch PACKAGE VERSION SHA256 FOLDER FILE...
fetch() {
	local name=$1 to=$4
	unpack "$1" "$2" "$3"
	shift 4
	mkdir -p "$to"
	for file in "$@"; do install -m 644 "$work/node_modules/$name/$file" "$to/"; done
	sums "$to"
}

fetch uplot 1.6.32 4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d uplot dist/uPlot.iife.min.js dist/uPlot.min.css LICENSE
fetch axe-core 4.14.1 e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745 ../../../e2e/browser/testdata/axe axe.min.js LICENSE LICENSE-3RD-PARTY.txt

# The editor: what codemirror/editor.mjs imports, and esbuild, which is the same program on every machine as WebAssembly.
parts=(
	"@codemirror/autocomplete 6.20.4 40b9657b137284426bcd829cdee7dc78a748337de997a12b10b5c725f67aa0d0"
	"@codemirror/commands 6.11.1 f477f46d8c00278e1b387baebd53bd6556fd5f3c7401ebe2a05543600fcbff0f"
	"@codemirror/lang-json 6.0.2 cf896487f9b2bc9fb0ca6331b84c3a20c7a12687f52ae41777d24ef719e1bcc3"
	"@codemirror/lang-yaml 6.1.3 1ca03b21045ffbc35146ab068ca5c79b78da9197bdbfaa432718786563ac0712"
	"@codemirror/language 6.13.1 e711ec28da046f6c163e777c5466d8ac805ee9ef5f51c511e8729c6789be7f83"
	"@codemirror/lint 6.9.8 637290fb6a6633a1a08f44c721afb75e0387d86c9b7c42d723a00a974811aae8"
	"@codemirror/search 6.7.2 cea9bcf62e34f89f2a49bc5e37bcf6d4f32049892f5a0b1cbd0b8160094dec97"
	"@codemirror/state 6.7.6 91d75acc955ceeaf86af9396c11cda7694fe6222aac8427fa033d89eff5ac839"
	"@codemirror/streamparser 6.0.0 b4888c5ab40350e7a1747d765948a8fa45cfd127c479dd4cdef8097046efe14a"
	"@codemirror/view 6.43.15 f0d5921406f841d211fa0887aabf10626c47676bfc63a4abed2a4d207e27c5ac"
	"@lezer/common 1.5.5 ed93cee36403124f51eae638b8a032d6694914c19704de7610db7f2a9441c963"
	"@lezer/highlight 1.2.5 e349eec1ff4382439c1e6286ae937e0203a8349c5192e2e133863391775ac7ff"
	"@lezer/json 1.0.3 af9487c7c44816fc40e6c4b586c2cb1404f06fac4c71bedd07b5031675782fc1"
	"@lezer/lr 1.4.12 64382ee7f144221e4c655f2034393c6be9cecaf5ea2ec1c1edeb99424defb272"
	"@lezer/yaml 1.0.4 6423ff4510ce7e573b5666b0025be6516709e6285ee07d781dffc3218093b009"
	"@marijn/find-cluster-break 1.0.4 5d12b770b64d46632c84fcd18e1d4c09f195ed0f5dbc71f94a41f0af333eaeae"
	"crelt 1.0.7 3542299c0278fdc26aceb2b13d31bffbcb89d7367706bbc457130e3fd103c03e"
	"style-mod 4.1.5 c4a44844213a141da55c51a2f81d701acdb9944465328b4a2a6b9626c6d9fc39"
	"w3c-keyname 2.2.8 05d21484026d1f2dd842c843181e391e66d60f1d5dff292d562c3f40302dab36"
)
: > "$work/LICENSE"
for part in "${parts[@]}"; do
	read -r name version sum <<< "$part"
	unpack "$name" "$version" "$sum"
	printf '%s %s\n\n' "$name" "$version" >> "$work/LICENSE"
	cat "$work/node_modules/$name/LICENSE" >> "$work/LICENSE"
	printf '\n\n' >> "$work/LICENSE"
done
unpack esbuild-wasm 0.28.2 61594de12ce998652be2aa0ab72dda54bfa49407fb37ee3464468a2aac306baa
cp codemirror/editor.mjs "$work/"
(cd "$work" && node node_modules/esbuild-wasm/bin/esbuild editor.mjs --bundle --minify --charset=utf8 --legal-comments=none --format=iife --global-name=windlassEditor \
	--target=es2022 --log-level=warning --outfile=editor.min.js)
install -m 644 "$work/editor.min.js" "$work/LICENSE" codemirror/
sums codemirror
