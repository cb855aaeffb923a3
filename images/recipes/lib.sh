# SPDX-License-Identifier: MIT
# Functions for the recipes. A recipe's build() leaves its filesystem in $image; $tmp is a folder
# for anything it needs on the way. Most is done by debugfs, so that no mount is needed and the
# same bytes come out everywhere.
# shellcheck shell=bash

set -euo pipefail
export LC_ALL=C TZ=UTC PATH=$PATH:/usr/sbin:/sbin
export E2FSPROGS_FAKE_TIME=1500000000 E2FSCK_TIME=1500000000
export MKE2FS_CONFIG=$recipes/mke2fs.conf
unset SOURCE_DATE_EPOCH
uuid=6672616c-6162-4000-8000-000000000001
seed_uuid=6672616c-6162-4000-8000-000000000002

die() {
	echo "$name: $*" >&2
	exit 1
}

# Reasons why this machine cannot build it.
skip() {
	echo "$*"
	exit 77
}

# fs SIZE [mke2fs ARGUMENT]...: a new filesystem in $image. All -E become one.
fs() {
	local size=$1 extended=hash_seed=$seed_uuid,lazy_itable_init=0,lazy_journal_init=0
	local arguments=()
	shift
	while [ $# -gt 0 ]; do
		if [ "$1" = -E ]; then
			extended=$extended,$2
			shift
		else
			arguments+=("$1")
		fi
		shift
	done
	truncate -s "$size" "$image"
	mke2fs -q -F -U "$uuid" -E "$extended" "${arguments[@]}" "$image" >"$tmp/mke2fs.log" 2>&1 ||
		die "mke2fs: $(cat "$tmp/mke2fs.log")"
}

# batch: debugfs commands from stdin; anything debugfs has to complain of is fatal.
batch() {
	local status=0
	debugfs -w -f - "$image" >"$tmp/debugfs.log" 2>"$tmp/debugfs.err" || status=$?
	if grep -v '^debugfs [0-9]' "$tmp/debugfs.err" >&2 || [ $status -ne 0 ]; then
		die "debugfs ends with $status: $(tail -n 3 "$tmp/debugfs.log")"
	fi
}

# settle [ARGUMENT]...: lets e2fsck correct what debugfs leaves (counts, holes' blocks, quota).
settle() {
	local status=0
	timeout 120 e2fsck -fy "$@" "$image" >"$tmp/e2fsck.log" 2>&1 || status=$?
	[ "$status" -le 1 ] || die "e2fsck ends with $status: $(tail -n 5 "$tmp/e2fsck.log")"
}

# show COMMAND...: what debugfs prints for a command.
show() {
	debugfs -R "$*" "$image" 2>/dev/null
}

# inode PATH: its number.
inode() {
	show "stat $1" | sed -nE 's/^Inode: ([0-9]+) .*/\1/p'
}

# first_block PATH
first_block() {
	show "blocks $1" | awk '{ print $1; exit }'
}

# text SEED BYTES: no two blocks of it, nor of another seed, are the same.
text() {
	{ seq "$(($1 * 100000000))" inf || :; } | head -c "$2"
}

# new_source PATH: sets $source, a new name for content, and $seed.
new_source() {
	seed=$(cksum <<<"$1" | cut -d ' ' -f 1)
	source=$(mktemp -u "$tmp/XXXXXXXXXX")
}

# --- debugfs commands for batch ---

# at PATH COMMAND...: debugfs creates names in its current folder only.
at() {
	local path=$1
	shift
	case $path in
	*/*) printf 'cd /%s\n%s %s\ncd /\n' "${path%/*}" "$*" "${path##*/}" ;;
	*) printf '%s %s\n' "$*" "$path" ;;
	esac
}

# put PATH BYTES: a file with content of its own.
put() {
	new_source "$1"
	text "$seed" "$2" >"$source"
	at "$1" write "$source"
}

# sparse PATH BLOCK_BYTES LBLK...: a file that has these blocks only.
sparse() {
	local path=$1 bytes=$2 lblk
	shift 2
	new_source "$path"
	for lblk; do
		text $((seed + lblk)) "$bytes" | dd of="$source" bs="$bytes" seek="$lblk" \
			conv=notrunc iflag=fullblock status=none
	done
	at "$path" write "$source"
}

# comb PATH BLOCK_BYTES COUNT: a file of so many blocks with holes of one block between.
comb() {
	new_source "$1"
	awk -v bytes="$2" -v count="$3" -v seed="$seed" 'BEGIN {
		format = "%s%0" (bytes - 1 - length(seed)) "d\n%s"
		gap = sprintf("%" bytes "s", "")
		gsub(/ /, "\1", gap)
		for (i = 1; i <= count; i++) printf format, seed, i, gap
	}' | tr '\1' '\0' >"$source"
	at "$1" write "$source"
}

# many FOLDER COUNT BYTES: files f000, f001, ... of that length.
many() {
	new_source "$1"
	mkdir "$source"
	text "$seed" $(($2 * $3)) | split -a 3 -d -b "$3" - "$source/f"
	printf 'mkdir %s\ncd /%s\n' "$1" "$1"
	(cd "$source" && printf "write $source/%s %s\n" $(printf '%s\n' * | sed 's/.*/& &/'))
	echo "cd /"
}

# holes PATH FROM TO USED FREE: of the file's blocks FROM to TO, FREE are given back after each USED.
holes() {
	local first
	for ((first = $2 + $4; first <= $3; first += $4 + $5)); do
		echo "punch $1 $first $((first + $5 - 1))"
	done
}

# tree [MIB]: what most images have besides their case: about so much (default 4) in files of all
# sizes, hard and symbolic links, xattrs, a device, a sparse file.
tree() {
	local mib=${1:-4}
	many small $((20 * mib)) 1500
	many medium $((8 * mib)) 20000
	many large "$mib" 300000
	put big $((400000 * mib))
	sparse holes 4096 0 3 4 9 40
	cat <<-END
		mkdir links
		ln big links/hard
		sif big links_count 2
		symlink links/fast ../big
		symlink links/slow $(text 7 200 | tr '\n' x)
		cd links
		mknod device b 8 1
		mknod pipe p
		cd /
		ea_set big user.name $(text 8 60 | tr '\n' x)
	END
}

# --- bytes of the image ---

# poke OFFSET: overwrites from there with stdin.
poke() {
	dd of="$image" bs=64K oflag=seek_bytes seek="$1" conv=notrunc status=none
}

# poke32 OFFSET NUMBER: little-endian.
poke32() {
	# shellcheck disable=SC2059
	printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($2 & 255)) $(($2 >> 8 & 255)) \
		$(($2 >> 16 & 255)) $(($2 >> 24 & 255)))" | poke "$1"
}

# block_bytes: of the filesystem.
block_bytes() {
	show stats | sed -nE 's/^Block size: *//p'
}

# inode_offset PATH: where its inode lies, in bytes.
inode_offset() {
	local at
	at=$(show "imap $1" | sed -nE 's/.*block ([0-9]+), offset (0x[0-9a-f]+).*/\1 \2/p')
	echo $((${at% *} * $(block_bytes) + ${at#* }))
}

# feature_word compat|incompat|ro_compat: as a number.
feature_word() {
	local at
	case $1 in compat) at=92 ;; incompat) at=96 ;; ro_compat) at=100 ;; esac
	od -An -tu4 -j $((1024 + at)) -N 4 "$image" | tr -d ' '
}

# mmp_block: its number.
mmp_block() {
	dumpe2fs -h "$image" 2>/dev/null | sed -nE 's/^MMP block number: *//p'
}

# whole_disk SECTOR SECTOR SCHEME: two filesystems of 48 and 16 MiB, and a table of partitions
# that begin at these sectors.
whole_disk() {
	local disk=$image part
	image=$tmp/first
	fs 48M -t ext4 -b 1024
	tree | batch
	settle
	image=$tmp/second
	fs 16M -t ext4 -b 1024 -U 6672616c-6162-4000-8000-000000000071
	many small 40 9000 | batch
	settle
	image=$disk
	truncate -s 80M "$image"
	printf 'label: %s\nlabel-id: %s\nstart=%s, size=%s, type=%s%s\nstart=%s, size=%s, type=%s%s\n' \
		"$3" "$([ "$3" = gpt ] && echo 6672616C-6162-4000-8000-000000000070 || echo 0x66726167)" \
		"$1" $((48 * 2048)) "$([ "$3" = gpt ] && echo L || echo 83)" \
		"$([ "$3" = gpt ] && echo , uuid=6672616C-6162-4000-8000-000000000071)" \
		"$2" $((16 * 2048)) "$([ "$3" = gpt ] && echo L || echo 83)" \
		"$([ "$3" = gpt ] && echo , uuid=6672616C-6162-4000-8000-000000000072)" |
		sfdisk -q "$image" >"$tmp/sfdisk.log" 2>&1 || die "$(cat "$tmp/sfdisk.log")"
	for part in "$1 first" "$2 second"; do
		dd if="$tmp/${part#* }" of="$image" bs=64K oflag=seek_bytes seek=$((${part% *} * 512)) \
			conv=notrunc,sparse status=none
	done
}

# fill FREE: settles, and gives all blocks but so many to a file of their own.
fill() {
	local free
	settle
	free=$(show stats | sed -nE 's/^Free blocks: *//p')
	# debugfs says that it runs out of blocks, and keeps what it has written.
	put plug $(((free + 100) * 1024)) | batch 2>/dev/null || :
	settle
	[ "$1" -eq 0 ] || echo "punch plug 0 $(($1 - 1))" | batch
	settle
	free=$(show stats | sed -nE 's/^Free blocks: *//p')
	[ "$free" -eq "$1" ] || die "$free blocks are free, not $1"
}
