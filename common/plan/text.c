/* SPDX-License-Identifier: MIT */
/*
 * A plan as text, and back. Must not judge a plan: that is the layout's work.
 */
#include <fraglab/plan.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints tree blocks as START or START+LEN. */
static void print_tree(FILE *out, const fl_pblk *tree, size_t count)
{
	for (size_t i = 0; i < count;) {
		size_t len = 1;

		while (i + len < count && tree[i + len] == tree[i] + len)
			len++;
		fprintf(out, " %" PRIu64, tree[i]);
		if (len > 1)
			fprintf(out, "+%zu", len);
		i += len;
	}
}

int fl_plan_print(const struct fl_map *map, const struct fl_plan *plan, char **text)
{
	char *buffer = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&buffer, &size);
	bool failed;

	if (!out)
		return FL_ENOMEM;
	for (size_t b = 0; b < plan->batches.count; b++) {
		const struct fl_batch *batch = &plan->batches.at[b];

		fprintf(out, "batch\n");
		for (size_t s = 0; s < batch->switch_count; s++) {
			const struct fl_switch *item = &plan->switches.at[batch->first_switch + s];

			fprintf(out, "%s %u", item->file < map->inode_count ? "switch" : "xattr",
				map->files.at[item->file].ino);
			print_tree(out, fl_array_from(&plan->trees, item->first_tree),
				   item->tree_count);
			fputc('\n', out);
			for (uint32_t m = 0; m < item->move_count; m++) {
				const struct fl_move *move = &plan->moves.at[item->first_move + m];

				fprintf(out, "move %u %u %" PRIu64 " %" PRIu64 "%s\n", move->lblk,
					move->len, move->from, move->to,
					move->unwritten ? " unwritten" : "");
			}
		}
	}
	failed = ferror(out);
	failed |= fclose(out) != 0;
	if (failed) {
		free(buffer);
		return FL_ENOMEM;
	}
	*text = buffer;
	return 0;
}

struct parser {
	const struct fl_map *map;
	struct fl_plan *plan;
	char *rest; /* of the line */
};

/* The next number of the line, at most max. */
static bool take_number(struct parser *parser, uint64_t max, uint64_t *value)
{
	uint64_t result = 0;
	char *at = parser->rest + strspn(parser->rest, " ");

	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (result > (max - digit) / 10)
			return false;
		result = result * 10 + digit;
	}
	parser->rest = at;
	*value = result;
	return true;
}

static int parse_batch(struct parser *parser)
{
	struct fl_batch batch = {.first_switch = parser->plan->switches.count};

	return *parser->rest ? FL_ESYNTAX : fl_array_push(&parser->plan->batches, batch);
}

static int parse_item(struct parser *parser, bool (*find)(const struct fl_map *, fl_ino, size_t *))
{
	struct fl_plan *plan = parser->plan;
	struct fl_switch item = {.first_move = plan->moves.count, .first_tree = plan->trees.count};
	struct fl_batch *batch;
	uint64_t ino, start, len;
	size_t file;

	if (!plan->batches.count || !take_number(parser, UINT32_MAX, &ino) ||
	    !find(parser->map, (fl_ino)ino, &file))
		return FL_ESYNTAX;
	item.file = (uint32_t)file;
	while (take_number(parser, parser->map->geo.blocks - 1, &start)) {
		len = 1;
		if (*parser->rest == '+') {
			parser->rest++;
			if (!take_number(parser, parser->map->geo.blocks - start, &len))
				return FL_ESYNTAX;
		}
		for (uint64_t i = 0; i < len; i++)
			if (fl_array_push(&plan->trees, start + i))
				return FL_ENOMEM;
	}
	if (*parser->rest)
		return FL_ESYNTAX;
	item.tree_count = plan->trees.count - item.first_tree;
	batch = &plan->batches.at[plan->batches.count - 1];
	batch->switch_count++;
	batch->blocks += item.tree_count;
	return fl_array_push(&plan->switches, item);
}

static int parse_switch(struct parser *parser)
{
	return parse_item(parser, fl_map_find);
}

static bool find_xattr(const struct fl_map *map, fl_ino owner, size_t *file)
{
	for (*file = map->inode_count; *file < map->files.count; ++*file)
		if (map->files.at[*file].ino == owner)
			return true;
	return false;
}

static int parse_xattr(struct parser *parser)
{
	return parse_item(parser, find_xattr);
}

static int parse_move(struct parser *parser)
{
	struct fl_plan *plan = parser->plan;
	uint64_t lblk, len, from, to, blocks = parser->map->geo.blocks;
	struct fl_switch *item;
	struct fl_move move;

	if (!plan->switches.count || !take_number(parser, FL_LBLK_MAX, &lblk) ||
	    !take_number(parser, UINT32_MAX, &len) || !take_number(parser, blocks - 1, &from) ||
	    !take_number(parser, blocks - 1, &to))
		return FL_ESYNTAX;
	move = (struct fl_move){from, to, (fl_lblk)lblk, (uint32_t)len,
				!strcmp(parser->rest, " unwritten")};
	if (*parser->rest && !move.unwritten)
		return FL_ESYNTAX;
	item = &plan->switches.at[plan->switches.count - 1];
	item->move_count++;
	plan->batches.at[plan->batches.count - 1].blocks += len;
	plan->moved_blocks += len;
	return fl_array_push(&plan->moves, move);
}

static int parse_line(struct parser *parser, char *line)
{
	static const struct {
		const char *word;
		int (*parse)(struct parser *parser);
	} lines[] = {{"batch", parse_batch},
		     {"switch", parse_switch},
		     {"xattr", parse_xattr},
		     {"move", parse_move}};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		size_t len = strlen(lines[i].word);

		if (!strncmp(line, lines[i].word, len) && (line[len] == ' ' || !line[len])) {
			parser->rest = line + len;
			return lines[i].parse(parser);
		}
	}
	return FL_ESYNTAX;
}

int fl_plan_parse(const struct fl_map *map, const char *text, struct fl_plan **plan,
		  struct fl_diag *diag)
{
	struct parser parser = {.map = map, .plan = calloc(1, sizeof(*parser.plan))};
	char *copy = strdup(text), *line = copy, *end;
	size_t number = 1;
	int error = copy && parser.plan ? 0 : FL_ENOMEM;

	for (; !error && *line; line = end, number++) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		error = *line ? parse_line(&parser, line) : 0;
		if (error == FL_ESYNTAX)
			fl_fail(diag, FL_ESYNTAX, "plan: line %zu cannot be understood", number);
	}
	free(copy);
	if (error)
		fl_plan_free(parser.plan);
	else
		*plan = parser.plan;
	return error;
}
