# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a journal on another device that must be replayed'
verdict=refused
says='journal'
build() {
	fs 16M -t ext4 -b 1024 -O ^has_journal
	{
		many small 10 3000
		echo "feature has_journal needs_recovery"
		echo "ssv journal_uuid 6672616c-6162-4000-8000-000000000044"
		echo "ssv journal_dev 0x700"
	} | batch
}
