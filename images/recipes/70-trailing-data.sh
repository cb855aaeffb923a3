# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='data behind the filesystem, as a footer or a hash tree'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024
	tree | batch
	settle
	text 70 100000 >>"$image"
}
