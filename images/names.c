/* SPDX-License-Identifier: MIT */
/*
 * Words and name patterns for the sample tree. Only text: nothing here knows of
 * filesystems, sizes or owners.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/sample.h"

static const char *const words[] = {
	"annual",   "archive", "agenda",   "backup",  "billing",  "board",    "budget",	  "catalog",
	"client",   "contact", "contract", "counter", "customer", "delivery", "design",	  "draft",
	"estimate", "event",   "export",   "figure",  "final",	  "garden",   "holiday",  "index",
	"invoice",  "item",    "journal",  "kitchen", "letter",	  "list",     "market",	  "meeting",
	"memo",	    "minutes", "model",	   "network", "notes",	  "office",   "offer",	  "order",
	"outline",  "parts",   "plan",	   "policy",  "price",	  "project",  "quarter",  "receipt",
	"record",   "report",  "request",  "review",  "salary",	  "sample",   "schedule", "session",
	"sketch",   "staff",   "stock",	   "summary", "supplier", "survey",   "table",	  "tax",
	"team",	    "ticket",  "training", "travel",  "update",	  "vendor",   "winter",	  "year",
};

static const char *const stems[] = {
	"acl",	   "audio", "avahi",	"bzip",	 "cairo",  "curl",   "dbus",	"dconf", "expat",
	"ffi",	   "font",  "gcrypt",	"glib",	 "gnutls", "gtk",    "icu",	"jpeg",	 "json",
	"krb",	   "ldap",  "lua",	"lz",	 "mail",   "mount",  "ncurses", "nginx", "nss",
	"openssl", "pango", "pcre",	"perl",	 "pixman", "png",    "polkit",	"print", "pulse",
	"python",  "qt",    "readline", "rsync", "samba",  "sqlite", "ssh",	"sudo",	 "systemd",
	"tiff",	   "udev",  "uuid",	"vim",	 "zlib",
};

static const char *const users[] = {"anna", "bernd", "chloe", "david"};
static const char *const languages[] = {"de", "es", "fr", "it", "ja", "nl", "pl", "pt_BR", "sv"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void hex(struct fl_rng *rng, FILE *out, int digits)
{
	for (int i = 0; i < digits; i++)
		fputc("0123456789abcdef"[fl_rng_below(rng, 16)], out);
}

/*
 * %w word, %p the file's package, %u its user, %l language, %y year, %m month, %d 1..9,
 * %n the file's serial number, %x two and %X thirty-eight hex digits, %v a version.
 */
static void expand(char letter, const struct name_context *c, FILE *out)
{
	struct fl_rng *rng = c->rng;

	switch (letter) {
	case 'w':
		fputs(words[fl_rng_below(rng, COUNT(words))], out);
		break;
	case 'p':
		fputs(stems[c->package % COUNT(stems)], out);
		if (c->package >= COUNT(stems))
			fprintf(out, "%zu", 1 + c->package / COUNT(stems));
		break;
	case 'u':
		fputs(users[c->user % COUNT(users)], out);
		break;
	case 'l':
		fputs(languages[fl_rng_below(rng, COUNT(languages))], out);
		break;
	case 'y':
		fprintf(out, "20%02u", 22 + (unsigned)fl_rng_below(rng, 2));
		break;
	case 'm':
		fprintf(out, "%02u", 1 + (unsigned)fl_rng_below(rng, 12));
		break;
	case 'd':
		fprintf(out, "%u", 1 + (unsigned)fl_rng_below(rng, 9));
		break;
	case 'n':
		fprintf(out, "%04u", c->serial);
		break;
	case 'x':
		hex(rng, out, 2);
		break;
	case 'X':
		hex(rng, out, 38);
		break;
	case 'v':
		fprintf(out, "%u.%u.%u-%u", (unsigned)fl_rng_below(rng, 9),
			(unsigned)fl_rng_below(rng, 40), (unsigned)fl_rng_below(rng, 20),
			1 + (unsigned)fl_rng_below(rng, 4));
		break;
	default:
		fputc(letter, out);
	}
}

char *sample_name(const char *pattern, const struct name_context *context)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	for (; *pattern; pattern++) {
		if (*pattern == '%' && pattern[1])
			expand(*++pattern, context, out);
		else
			fputc(*pattern, out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
