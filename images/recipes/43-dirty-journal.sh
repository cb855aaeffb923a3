# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a journal that must be replayed'
verdict=refused
says='journal must be replayed'
build() {
	fs 16M -t ext4 -b 1024 -O ^metadata_csum
	{
		many small 10 3000
		put file 30000
	} | batch
	settle
	text 43 1024 >"$tmp/block"
	printf 'journal_open\njournal_write -b %s %s\njournal_close\n' "$(first_block file)" \
		"$tmp/block" | batch
	# The time in the commit block, the fourth of the journal.
	head -c 12 /dev/zero | poke $(($(show "blocks <8>" | cut -d ' ' -f 4) * 1024 + 48))
}
