# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='casefold: a folder that does not tell A from a'
verdict=moved
mounts='maybe: kernels with CONFIG_UNICODE can'
build() {
	fs 48M -t ext4 -b 1024 -O casefold -E encoding=utf8
	{
		tree
		printf 'mkdir Folded\nsif Folded flags 0x40080000\n'
		for path in Alpha BETA gamma; do put "Folded/$path" 5000; done
	} | batch
	settle
}
