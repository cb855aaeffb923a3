# SPDX-License-Identifier: MIT
# What the block layer sees: records the I/Os on a loop device while a command runs. Root only.
# Sourced after tests/lib/common.sh and can_mount; exits with 77 where there is no tracefs.
#
# The device is a loop device: scheduler none, requests up to 1,280 KiB and 128 segments, one
# hardware queue, so the tracepoint sees requests in the order of submission.

readall=$BUILD/tests/readall

# An instance of our own: other users of tracefs are not disturbed.
tracefs=$work/tracefs trace=
mkdir -p "$tracefs"
stop_tracing() {
	[ -z "$trace" ] || { echo 0 >"$trace/events/block/block_rq_issue/enable"; rmdir "$trace"; }
	[ -z "$loop" ] || losetup -d "$loop"
	umount "$tracefs" 2>/dev/null
	[ -z "$mounted" ] || umount "$mounted"
	rm -rf "$work"
}
loop=
mount -t tracefs tracefs "$tracefs" 2>"$work/mount.out" &&
	[ -d "$tracefs/events/block/block_rq_issue" ] &&
	mkdir "$tracefs/instances/fraglab.$$" 2>>"$work/mount.out" || {
	umount "$tracefs" 2>/dev/null
	echo "skip: no tracefs with block events here: $(tail -n 1 "$work/mount.out")"
	exit 77
}
trace=$tracefs/instances/fraglab.$$
trap stop_tracing EXIT
echo 65536 >"$trace/buffer_size_kb"

attach() { # IMAGE OPTIONS: mounts it with 128 KiB of read-ahead; sets the tracepoint's filter
	loop=$(losetup -f --show "$1") || return 1
	local major minor
	IFS=: read -r major minor <"/sys/block/${loop#/dev/}/dev"
	mkdir -p "$work/mount"
	mount -t ext4 -o "$2" "$loop" "$work/mount" || return 1
	mounted=$work/mount
	echo none >"/sys/block/${loop#/dev/}/queue/scheduler"
	echo 128 >"/sys/block/${loop#/dev/}/queue/read_ahead_kb"
	echo "dev == $((major << 20 | minor))" >"$trace/events/block/block_rq_issue/filter"
}
detach() {
	umount "$mounted" && mounted=
	losetup -d "$loop" && loop=
}
record() { # FILE KIND COMMAND...: the I/Os of a kind (R, W) while COMMAND runs, as "LBN SECTORS"
	local out=$1 kind=$2
	shift 2
	echo >"$trace/trace"
	echo 1 >"$trace/events/block/block_rq_issue/enable"
	"$@"
	local status=$?
	echo 0 >"$trace/events/block/block_rq_issue/enable"
	grep -q 'entries-in-buffer' "$trace/trace" || status=1
	sed -nE "s/.*block_rq_issue: [0-9]+,[0-9]+ [A-Z]*$kind[A-Z]* [0-9]+ .*\(\) ([0-9]+) \+ ([0-9]+) .*/\1 \2/p" \
		"$trace/trace" >"$out"
	return $status
}
# "IOS SEQUENTIAL-PERCENT SEEKS-PER-100-MIB" of a recording.
measured() { # FILE
	awk '$2 { n++; sectors += $2; sequential += n > 1 && $1 == next_lbn; next_lbn = $1 + $2 }
		END { if (n) printf "%d %.2f %.1f\n", n, sequential * 100 / n,
			(n - sequential) * 204800 / sectors }' "$1"
}
drop_caches() { sync && echo 3 >/proc/sys/vm/drop_caches; }
