#!/bin/bash
# SPDX-License-Identifier: MIT
# Compares what the kernel shows of an image before and after frag and defrag: names, attributes,
# xattrs, content. Exit 77: no loop mounts on this machine.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/common.sh
need mke2fs mount umount getfattr sha256sum find
can_mount || exit 77

listing() { # IMAGE FILE
	mount_image "$1" || return 1
	(
		cd "$work/mount" || exit 1
		find . -printf '%p %y %m %U:%G %n %s %A@ %T@ %C@ %l\n' | sort
		find . -print0 | sort -z | xargs -0 getfattr -h -d -m - -e hex 2>/dev/null
		find . -type f -print0 | sort -z | xargs -0 sha256sum
	) >"$2"
	unmount_image
}

compare() { # ARGUMENTS OF sample
	local image=$work/image.img
	rm -f "$image"
	"$sample" "$@" "$image" || {
		fail "sample $*"
		return
	}
	listing "$image" "$work/fresh"
	expect "$*: the fresh listing has files" test "$(wc -l <"$work/fresh")" -gt 300
	for step in "$frag -q --seed 3 --months 6" "$defrag -q" "$frag -q --seed 4 --months 2" \
		"$defrag -q --mode files" "$defrag -q --mode free"; do
		# shellcheck disable=SC2086
		$step "$image" >"$work/run.out" 2>&1
		status=$?
		[ $status -le 1 ] || {
			fail "$*: $step ends with $status: $(tail -n 1 "$work/run.out")"
			return
		}
		listing "$image" "$work/after"
		expect "$*: the same after $step" diff "$work/fresh" "$work/after"
	done
}

compare --size 96M --files 700 --full 60 --seed 5
compare --size 48M --files 400 --full 85 --seed 6 --block 1024
compare --size 48M --files 400 --full 70 --seed 7 --block 1024 --type ext3
compare --size 64M --files 300 --full 75 --seed 8 --type ext2
finish
