# SPDX-License-Identifier: MIT
# Functions for the cases: sample images, and running a program so that all of it is seen.

# Ends the case as skipped unless the tools are there.
need() {
	for tool; do
		command -v "$tool" >/dev/null || { echo "no $tool"; exit 77; }
	done
}

# run PROGRAM [ARGUMENT]...: everything it prints, then its exit status.
run() {
	"$@" 2>&1 && run_status=0 || run_status=$?
	echo "status $run_status"
}

# quietly PROGRAM [ARGUMENT]...: its messages and its exit status, without stdout.
quietly() {
	"$@" 2>&1 >/dev/null && run_status=0 || run_status=$?
	echo "status $run_status"
}

# refuse IMAGE: both programs, in place and onto a copy, must refuse it and leave no trace.
refuse() {
	local before program left
	before=$(sha256sum <"$1")
	for program in frag defrag; do
		run "$program" "$1"
		run "$program" -n "$1"
		run "$program" -o copy.img "$1"
	done
	[ "$(sha256sum <"$1")" = "$before" ] && echo "image unchanged" || echo "IMAGE CHANGED"
	for left in copy.img*; do
		[ ! -e "$left" ] || echo "LEFT BEHIND: $left"
	done
}

# unchanged IMAGE COMMAND [ARGUMENT]...: says whether the command changed the image.
unchanged() {
	local image digest
	image=$1
	digest=$(sha256sum <"$image")
	shift
	"$@"
	[ "$(sha256sum <"$image")" = "$digest" ] &&
		echo "$image unchanged" || echo "$image CHANGED"
}

# batch IMAGE: debugfs commands from stdin.
batch() {
	debugfs -w -f - "$1" >debugfs.log 2>&1 || { cat debugfs.log; exit 1; }
}

# The order in which directories are listed comes from their hashes; the same in each run.
hash_seed=cbe7b2a4-af25-4e11-bb76-ac6c9fc9dd2c

# plain IMAGE [mke2fs OPTION]...: an 8 MiB filesystem with a few files.
plain() {
	local image=$1
	shift
	need mke2fs debugfs e2fsck
	mkdir -p tree/folder
	head -c 300000 /dev/zero | tr '\0' a >tree/one
	head -c 50000 /dev/zero | tr '\0' b >tree/folder/two
	mke2fs -q -F -t ext4 -b 1024 -E hash_seed=$hash_seed -d tree "$@" "$image" 8M >/dev/null ||
		exit 1
	rm -r tree
}

# scattered IMAGE: 16 MiB, its large files in the holes that many small ones left.
scattered() {
	need mke2fs debugfs e2fsck
	mkdir -p tree
	i=0
	while [ $i -lt 400 ]; do
		head -c 16384 /dev/zero | tr '\0' s >tree/small$i
		i=$((i + 1))
	done
	mke2fs -q -F -t ext4 -b 1024 -N 1024 -J size=1 -E hash_seed=$hash_seed -d tree "$1" 16M \
		>/dev/null || exit 1
	i=0
	while [ $i -lt 400 ]; do
		echo "rm small$i"
		i=$((i + 2))
	done | batch "$1"
	rm -r tree
	# debugfs takes the first free blocks it finds: the holes.
	seq 1 1000000 | head -c 6000000 >large
	seq 1 1000000 | head -c 1500000 >medium
	batch "$1" <<-'END'
		write large large
		write medium medium
	END
	rm large medium
	e2fsck -fy "$1" >e2fsck.log 2>&1 || [ $? -eq 1 ] || { cat e2fsck.log; exit 1; }
}

# healthy IMAGE: e2fsck finds nothing at all to say.
healthy() {
	e2fsck -fn "$1" >e2fsck.log 2>&1 && ! grep -q Optimi e2fsck.log &&
		echo "$1 healthy" || cat e2fsck.log
}

# contents IMAGE: a digest of all files' names and contents.
contents() {
	mkdir -p dump
	debugfs -R "rdump / dump" "$1" >/dev/null 2>&1
	(cd dump && find . -type f -print0 | sort -z | xargs -0 sha256sum) | sha256sum
	rm -r dump
}

# interleaved IMAGE: 2 GiB, sparse; two files of 400 MiB that take turns on the disk. They are
# unwritten (fallocate), so they cost no host space, but moving them takes several batches.
interleaved() {
	need mke2fs debugfs e2fsck
	mke2fs -q -F -t ext4 -b 4096 -N 128 -J size=4 -E lazy_itable_init=1,hash_seed=$hash_seed \
		"$1" 2G >/dev/null ||
		exit 1
	awk 'BEGIN {
		print "write /dev/null a\nwrite /dev/null b"
		for (i = 0; i < 102400; i += 1024) {
			print "fallocate a " i, i + 1023
			print "fallocate b " i, i + 1023
		}
	}' | batch "$1"
	e2fsck -fy "$1" >e2fsck.log 2>&1 || [ $? -eq 1 ] || { cat e2fsck.log; exit 1; }
}

# disk IMAGE LABEL: 64 MiB with partitions from sfdisk's script on stdin, and pages of "guard"
# in all the places that belong to nobody or to others.
disk() {
	need sfdisk
	yes guard | head -c 67108864 >"$1"
	{
		echo "label: $2"
		cat
	} >script
	sfdisk -q --wipe never "$1" <script 2>&1 || { cat script; exit 1; }
	rm script
}

# fill IMAGE BYTE FILE: puts a filesystem image into a disk image.
fill() {
	dd if="$3" of="$1" bs=512 seek=$(($2 / 512)) conv=notrunc status=none
}

# around IMAGE BYTE BYTES: a digest of all that is outside of a partition.
around() {
	{
		head -c "$2" "$1"
		tail -c +$(($2 + $3 + 1)) "$1"
	} | sha256sum
}

# loop_device FILE [losetup OPTION]...: attaches it until the case ends; sets $loop.
loop_device() {
	need losetup
	[ "$(id -u)" = 0 ] || { echo "not root"; exit 77; }
	loop_file=$1
	shift
	loop=$(losetup -f --show "$@" "$loop_file" 2>/dev/null) ||
		{ echo "no loop devices"; exit 77; }
	loops="${loops:-} $loop"
	trap 'losetup -d $loops' EXIT
}
