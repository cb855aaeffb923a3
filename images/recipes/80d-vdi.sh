# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a VDI image'
verdict=refused
says='VDI'
build() {
	truncate -s 2M "$image"
	printf '<<< Oracle VM VirtualBox Disk Image >>>\n' | poke 0
	printf '\x7f\x10\xda\xbe\1\0\1\0' | poke 64
}
