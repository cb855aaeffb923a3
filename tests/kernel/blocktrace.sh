#!/bin/bash
# SPDX-License-Identifier: MIT
# The analyzer against the kernel: all files of a fresh, an aged and a defragmented image are read
# from a cold cache, in path order and as directories list them, while the block layer's tracepoint
# is recorded, and compared with read-all and read-directory-order; then a tree is unpacked into a
# copy of each and synced, and compared with install. Exit 77: no loop mounts or no tracefs here.
#
# The device is a loop device with requests up to 1,280 KiB and 128 segments. Reads never reach the
# limits with a read-ahead of 128 KiB. Writes reach the segments': tar writes 10 KiB at a time, which
# makes folios of 1.25 pages on average, so 128 segments are 640 KiB; install is predicted with that.
# SIZE (512M) and FILES (4000) of the image, SEED, RUNS (3) of each install, AGED (an image to take
# for the aged one), and VERBOSE=1 may be set.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/common.sh
need mke2fs mount umount losetup jq tar awk
can_mount || exit 77
size=${SIZE:-512M} files=${FILES:-4000} seed=${SEED:-1} runs=${RUNS:-3}
. tests/lib/blocktrace.sh

# The same of the analyzer.
predicted() { # IMAGE WORKLOAD OPTION...
	"$defrag" --analyze --json --workload "$2" "${@:3}" "$1" | jq -r '.images[0].io[0] |
		"\(.ios) \(.sequential_ratio * 10000 | round / 100) \(.seeks_per_100mib * 10 | round / 10)"'
}
# The numbers of two words lists, in a row.
show() { printf '%-24s %9s I/Os %7s %% sequential %9s seeks/100 MiB\n' "$@"; }
holds() { awk "BEGIN { exit !($1) }"; }
# The order of each two images is the same, where the kernel's figures are not a tie: closer than
# 20 %, or 15 points of the share, or its runs of the two images overlap (commits go by time).
same_ranking() { # COLUMN
	paste -d ' ' "$work/least" "$work/most" "$work/predicted" | awk -v c="$1" '
		{ least[NR] = $c; most[NR] = $(c + 4); p[NR] = $(c + 8); name[NR] = $4 }
		END {
			for (i in least) for (j in least)
				if (least[i] > (c == 2 ? most[j] + 15 : most[j] * 1.2) && p[i] <= p[j]) {
					print name[i], least[i], "over", name[j], most[j], "but", p[i], p[j]
					wrong = 1
				}
			exit wrong
		}'
}

"$sample" --size "$size" --files "$files" --seed "$seed" "$work/fresh.img" &&
	copy "${AGED:-$work/fresh.img}" "$work/aged.img" &&
	{ [ -n "${AGED:-}" ] || "$frag" -q --seed "$seed" "$work/aged.img"; } &&
	copy "$work/aged.img" "$work/defragmented.img"
"$defrag" -q "$work/defragmented.img"
[ $? -le 1 ] || fail "images could not be made"

read_in_order() { # ORDER WORKLOAD: of readall, and the workload that predicts it
	rm -f "$work/least" "$work/most" "$work/predicted"
	for image in fresh aged defragmented; do
		attach "$work/$image.img" ro,noload || { fail "mount $image"; finish; }
		drop_caches
		record "$work/trace" R "$readall" "$mounted" 131072 "$1" || fail "$image: reading all files"
		detach
		read -r ios ratio seeks < <(measured "$work/trace")
		read -r p_ios p_ratio p_seeks < <(predicted "$work/$image.img" "$2" --max-io 1280K)
		echo "$ios $ratio $seeks $image" | tee -a "$work/least" >>"$work/most"
		echo "$p_ios $p_ratio $p_seeks $image" >>"$work/predicted"
		show "read $1 $image: kernel" "$ios" "$ratio" "$seeks"
		show "read $1 $image: predicted" "$p_ios" "$p_ratio" "$p_seeks"
		expect "$1 $image: I/Os within 15 %" holds "$p_ios > $ios * 0.85 && $p_ios < $ios * 1.15"
		expect "$1 $image: ratio within 5 points" holds "$p_ratio > $ratio - 5 && $p_ratio < $ratio + 5"
		expect "$1 $image: seeks within 15 %" holds "$p_seeks > $seeks * 0.85 && $p_seeks < $seeks * 1.15"
	done
	for column in 1 2 3; do
		expect "$2 ranks the images as the kernel does, figure $column" same_ranking $column
	done
}
read_in_order path read-all
read_in_order listed read-directory-order

# What is unpacked: the sample's own files up to 512 KiB, the sizes that install has.
attach "$work/fresh.img" ro,noload || { fail "mount fresh"; finish; }
(cd "$mounted" && find . -type f -size -513k -print0 | tar --null -T - -cf "$work/package.tar")
detach
bytes=$(tar -tvf "$work/package.tar" | awk '/^-/ { n += $3 } END { print n }')
unpack() { tar -C "$mounted/fraglab-package" -xf "$work/package.tar" && sync -f "$mounted"; }
rm -f "$work/least" "$work/most" "$work/predicted"
of_runs() { # COLUMN least|middle|most
	awk -v c="$1" '{ print $c }' "$work/runs" | sort -n | case $2 in
	least) head -n 1 ;;
	middle) sed -n "$((runs / 2 + 1))p" ;;
	most) tail -n 1 ;;
	esac
}
install_once() { # IMAGE: unpacks into a copy of it, appends what the kernel wrote to $work/runs
	copy "$work/$1.img" "$work/copy.img"
	attach "$work/copy.img" noatime || { fail "mount a copy of $1"; finish; }
	mkdir "$mounted/fraglab-package" && drop_caches
	record "$work/trace" W unpack || fail "$1: unpacking"
	detach
	measured "$work/trace" >>"$work/runs"
}
for image in fresh aged defragmented; do
	rm -f "$work/runs"
	for ((run = 0; run < runs; run++)); do install_once "$image"; done
	[ -z "${VERBOSE:-}" ] || sed "s/^/  $image: /" "$work/runs"
	ios=$(of_runs 1 middle) ratio=$(of_runs 2 middle) seeks=$(of_runs 3 middle)
	read -r p_ios p_ratio p_seeks < <(predicted "$work/$image.img" "install=$bytes" --max-io 640K)
	for end in least most; do
		echo "$(of_runs 1 $end) $(of_runs 2 $end) $(of_runs 3 $end) $image" >>"$work/$end"
	done
	echo "$p_ios $p_ratio $p_seeks $image" >>"$work/predicted"
	show "install $image: kernel" "$ios" "$ratio" "$seeks"
	show "install $image: predicted" "$p_ios" "$p_ratio" "$p_seeks"
	awk "BEGIN { printf \"%-24s %+.1f points\\n\", \"install $image: off by\", $p_ratio - $ratio }"
done
for column in 1 2 3; do
	expect "install ranks the images as the kernel does, figure $column" same_ranking $column
done
finish
