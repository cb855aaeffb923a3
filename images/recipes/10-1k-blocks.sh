# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='blocks of 1K: the first data block is 1'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024
	tree | batch
	settle
}
