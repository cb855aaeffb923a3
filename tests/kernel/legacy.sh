#!/bin/bash
# SPDX-License-Identifier: MIT
# Scores of other tools, as the reports have them, against those tools: e2fsck and e2freefrag on
# the image, e4defrag -c and filefrag on a mounted copy (77: no loop mounts on this machine).
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/common.sh
need mke2fs e2fsck e2freefrag e4defrag filefrag mount umount jq find
can_mount || exit 77
# Where e4defrag looks for mounts; a bare chroot has none.
[ -e /etc/mtab ] || echo "skip: e4defrag -c, which needs /etc/mtab"

image=$work/image.img

ours() { # JQ-FILTER
	jq -r ".images[0].legacy | $1" "$work/ours.json"
}

# "START-BYTES EXTENTS BLOCKS" of each row, then min, max and mean.
theirs_free() {
	e2freefrag "$image" | awk '
		/^(Min|Max|Avg)\. free extent:/ { kib[$1] = $4 }
		/-  :/ {
			n = $1 + 0
			unit = $1
			gsub(/[0-9.]/, "", unit)
			print n * 1024 ^ index("KMGT", unit), $(NF - 2), $(NF - 1)
		}
		END { print kib["Min."], kib["Max."], kib["Avg."] }'
}
ours_free() {
	ours '.e2freefrag | (.histogram[] | "\(.from_bytes) \(.extents) \(.blocks)"),
		"\(.min_kib) \(.max_kib) \(.mean_kib)"'
}

# Files with extents, and these, each inode once; xargs may call filefrag several times.
theirs_filefrag() {
	find "$work/mount" -xdev -type f -printf '%i %p\0' | sort -zu -k1,1n |
		sed -z 's/^[0-9]* //' | xargs -0 filefrag |
		sed -nE 's/.*: ([0-9]+) extents? found.*/\1/p' |
		awk '{ n += $1 > 0; sum += $1 } END { print n + 0, sum + 0 }'
}

# "NOW/BEST SCORE" of what is named. Where the kernel's cache of extents is empty, FIEMAP keeps
# apart what only the format on the disk does; each run fills it, and the host's want of memory
# empties it. So the least of some runs counts, or OURS, which is the least there can be.
theirs_e4defrag() { # PATH OURS
	local try found least=
	for try in 1 2 3 4 5; do
		found=$(e4defrag -c "$1" 2>&1 | awk '
			/Total\/best/ { total = $3 } /Fragmentation score/ { print total, $3 }')
		[ -n "$least" ] && [ "${found%%/*}" -ge "${least%%/*}" ] || least=$found
		[ "$least" != "$2" ] || break
	done
	echo "$least"
}

same() { # TEXT THEIRS OURS
	if [ -n "$2" ] && [ "$2" = "$3" ]; then
		ok "$1"
	else
		fail "$1"
		diff <(echo "$2") <(echo "$3") | head -n 10
	fi
}

compare() { # TEXT
	"$frag" -q --analyze --json="$work/ours.json" "$image" || {
		fail "$1: frag --analyze"
		return
	}
	same "$1: non-contiguous as e2fsck -fn says" \
		"$(e2fsck -fn "$image" 2>&1 | sed -nE 's/.*\(([0-9.]+)% non-contig.*/\1/p')" \
		"$(ours .e2fsck.non_contiguous_percent | awk '{ printf "%.1f", $1 }')"
	same "$1: free extents as e2freefrag" "$(theirs_free)" "$(ours_free)"
	mount_image "$image" >"$work/mount.out" 2>&1 || {
		fail "$1: $(cat "$work/mount.out")"
		return
	}
	same "$1: filefrag" "$(theirs_filefrag)" "$(ours '.filefrag | "\(.files) \(.extents)"')"
	[ ! -e /etc/mtab ] || compare_e4defrag "$1"
	unmount_image
}

compare_e4defrag() { # TEXT
	local file score
	score=$(ours '.e4defrag | "\(.extents)/\(.best_extents) \(.score)"' |
		awk '{ printf "%s %.0f", $1, $2 }')
	same "$1: e4defrag -c" "$(theirs_e4defrag "$work/mount" "$score")" "$score"
	file=$(ours '.e4defrag.worst[0].path')
	score=$(ours '.e4defrag.worst[0] | "\(.extents)/\(.best_extents) \(.score)"' |
		awk '{ printf "%s %.0f", $1, $2 }')
	same "$1: e4defrag -c $file" "$(theirs_e4defrag "$work/mount$file" "$score")" "$score"
}

images=0
build() { # MONTHS DEFRAG-MODE|- ARGUMENTS OF sample
	local months=$1 mode=$2
	shift 2
	rm -f "$image"
	images=$((images + 1))
	"$sample" --seed $images "$@" "$image" >"$work/sample.out" 2>&1 || {
		fail "sample $*: $(tail -n 1 "$work/sample.out")"
		return
	}
	if [ "$months" -gt 0 ]; then
		"$frag" -q --seed $images --months "$months" "$image" >"$work/run.out" 2>&1
		[ $? -le 1 ] || fail "frag: $(tail -n 1 "$work/run.out")"
	fi
	if [ "$mode" != - ]; then
		"$defrag" -q --mode "$mode" "$image" >"$work/run.out" 2>&1
		[ $? -le 1 ] || fail "defrag: $(tail -n 1 "$work/run.out")"
	fi
	compare "$* months $months mode $mode"
}

build 0 - --size 32M --files 300 --full 50
build 1 - --size 32M --files 300 --full 70 --block 1024
build 6 - --size 48M --files 400 --full 85 --block 2048
build 12 - --size 64M --files 600 --full 60
build 24 - --size 64M --files 500 --full 90 --block 1024
build 6 full --size 64M --files 500 --full 80
build 6 files --size 48M --files 400 --full 80 --block 1024
build 6 free --size 48M --files 400 --full 60 --block 2048
build 0 - --size 128M --files 900 --full 75 --block 1024
build 6 - --size 256M --files 1500 --full 58
build 0 - --size 32M --files 300 --full 60 --type ext3 --block 1024
build 3 - --size 64M --files 400 --full 70 --type ext3 --block 1024
build 6 - --size 96M --files 700 --full 60 --type ext3
build 6 - --size 64M --files 500 --full 80 --type ext3 --block 2048
build 6 full --size 64M --files 400 --full 70 --type ext3 --block 1024
build 0 - --size 48M --files 400 --full 70 --type ext2
build 3 - --size 64M --files 400 --full 70 --type ext2 --block 1024
build 12 - --size 96M --files 700 --full 85 --type ext2 --block 2048
build 6 files --size 64M --files 500 --full 75 --type ext2
build 6 - --size 256M --files 1200 --full 70 --type ext2 --block 1024
finish
