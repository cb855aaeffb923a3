# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
title='a disk with GPT: no filesystem begins at its first byte'
verdict=refused
says='partition'
build() {
	whole_disk 2048 104448 gpt
}
