# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a file deleted while open waits in the orphan list'
verdict=refused
says='deleted while open'
build() {
	fs 16M -t ext2 -b 1024
	{
		many small 10 3000
		put open 90000
	} | batch
	ino=$(inode open)
	printf 'unlink open\nsif <%s> links_count 0\nssv last_orphan %s\n' "$ino" "$ino" | batch
}
