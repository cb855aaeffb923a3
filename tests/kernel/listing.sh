#!/bin/bash
# SPDX-License-Identifier: MIT
# The order in which directories are listed (fl_file.listing_rank): that of the kernel's readdir,
# for each kind of directory and of hash. What tar meets on a mounted image is compared with what
# the workload read-directory-order reads.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/common.sh
need mke2fs tune2fs debugfs mount umount tar jq
can_mount || exit 77

# A small directory, one with an index, and one of a few blocks between; files of one block, as
# only those with blocks are in the map.
populate() { # DIRECTORY
	local i text
	text=$(printf '%0500d' 1) # more than an inode holds
	mkdir -p "$1/small/deep" "$1/medium" "$1/large" || return 1
	for i in $(seq 30); do echo "$text" >"$1/small/n$((i * 7919 % 31))"; done
	for i in $(seq 5); do echo "$text" >"$1/small/deep/Grüße $i"; done
	for i in $(seq 150); do echo "$text" >"$1/medium/a file with a name of some length $i"; done
	for i in $(seq 1500); do echo "$text" >"$1/large/f$i"; done
	ln "$1/small/n1" "$1/large/another name"
}

# Files in the order in which tar meets them: their first blocks, by debugfs.
listed_by_kernel() { # IMAGE
	tar -C "$work/mount" --quoting-style=literal -cvf /dev/null . 2>/dev/null | sed 's|^\./||; \|/$|d; /^$/d' >"$work/names"
	sed 's/.*/bmap "&" 0/' "$work/names" | debugfs -f - "$1" 2>/dev/null |
		sed -n 's/^\([0-9][0-9]*\)$/\1/p' | awk '!seen[$1]++'
}
# The same of the analyzer: of all that it reads, what is a file's first block.
listed_by_us() { # IMAGE BLOCKS
	"$defrag" --analyze -q --workload read-directory-order --fio-log "$work/log" "$1" || return 1
	awk -v bytes="$bytes" 'NR == FNR { wanted[$1]; next }
		$2 == "read" && $3 / bytes in wanted { print $3 / bytes }' "$2" "$work/log"
}

# Another version of the hash in an indexed directory: the kernel takes only some.
poke_version() { # IMAGE
	local block
	block=$(debugfs -R "bmap /large 0" "$1" 2>/dev/null)
	printf "\\x$version" | dd of="$1" bs=1 seek=$((block * bytes + 28)) conv=notrunc status=none
}

compare() { # ABOUT MKE2FS-OPTION...
	local about=$1 image=$work/$1.img
	shift
	truncate -s 64M "$image"
	mke2fs -q -t ext4 "$@" "$image" >"$work/out" 2>&1 || { fail "$about: mke2fs"; return; }
	[ -z "$hash" ] || tune2fs -E "hash_alg=$hash" "$image" >/dev/null || fail "$about: tune2fs"
	[ -z "$flags" ] || debugfs -w -R "ssv flags $flags" "$image" >/dev/null 2>&1
	if ! mount -o loop "$image" "$work/mount" 2>"$work/out"; then
		echo "skip $about: this kernel cannot mount it: $(tail -n 1 "$work/out")"
		return
	fi
	mounted=$work/mount
	[ -z "$attribute" ] || chattr "$attribute" "$mounted" || fail "$about: chattr"
	populate "$mounted" || fail "$about: populate"
	unmount_image
	bytes=$(debugfs -R stats "$image" 2>/dev/null | awk '/^Block size:/ { print $3 }')
	[ -z "$version" ] || poke_version "$image"
	mount -o loop,ro,noload "$image" "$work/mount" && mounted=$work/mount || fail "$about: mount"
	listed_by_kernel "$image" >"$work/kernel"
	unmount_image
	listed_by_us "$image" "$work/kernel" >"$work/ours"
	[ "$(wc -l <"$work/kernel")" -eq 1685 ] || fail "$about: $(wc -l <"$work/kernel") files"
	expect "$about: as the kernel lists it" cmp "$work/kernel" "$work/ours"
	rm -f "$image"
}

mkdir -p "$work/mount"
attribute='' hash='' flags='' version=''
compare half-md4 -b 1024
compare no-index -b 1024 -O ^dir_index
compare inline -b 4096 -O inline_data -I 512
hash=tea compare tea -b 1024
hash=legacy compare legacy -b 4096
# The hash of signed and of unsigned characters differ: names with bytes over 127.
flags=1 compare signed -b 1024
flags=2 compare unsigned -b 1024
version=04 compare refused-version -b 1024 -O ^metadata_csum
version=ff compare unknown-version -b 1024 -O ^metadata_csum
attribute=+F compare casefold -b 1024 -O casefold
finish
