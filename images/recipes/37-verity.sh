# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='fs-verity: a hash tree past the end of the file'
verdict=moved
mounts='maybe: kernels with CONFIG_FS_VERITY can'
build() {
	fs 64M -t ext4 -b 4096 -O verity
	{
		tree
		sparse sealed 4096 0 1 2 3 4 16 20
		echo "sif sealed size 20480"
		echo "sif sealed flags 0x180000"
	} | batch
	settle
}
