# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='large_dir: a hash tree of two levels over thousands of long names'
verdict=moved
build() {
	local long
	fs 96M -t ext4 -b 1024 -N 2000 -O large_dir
	long=$(text 34 190 | tr '\n' x)
	{
		tree 2
		# Hard links: names are what it takes, not inodes. debugfs does not make a folder longer
		# by itself.
		echo "mkdir names"
		yes "expand_dir names" | head -n 400 || :
		echo "cd names"
		seq -f "ln /big $long%05.0f" 1500
		echo "cd /"
		echo "sif big links_count 1502"
	} | batch
	settle -D
}
