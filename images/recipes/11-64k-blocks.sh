# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='blocks of 64K'
verdict=moved
mounts='no: blocks over 4K'
build() {
	fs 256M -t ext4 -b 65536
	tree 1 | batch
	settle
}
