# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='reserved descriptor blocks in the resize inode'
verdict=pinned
stays='<7>'
build() {
	fs 48M -t ext4 -b 1024 -E resize=8388608
	tree | batch
	settle
}
