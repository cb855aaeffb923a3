# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a partition of a disk with MBR that begins at sector 63'
verdict=moved
options='--partition 1' offset=32256
build() {
	whole_disk 63 100000 dos
}
