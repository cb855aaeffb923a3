# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='uninit_bg without checksums of metadata: groups whose bitmap is not on the disk'
verdict=moved
build() {
	fs 256M -t ext4 -b 1024 -O ^metadata_csum,uninit_bg
	tree | batch
	settle
}
