# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a clean journal on another device'
verdict=moved
judge='-j $image.journal'
mounts='no: its journal is a file'
build() {
	local uuid_journal=6672616c-6162-4000-8000-000000000044
	truncate -s 4M "$image.journal"
	mke2fs -q -F -b 1024 -O journal_dev -U $uuid_journal "$image.journal" >/dev/null 2>&1
	fs 16M -t ext4 -b 1024 -O ^has_journal
	{
		many small 10 3000
		printf 'feature has_journal\nssv journal_uuid %s\nssv journal_dev 0x700\n' $uuid_journal
	} | batch
	settle -j "$image.journal"
}
