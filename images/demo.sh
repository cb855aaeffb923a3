#!/bin/bash
# SPDX-License-Identifier: MIT
# The demonstration: builds a sample image, ages a copy, defragments a copy of that, checks all
# three and compares them. Needs no root. Everything stays in $BUILD/demo.
set -eu
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/sbin:/sbin
BUILD=${BUILD:-build}
dir=$BUILD/demo
size=${SIZE:-1G} full=${FULL:-58} files=${FILES:-6000} seed=${SEED:-1} months=${MONTHS:-6}

say() { printf '\n== %s\n' "$*"; }
timed() { # COMMAND...: shows and runs it, then says how long it took
	local begin status=0
	echo "\$ $*"
	begin=$(date +%s%N)
	"$@" || status=$?
	printf '   %.1f s\n' "$((($(date +%s%N) - begin) / 10000000))e-2"
	return $status
}
# Status 1: done, but not all that was asked; the report says what.
most() { timed "$@" || [ $? -eq 1 ]; }
check() { # IMAGE
	local out
	if ! out=$(e2fsck -fn "$1" 2>&1) || grep -q 'Optimize\|WARNING' <<<"$out"; then
		echo "$out"
		echo "demo: $1: e2fsck complains."
		exit 1
	fi
	echo "   e2fsck -fn: $(tail -n 1 <<<"$out")"
	printf '   host blocks: %s MiB\n' "$(du -m "$1" | cut -f 1)"
}

begin=$SECONDS
mkdir -p "$dir"
rm -f "$dir"/*.img

say "1. A sample image: $size, $full % full, $files files, seed $seed"
timed "$BUILD/images/sample" --size "$size" --full "$full" --files "$files" --seed "$seed" \
	"$dir/fresh.img"
check "$dir/fresh.img"

say "2. Age a copy by $months months"
cp --sparse=always "$dir/fresh.img" "$dir/aged.img"
most "$BUILD/frag" --months "$months" "$dir/aged.img"
check "$dir/aged.img"

say "3. Defragment a copy of the aged image"
cp --sparse=always "$dir/aged.img" "$dir/defragmented.img"
most "$BUILD/defrag" "$dir/defragmented.img"
check "$dir/defragmented.img"

say "4. Names, attributes, xattrs and content of all three"
for image in fresh aged defragmented; do
	"$BUILD/tests/digest" "$dir/$image.img" >"$dir/$image.digest"
	printf '%-14s %7d names and inodes, %s\n' "$image" "$(wc -l <"$dir/$image.digest")" \
		"$("$BUILD/tests/digest" --sum "$dir/$image.img")"
	cmp "$dir/fresh.digest" "$dir/$image.digest" || {
		echo "demo: $image.img differs from fresh.img."
		exit 1
	}
done
echo "All the same."

say "5. The comparison"
timed "$BUILD/defrag" --analyze "$dir/fresh.img" "$dir/aged.img" "$dir/defragmented.img"

say "Done in $((SECONDS - begin)) s. The images are in $dir."
