# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='an Android sparse image'
verdict=refused
says='Android'
build() {
	# The header: magic, version 1.0, sizes of the headers, block size, blocks, chunks, checksum.
	printf '\x3a\xff\x26\xed\1\0\0\0\34\0\14\0\0\20\0\0\0\20\0\0\1\0\0\0\0\0\0\0' >"$image"
	# One chunk of 4096 blocks that are not cared for.
	printf '\xc3\xca\0\0\0\20\0\0\14\0\0\0' >>"$image"
	truncate -s 8K "$image"
}
