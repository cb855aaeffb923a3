# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='inline_data: files and folders inside their inode'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024 -I 256 -O inline_data
	{
		tree
		put tiny 40
		put inside 120
		put outside 400
		printf 'mkdir folder\ncd folder\nmkdir folder\n'
	} | batch
	settle
}
