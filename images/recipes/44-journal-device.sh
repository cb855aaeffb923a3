# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a journal device, not a filesystem'
verdict=refused
says='journal device'
build() {
	fs 16M -b 1024 -O journal_dev
}
