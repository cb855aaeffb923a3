# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='metadata_csum_seed: the UUID is no longer what checksums begin with'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024 -O metadata_csum,metadata_csum_seed
	tree | batch
	tune2fs -U 6672616c-6162-4000-8000-0000000000ff "$image" >"$tmp/tune2fs.log" 2>&1 ||
		die "$(cat "$tmp/tune2fs.log")"
	settle
}
