/* SPDX-License-Identifier: MIT */
/*
 * The version of fraglab. Nothing else; bumped at a release.
 */
#ifndef FRAGLAB_VERSION_H
#define FRAGLAB_VERSION_H

#define FL_VERSION "0.1.0"

#endif
