#!/bin/bash
# SPDX-License-Identifier: MIT
# What --fio-log writes is replayed by fio, I/O for I/O, on the image in place of a disk; what fio
# logs of files in a mounted image is read as a trace. Exit 77: fio is not installed.
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/common.sh
need jq sha256sum
command -v fio >/dev/null || {
	echo "skip: fio is not installed"
	exit 77
}

image=$work/image.img
"$sample" --size 48M --files 300 --full 60 --seed 5 "$image" && "$frag" -q "$image" || {
	echo "FAIL: no sample"
	echo "0 passed, 1 failed"
	exit 1
}
sum=$(sha256sum <"$image")

replay() { # LOG: "IOS BYTES WRITES ERROR" as fio did them
	(cd "$work" && fio --name=replay --read_iolog="$1" --replay_redirect="$image" --readonly \
		--output-format=json --output=fio.json) >"$work/fio.out" 2>&1
	jq -r '.jobs[0] | "\(.read.total_ios) \(.read.io_bytes) \(.write.total_ios) \(.error)"' \
		"$work/fio.json"
}

for workload in read-all read-inode-order; do
	for max_io in 64K 512K; do
		log=$work/$workload.log
		"$frag" -q --analyze --workload $workload --max-io $max_io --fio-log "$log" \
			--json="$work/ours.json" "$image"
		wanted=$(jq -r '.images[0].io[0] | "\(.ios) \(.bytes) 0 0"' "$work/ours.json")
		expect "$workload, $max_io: fio does $wanted" test "$(replay "$log")" = "$wanted"
	done
done
expect "fio takes it" fio --name=parse --read_iolog="$work/read-all.log" --parse-only
refuse "without a disk that is named nothing is replayed" bash -c \
	"cd '$work' && fio --name=none --read_iolog=read-all.log --readonly"
expect "no file came into being" test ! -e "$work/fraglab-disk"
expect "the image is as it was" test "$(sha256sum <"$image")" = "$sum"

# The other way round: fio reads a file of the mounted image and logs it.
if can_mount >"$work/can.out"; then
	"$frag" -q --analyze --json="$work/ours.json" "$image"
	file=$(jq -r '.images[0].io[0].blame.worst[0].path' "$work/ours.json")
	copy "$image" "$work/copy.img"
	mount_image "$work/copy.img"
	for version in 2 3; do
		rm -f "$work/file.log" # fio appends
		fio --name=log --filename="$work/mount$file" --readonly --rw=read --bs=64k \
			--direct=1 --write_iolog="$work/file.log" >"$work/fio.out" 2>&1
		# fio 3.33 writes version 3; the times are all that version 2 does not have.
		[ $version = 3 ] || sed -i -e '1s/3/2/' -e '2,$s/^[0-9]* //' "$work/file.log"
		expect "version $version: $(head -n 1 "$work/file.log")" \
			"$frag" -q --analyze --workload "trace=$work/file.log" \
			--json="$work/trace.json" "$image"
		expect "version $version: in pieces, as the blame has them" \
			jq -e --slurpfile ours "$work/ours.json" '.images[0].io[0].seeks |
			. > 1 and . <= $ours[0].images[0].io[0].blame.worst[0].seeks + 1' \
			"$work/trace.json"
		# fio leaves the last block out when it is not whole.
		bytes=$(awk '$(NF - 2) == "read" { sum += $NF } END { print sum }' "$work/file.log")
		expect "version $version: $bytes bytes of $file" test "$bytes" -gt 65536 -a \
			"$bytes" = "$(jq '.images[0].io[0].bytes' "$work/trace.json")"
	done
	unmount_image
else
	cat "$work/can.out"
fi
finish
