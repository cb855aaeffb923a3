# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='files that boot loaders find by block number'
verdict=pinned
stays='/boot/extlinux/ldlinux.sys /boot/grub/core.img /boot/map /boot/grub/e2fs_stage1_5'
build() {
	local sector
	fs 48M -t ext4 -b 1024
	{
		tree
		printf 'mkdir boot\nmkdir boot/extlinux\nmkdir boot/grub\n'
		put boot/extlinux/ldlinux.sys 60000
		put boot/grub/core.img 30000
		put boot/grub/e2fs_stage1_5 9000
		put boot/map 20000
		put map 20000
		echo "sif boot/extlinux/ldlinux.sys flags 0x80010"
	} | batch
	settle
	# extlinux writes the first sector of its file into the boot sector.
	sector=$(($(first_block boot/extlinux/ldlinux.sys) * 2))
	poke32 $((0x11a)) $sector
}
