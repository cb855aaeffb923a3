# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a disk with MBR: no filesystem begins at its first byte'
verdict=refused
says='partition'
build() {
	whole_disk 63 100000 dos
}
