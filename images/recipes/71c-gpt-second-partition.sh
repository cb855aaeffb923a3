# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='the second partition of a disk with GPT'
verdict=moved
options='--partition 2' offset=53477376
build() {
	whole_disk 2048 104448 gpt
}
