# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='the journal is an ordinary file'
verdict=pinned
stays='/.journal'
build() {
	fs 48M -t ext2 -b 1024 -O has_journal -J size=1
	tree | batch
	settle
	put .journal 1000 | batch
	ino=$(inode .journal)
	printf 'punch .journal 0\ncopy_inode <8> .journal\nclri <8>\nssv journal_inum %s\n' \
		"$ino" | batch
	printf 'sif .journal links_count 1\nsif .journal flags 0x10\n' | batch
	settle
}
