# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='immutable files and swap files stay; append-only and journalled ones move'
verdict=pinned
stays='/immutable /swap'
build() {
	fs 48M -t ext4 -b 1024
	{
		tree
		put immutable 200000
		put append 200000
		put journalled 200000
		new_source swap
		text 56 2097152 >"$source"
		chmod 600 "$source"
		mkswap -U 6672616c-6162-4000-8000-000000000056 "$source" >/dev/null 2>&1
		at swap write "$source"
		# Zeros became holes; no swap file has any.
		echo "fallocate swap 0 2047"
		echo "sif immutable flags 0x80010"
		echo "sif append flags 0x80020"
		echo "sif journalled flags 0x84000"
	} | batch
	settle
}
