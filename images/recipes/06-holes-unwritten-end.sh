# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='unwritten ranges, holes, blocks past the end, the last legal logical block'
verdict=moved
build() {
	fs 64M -t ext4 -b 1024
	{
		tree
		sparse middle 1024 1000 1001 1002
		echo "fallocate middle 0 2047"
		echo "sif middle size 2097152"
		echo "write /dev/null empty"
		echo "fallocate empty 0 1023"
		put tail 10240
		echo "fallocate tail 10 509"
		put punched 3000000
		holes punched 100 2900 7 3
		echo "punch punched 2950 4000000"
		echo "write /dev/null hole"
		echo "sif hole size 5242880"
		sparse last 1024 4294967293
	} | batch
	settle
}
