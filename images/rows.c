/* SPDX-License-Identifier: MIT */
/*
 * The kinds of files of the sample tree and how large they are. Tables and draws;
 * directories and names are made elsewhere.
 */
#include "images/tree.h"

/* clang-format off */
static const struct row rows[] = {
	{"usr/bin", "%p-%w", 22, 12, 20, CONTENT_MIXED, OWNER_ROOT, 0755},
	{"usr/lib/x86_64-linux-gnu", "lib%p-%d.so.%v", 24, 13, 21, CONTENT_MIXED, OWNER_ROOT, 0644},
	{"usr/lib/python3/dist-packages/%p", "%w.py", 40, 8, 15, CONTENT_TEXT, OWNER_ROOT, 0644},
	{"usr/share/doc/%p", "%w.gz", 40, 7, 14, CONTENT_RANDOM, OWNER_ROOT, 0644},
	{"usr/share/man/man%d", "%p-%w.gz", 24, 9, 14, CONTENT_RANDOM, OWNER_ROOT, 0644},
	{"usr/share/icons/hicolor/48x48/apps", "%p-%w.png", 16, 9, 13, CONTENT_RANDOM, OWNER_ROOT,
	 0644},
	{"usr/share/locale/%l/LC_MESSAGES", "%p-%d.mo", 22, 10, 17, CONTENT_TEXT, OWNER_ROOT, 0644},
	{"etc", "%p-%w.conf", 8, 6, 12, CONTENT_TEXT, OWNER_ROOT, 0644},
	{"etc/%p", "%w.conf", 12, 6, 12, CONTENT_TEXT, OWNER_ROOT, 0640},
	{"var/lib/dpkg/info", "%p-%w.md5sums", 24, 7, 14, CONTENT_TEXT, OWNER_ROOT, 0644},
	{"var/log", "%w.log.%d.gz", 10, 10, 19, CONTENT_RANDOM, OWNER_ROOT, 0640},
	{"var/log/%p", "access.log.%d", 8, 12, 21, CONTENT_TEXT, OWNER_ROOT, 0640},
	{"var/cache/apt/archives", "%p-%w_%v_amd64.deb", 8, 14, 22, CONTENT_RANDOM, OWNER_ROOT,
	 0644},
	{"var/lib/postgresql/15/main/base/16384", "1%n", 12, 13, 21, CONTENT_MIXED, OWNER_DB, 0600},
	{"var/www/html/%w", "%w-%n.html", 14, 8, 15, CONTENT_TEXT, OWNER_WEB, 0644},
	{"var/www/html/%w/img", "%w-%n.jpg", 8, 12, 18, CONTENT_RANDOM, OWNER_WEB, 0644},
	{"home/%u/Documents/%w", "%w %w %n.odt", 26, 12, 20, CONTENT_RANDOM, OWNER_USER, 0644},
	{"home/%u/Documents/Entw\xc3\xbcrfe", "%w-%n.txt", 8, 6, 13, CONTENT_TEXT, OWNER_USER,
	 0600},
	{"home/%u/Mail/cur", "16%n.M%x%x%xP%n.mail:2,S", 60, 9, 18, CONTENT_TEXT, OWNER_USER, 0600},
	{"home/%u/Pictures/%y-%m", "IMG_%n.jpg", 34, 19, 22, CONTENT_RANDOM, OWNER_USER, 0644},
	{"home/%u/Music/%w", "%d - %w %n.mp3", 10, 20, 22, CONTENT_RANDOM, OWNER_USER, 0644},
	{"home/%u/.cache/browser/entries", "%X", 46, 8, 17, CONTENT_RANDOM, OWNER_USER, 0600},
	{"home/%u/.config/%p", "%w.json", 14, 5, 12, CONTENT_TEXT, OWNER_USER, 0600},
	{"home/%u/Projects/%p/src", "%w-%w.c", 24, 8, 16, CONTENT_TEXT, OWNER_USER, 0644},
	{"home/%u/Projects/%p/.git/objects", "%X", 30, 6, 14, CONTENT_RANDOM, OWNER_USER,
	 0444},
	{"srv/share/%w", "%w-%y-%n.xlsx", 12, 12, 20, CONTENT_RANDOM, OWNER_WEB, 0664},
	{"var/mail/queue", "%X", 6, 9, 15, CONTENT_TEXT, OWNER_MAIL, 0600},
};

static const struct row big_rows[] = {
	{"home/%u/Videos", "%w-%y-%n.mp4", 4, 0, 0, CONTENT_RANDOM, OWNER_USER, 0644},
	{"srv/backup", "home-%y-%m-%n.tar", 3, 0, 0, CONTENT_RANDOM, OWNER_ROOT, 0600},
	{"var/lib/libvirt/images", "%w-%n.img", 2, 0, 0, CONTENT_MIXED, OWNER_ROOT, 0600},
	{"var/lib/postgresql/15/main/pg_wal", "00000001000000%n", 2, 0, 0, CONTENT_MIXED, OWNER_DB,
	 0600},
};
/* clang-format on */

/* Files by size (bucket 2^shift bytes), a desktop study of 2011. */
static const uint16_t size_weight[] = {
	0,   0,	  0,   0,   0,	 0,   170, 220, 400, 680, 1180, 1230, 1150, 1020,
	900, 700, 680, 440, 300, 230, 175, 130, 100, 60,  40,	20,   10,   10,
};

static const struct row *pick(struct fl_rng *rng, const struct row *table, size_t count)
{
	uint64_t total = 0, point;

	for (size_t i = 0; i < count; i++)
		total += table[i].weight;
	point = fl_rng_below(rng, total);
	for (size_t i = 0;; i++) {
		if (point < table[i].weight)
			return &table[i];
		point -= table[i].weight;
	}
}

uint64_t row_draw_size(const struct row *row, struct fl_rng *rng)
{
	uint64_t total = 0, point;
	uint32_t shift;

	for (shift = row->low_shift; shift <= row->high_shift; shift++)
		total += size_weight[shift] + 1u;
	point = fl_rng_below(rng, total);
	for (shift = row->low_shift; point >= size_weight[shift] + 1u; shift++)
		point -= size_weight[shift] + 1u;
	return fl_rng_between(rng, 1ull << shift, (2ull << shift) - 1);
}

const struct row *row_pick(struct fl_rng *rng, bool big)
{
	return big ? pick(rng, big_rows, COUNT(big_rows)) : pick(rng, rows, COUNT(rows));
}

const struct row *row_filler(void)
{
	return &big_rows[1];
}
