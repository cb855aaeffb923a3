# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a boot loader in inode 5'
verdict=pinned
stays='<5>'
build() {
	fs 48M -t ext4 -b 1024
	{
		tree
		put loader 200000
	} | batch
	printf 'copy_inode loader <5>\nunlink loader\n' | batch
	settle
}
