#!/bin/bash
# SPDX-License-Identifier: MIT
# The allocator's model against the kernel: a history that frag saved is lived through by the
# kernel, from the same start, and the layouts are compared. Exit 77: no loop mounts here.
#
#   tests/kernel/history.sh                 small: a few thousand operations
#   FULL=1 tests/kernel/history.sh          three profiles; 1, 6 and 24 months; prints a table
#   FULL=1 DISK=1 tests/kernel/history.sh   the same with the images on the disk: how long it takes
#
# PROFILES, MONTHS, SEED and SAMPLE (arguments of sample) change what FULL takes. DATA=1: with data
# in the image that frag ages, which it has to move; else they are holes. WHOLE=1: the host stores
# that image whole, as it does a disk that was used for so long.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/common.sh
need mke2fs mount umount jq find
can_mount || exit 77
relive=$BUILD/tests/relive layouts=$BUILD/tests/layouts

# In memory the kernel's flushes cost nothing; only its decisions matter.
[ -z "${DISK:-}" ] && [ -w /dev/shm ] && memory=$(mktemp -d /dev/shm/fraglab-test.XXXXXX) || memory=$work
trap 'clean_up; rm -rf "$memory"' EXIT

start() { # IMAGE ARGUMENTS OF sample: the image, and $memory/start.img where its files are empty
	local hollow=--hollow
	[ -z "${DATA:-}" ] || hollow=
	rm -f "$1" "$memory/start.img"
	"$sample" $hollow "${@:2}" "$1" && copy "$1" "$memory/start.img" &&
		mount_for_writing "$memory/start.img" || return
	find "$mounted" -xdev -type f -size +0 -exec truncate -c -s 0 {} +
	unmount_image
}

mount_for_writing() { # IMAGE
	mkdir -p "$work/mount"
	mount -t ext4 -o loop "$1" "$work/mount" && mounted=$work/mount
}

loop_of_mount() {
	local loop
	loop=$(findmnt -no SOURCE "$mounted") && echo "${loop##*/}"
}

# A history may fill the disk; the kernel keeps some blocks for metadata, unless it is told not to.
keep_nothing() {
	echo 0 >"/sys/fs/ext4/$(loop_of_mount)/reserved_clusters"
}

# What the kernel has not read yet, it passes over in its search.
read_bitmaps() {
	cat "/proc/fs/ext4/$(loop_of_mount)/mb_groups" >/dev/null
}

# One history; sets $row to what layouts says, $ops and the seconds of each.
compare() { # PROFILE MONTHS IMAGE
	local history=$work/history.txt from
	"$frag" -n -q -p "$1" -m "$2" --seed "${SEED:-1}" --save-history "$history.all" "$3"
	[ $? -le 1 ] || return
	copy "$memory/start.img" "$memory/kernel.img" && mount_for_writing "$memory/kernel.img" &&
		keep_nothing && read_bitmaps &&
		"$relive" "$mounted" <"$history.all" >"$history" 2>"$work/relive.out" || {
		cat "$work/relive.out"
		return 1
	}
	unmount_image || return
	kernel_seconds=$(tail -n 1 "$work/relive.out" | cut -d ' ' -f 1)
	ops=$(($(wc -l <"$history") - 2))
	rm -f "$memory/model.img"
	if [ -n "${WHOLE:-}" ]; then
		cp --sparse=never "$3" "$memory/model.img"
	else
		copy "$3" "$memory/model.img"
	fi
	sync "$memory/model.img" # or frag would pay for it
	from=$(date +%s%N)
	"$frag" -q --history "$history" "$memory/model.img" || [ $? -eq 1 ] || return
	model_seconds=$((($(date +%s%N) - from) / 1000000))
	model_seconds=$((model_seconds / 1000)).$(printf %03d $((model_seconds % 1000)))
	row=$("$layouts" "$memory/model.img" "$memory/kernel.img")
}

within() { # the limits
	awk '{ exit !($2 <= 0.15 && $4 <= 0.15 && $6 <= 0.15 && $8 <= 0.05) }' <<<"$row"
}

check() { # PROFILE MONTHS IMAGE
	if ! compare "$@"; then
		fail "$1, $2 months: no comparison"
		return
	fi
	if within; then ok "$1, $2 months"; else fail "$1, $2 months: $row"; fi
	[ -z "${FULL:-}" ] || echo "$1 $2 months: $ops operations; $row; kernel $kernel_seconds s," \
		"frag $model_seconds s"
}

image=$work/sample.img
if [ -n "${FULL:-}" ]; then
	# shellcheck disable=SC2086
	start "$image" ${SAMPLE:---size 1280M --files 8000} || fail "no sample"
	for profile in ${PROFILES:-desktop server mail}; do
		for months in ${MONTHS:-1 6 24}; do
			check "$profile" "$months" "$image"
		done
	done
else
	start "$image" --size 128M --files 700 || fail "no sample"
	check desktop 2 "$image"
	check server 2 "$image"
fi
finish
