# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='quota and project quota: usage in hidden files'
verdict=moved
build() {
	fs 48M -t ext4 -b 1024 -O quota,project -E quotatype=usrquota:grpquota:prjquota
	{
		tree
		for path in one two three; do
			put $path 90000
			echo "sif $path uid 100$(cksum <<<$path | cut -c 1)"
		done
		echo "sif one projid 77"
		comb pieces 1024 150
		echo "sif pieces uid 1000"
	} | batch
	settle
}
