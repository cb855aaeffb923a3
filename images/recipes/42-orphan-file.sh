# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a clean orphan file: its blocks know their place'
verdict=pinned
stays='<12>'
build() {
	fs 48M -t ext4 -b 1024 -O orphan_file
	tree | batch
	settle
}
