/* test_table.c - tables as people write them, and as they break them. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/table.h"

static const struct {
    const char *path, *text;
    size_t rows, columns;
    double last;      /* of the last row and column */
    const char *name; /* of the last column */
} good[] = {
    { "a.csv", "a,b\n1,2\n3,4\n", 2, 2, 4, "b" },
    { "a.csv", "a,b\r\n1,2\r\n3,4", 2, 2, 4, "b" }, /* CRLF, no final newline */
    { "a.csv",
      "\xEF\xBB\xBF"
      "a,b\n1,2\n",
      1, 2, 2, "b" },                                        /* byte order mark */
    { "a.csv", " a , \"b c\" \n1,\"2\"\n", 1, 2, 2, "b c" }, /* blanks and quotes */
    { "a.csv", "\"a\"\"q\"\n5\n", 1, 1, 5, "a\"q" },
    { "a.tsv", "a\tb c\n1\t-2e3\n", 1, 2, -2000, "b c" },
    { "a.tsv.gz", "a,x\tb\n1\t2\n", 1, 2, 2, "b" },       /* the ending says tabs */
    { "a.txt", "1 2  3\n 4\t5 6 \n\n\n", 2, 3, 6, "x2" }, /* blanks, no header */
    { "a.csv", "1;2\n3;4\n", 2, 2, 4, "x1" },
    { "a.csv", "# a,b\n1,2\n", 1, 2, 2, "b" },                  /* as NumPy writes it */
    { "a.csv", "# run 7\n# of May\na,b\n1,2\n", 1, 2, 2, "b" }, /* comments */
    { "a.csv", "# run 7, of May\n\n# a,b\n1,2\n3,4\n", 2, 2, 4, "b" },
    { "a.csv", "# it's \"open\n1,2\n", 1, 2, 2, "x1" },
    { "a.csv", "#\n1\n", 1, 1, 1, "x0" },
    { "a.txt", "# x y\n#1.0 99.0\n2.0 3.0\n", 1, 2, 3, "y" }, /* a row taken out */
    { "a.csv", "# 2021,3\n4,5\n7,8\n", 2, 2, 8, "x1" },
    { "a.txt", "# run 2\n4 5\n7 8\n", 2, 2, 8, "x1" },
    { "a.csv", "a;L\xE4nge \x80\n1;2\n", 1, 2, 2, "L\xC3\xA4nge \xE2\x82\xAC" }, /* Windows */
    { "a.csv", "a,b,\n1,2,\n3,4,\n", 2, 2, 4, "b" }, /* delimiters at the ends */
    { "a.csv", "a,b\n1,2,\n3,4\n", 2, 2, 4, "b" },
    { "a.csv", "1;2;\n3;4;\n", 2, 2, 4, "x1" },
    { "a.txt", "\"T (C, outer)\"\ty\n1\t2\n", 1, 2, 2, "y" }, /* commas that separate nothing */
    { "a.csv", "T (C, outer);y\n1;2\n", 1, 2, 2, "y" },
    { "a.csv", "a;b\n0,5;-1,25e1\n", 1, 2, -12.5, "b" }, /* decimal commas */
    { "a.csv", "0,5;-1,25e1\n", 1, 2, -12.5, "x1" },
    { "a.csv", "a,\n1,2\n", 1, 2, 2, "column_2" },
    { "-", "x\n1e308\n", 1, 1, 1e308, "x" },
};

static void reads_what_people_write(void **state)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        table t;
        snip_status st = { 0 };
        if (table_parse(&t, good[i].path, good[i].text, strlen(good[i].text), NULL, *state, &st))
            fail_msg("case %zu: %s", i, st.msg);
        assert_int_equal(t.rows, good[i].rows);
        assert_int_equal(t.columns, good[i].columns);
        assert_string_equal(t.name[t.columns - 1], good[i].name);
        assert_true(t.column[t.columns - 1][t.rows - 1] == good[i].last);
    }
}

static const struct {
    const char *text, *message; /* a part of it */
} bad[] = {
    { "", "is empty" },
    { "\n\r\n  \n", "is empty" },
    { "# a,b\n# c\n", "is empty" },
    { "a,b\n", "has no rows" },
    { "1,2.O\n3,4\n", "line 1 mixes names and numbers: '2.O'" },
    { "a,b\n1,2\n3\n", "line 3 has 1 value, expected 2" },
    { "a,b\n1,2,3\n", "line 2 has 3 values, expected 2" },
    { "a,b\n1,two\n", "line 2, column 'b': 'two' is not a number" },
    { "a;b\n1;1,2,3\n", "line 2, column 'b': '1,2,3' is not a number" },
    { "a;b\n1;1,2.5\n", "'1,2.5' is not a number" },
    { "a,b\n1,0x10\n", "'0x10' is not a number" },
    { "a,b\n1,nan\n", "line 2, column 'b': not a finite number: 'nan'" },
    { "a,b\n1,-inf\n", "not a finite number" },
    { "a,b\n1,1e999\n", "not a finite number" },
    { "a,b\n,2\n", "column 'a': empty cell" },
    { "a,a\n1,2\n", "two columns are called 'a'" },
    { "a,\"b\n1,2\n", "line 1: quote without its end" },
    { "a,\"b\"c\n1,2\n", "line 1: text after a closing quote" },
    { "a,\"b\nc\"\n1,2\n", "line 1: a quoted cell goes on in the next line" },
    { "a,b\n1,\"2\n3\"\n", "line 2: a quoted cell goes on in the next line" },
    { "a,b\r1,2\r", "its lines end with CR alone" },
    { "1,2\r3,4", "its lines end with CR alone" },
    { "1,2\r3,4\r\n", "its lines end with CR alone" },
};

static void says_what_is_wrong_and_where(void **state)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        table t;
        snip_status st = { 0 };
        snip_code code =
            table_parse(&t, "a.csv", bad[i].text, strlen(bad[i].text), NULL, *state, &st);
        assert_int_equal(code, SNIP_FORMAT);
        if (!strstr(st.msg, bad[i].message) || strncmp(st.msg, "a.csv: ", 7) != 0)
            fail_msg("case %zu: %s", i, st.msg);
    }
    table t;
    snip_status st;
    assert_int_equal(table_parse(&t, "a.csv", "a\0b\n1\n", 6, NULL, *state, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "zero byte"));
    static const struct {
        const char *bytes, *says;
        size_t size;
    } marks[] = {
        { "\xFF\xFE\0\0a\0\0\0", "is UTF-32", 8 },
        { "\0\0\xFE\xFF\0\0\0a", "is UTF-32", 8 },
        { "\xFF\xFE"
          "a\0",
          "is UTF-16", 4 },
        { "\xFE\xFF\0a", "is UTF-16", 4 },
    };
    for (size_t i = 0; i < COUNT(marks); i++) {
        assert_int_equal(table_parse(&t, "t", marks[i].bytes, marks[i].size, NULL, *state, &st),
                         SNIP_FORMAT);
        assert_non_null(strstr(st.msg, marks[i].says));
    }
}

static void drops_invalid_rows_on_request(void **state)
{
    const char *text = "a,b\n1,2\nnan,3\n4,\n5,6\n";
    table_options how = { .drop_invalid = 1 };
    table t;
    assert_int_equal(table_parse(&t, "a.csv", text, strlen(text), &how, *state, NULL), SNIP_OK);
    assert_int_equal(t.rows, 2);
    assert_int_equal(t.dropped, 2);
    assert_true(t.column[0][1] == 5 && t.column[1][1] == 6);
    const char *none = "a\nnan\n";
    snip_status st;
    assert_int_equal(table_parse(&t, "a.csv", none, strlen(none), &how, *state, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "no rows without missing cells"));
}

static void finds_the_target(void **state)
{
    const char *text = "a,target,b\n1,2,3\n", **names;
    const double **x;
    table t;
    assert_int_equal(table_parse(&t, "t", text, strlen(text), NULL, *state, NULL), SNIP_OK);
    assert_int_equal(t.target, 1);
    assert_true(table_inputs(&t, &names, &x, *state));
    assert_int_equal(t.inputs, 2);
    assert_string_equal(names[1], "b");
    assert_true(x[1][0] == 3);
    table_options how = { .target = "b" };
    assert_int_equal(table_parse(&t, "t", text, strlen(text), &how, *state, NULL), SNIP_OK);
    assert_int_equal(t.target, 2);
    how.target = "c";
    snip_status st;
    assert_int_equal(table_parse(&t, "t", text, strlen(text), &how, *state, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "there is no column 'c'"));
}

/* Weights are neither input nor target. */
static void finds_the_weights(void **state)
{
    const char *text = "a,n,b,w\n1,x,3,4\n5,y,7,8\n";
    table t;
    snip_status st;
    table_options how = { .columns = "a", .weights = "w", .need_target = 1 };
    assert_int_equal(table_parse(&t, "t", text, strlen(text), &how, *state, NULL), SNIP_OK);
    assert_int_equal(t.weights, 3);
    assert_int_equal(t.target, 2); /* the last one that is nothing else */
    assert_true(t.inputs == 1 && t.column[3][1] == 8 && isnan(t.column[1][1]));
    text += strlen("a,n,b,w\n"); /* no header */
    how = (table_options){ .weights = "x0", .columns = "x2", .need_target = 1 };
    assert_int_equal(table_parse(&t, "t", text, strlen(text), &how, *state, NULL), SNIP_FORMAT);
    static const struct {
        table_options how;
        const char *why;
    } wrong[] = {
        { { .weights = "w", .target = "w" }, "'w' cannot be the target and its weight" },
        { { .weights = "w", .columns = "a,w" }, "'w' is the rows' weight, not an input" },
        { { .weights = "q" }, "there is no column 'q' of weights" },
    };
    text = "a,w,y\n1,2,3\n";
    assert_int_equal(
        table_parse(&t, "t", text, strlen(text), &(table_options){ .weights = "w" }, *state, NULL),
        SNIP_OK);
    assert_true(t.inputs == 2 && t.input[1] == 2 && t.target == TABLE_NO_TARGET);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(table_parse(&t, "t", text, strlen(text), &wrong[i].how, *state, &st),
                         SNIP_FORMAT);
        assert_non_null(strstr(st.msg, wrong[i].why));
    }
}

/* Columns that nobody asked for may hold anything. */
static void unused_columns_are_not_read(void **state)
{
    const char *text = "id,a,\"c,d\",note,y\ns0,1,5,,7\ns1,2,6,x,8\ns2,nan,3,,9\n", **names;
    const double **x;
    const table_hints hints = { .columns = "the list" };
    table_options how = {
        .columns = "\"c,d\", a", .need_target = 1, .drop_invalid = 1, .hints = &hints
    };
    table t;
    snip_status st;
    assert_int_equal(table_parse(&t, "t", text, strlen(text), &how, *state, &st), SNIP_OK);
    assert_true(table_inputs(&t, &names, &x, *state));
    assert_true(t.rows == 2 && t.dropped == 1 && t.inputs == 2 && t.target == 4);
    assert_string_equal(names[0], "c,d");
    assert_true(x[0][1] == 6 && x[1][0] == 1 && t.column[4][1] == 8 && isnan(t.column[0][0]));
    static const char *const wrong[][2] = {
        { NULL, "column 'id': 's0' is not a number (the list names the inputs to use)" },
        { "a,note", "no rows without missing cells" },
        { "a,id", "column 'id': 's0' is not a number" },
        { "a,z", "there is no input called 'z'" },
        { "a,y", "'y' is the target" },
        { "a,a", "the list: 'a' is named twice" },
        { "a,", "there is no input called ''" },
        { "", "there is no input called ''" },
        { "\"a", "quote without its end" },
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        how.columns = wrong[i][0];
        how.drop_invalid = 1;
        const char *where = i == 1 ? "id,a,note,y\ns0,1,,2\n" : text;
        assert_int_equal(table_parse(&t, "t", where, strlen(where), &how, *state, &st),
                         SNIP_FORMAT);
        if (!strstr(st.msg, wrong[i][1]))
            fail_msg("%zu: %s", i, st.msg);
    }
    how.columns = NULL; /* without a name for it nothing is advised */
    how.hints = NULL;
    assert_int_equal(table_parse(&t, "t", text, strlen(text), &how, *state, &st), SNIP_FORMAT);
    assert_null(strchr(st.msg, '('));
}

/* Writes bytes to a temporary file and returns its path, in a static buffer. */
static const char *temporary(const void *bytes, size_t n, const char *ending)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/snip-test-XXXXXX%s", ending);
    int f = mkstemps(path, (int)strlen(ending));
    assert_true(f >= 0);
    assert_int_equal(write(f, bytes, n), (ssize_t)n);
    close(f);
    return path;
}

static void reads_gz_and_notices_truncation(void **state)
{
    char text[20000] = "a,b\n";
    unsigned char packed[20000];
    for (int i = 0; i < 1000; i++)
        sprintf(text + strlen(text), "%d,%d\n", i, (i * 7919) % 1000);
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)text;
    z.avail_in = (unsigned)strlen(text);
    z.next_out = packed;
    z.avail_out = sizeof packed;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t n = z.total_out;
    deflateEnd(&z);

    table t;
    snip_status st;
    const char *path = temporary(packed, n, ".csv.gz");
    assert_int_equal(table_read(&t, path, NULL, *state, NULL), SNIP_OK);
    assert_int_equal(t.rows, 1000);
    unlink(path);
    for (size_t cut = 12; cut < n; cut += n / 7) {
        path = temporary(packed, cut, ".csv.gz");
        assert_int_equal(table_read(&t, path, NULL, *state, &st), SNIP_IO);
        assert_non_null(strstr(st.msg, "cut off"));
        unlink(path);
    }
    packed[n / 2] ^= 0x55;
    path = temporary(packed, n, ".csv.gz");
    assert_int_equal(table_read(&t, path, NULL, *state, &st), SNIP_IO);
    unlink(path);
}

static void missing_files_and_folders_are_said(void **state)
{
    table t;
    snip_status st;
    assert_int_equal(table_read(&t, "/nonexistent/t.csv", NULL, *state, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "No such file"));
    assert_int_equal(table_read(&t, "/tmp", NULL, *state, &st), SNIP_IO);
    assert_non_null(strstr(st.msg, "is a directory"));
}

static void memory_limits_are_failures_not_crashes(void **state)
{
    (void)state;
    char text[4000] = "a,b\n";
    for (int i = 0; i < 300; i++)
        sprintf(text + strlen(text), "%d,%d\n", i, i);
    int failed = 0, worked = 0;
    for (size_t limit = 64; limit < 100000; limit += 512) {
        arena *a = arena_new(limit);
        table t;
        snip_code code = table_parse(&t, "t", text, strlen(text), NULL, a, NULL);
        assert_true(code == SNIP_OK || code == SNIP_NOMEM);
        failed += code != SNIP_OK;
        worked += code == SNIP_OK;
        arena_free(a);
    }
    assert_true(failed > 0 && worked > 0);
}

/* The header alone, and then only some of the columns: what the others hold does not matter. */
static void columns_can_be_chosen_by_their_place(void **state)
{
    arena *a = *state;
    static const char text[] = "id,x,note,y\nfoo,1,bar,2\nbaz,3,,4\n";
    const size_t take[] = { 3, 1 };
    snip_status st = { 0 };
    table t;
    const table_options names = { .names_only = 1 };
    assert_int_equal(table_parse(&t, "t.csv", text, sizeof text - 1, &names, a, &st), SNIP_OK);
    assert_true(t.columns == 4 && t.rows == 0 && strcmp(t.name[2], "note") == 0);
    const table_options how = { .take = take, .takes = 2 };
    assert_int_equal(table_parse(&t, "t.csv", text, sizeof text - 1, &how, a, &st), SNIP_OK);
    assert_true(t.rows == 2 && t.inputs == 2 && t.input[0] == 3 && t.input[1] == 1);
    assert_true(t.column[3][1] == 4 && t.column[1][0] == 1 && isnan(t.column[0][0]));
    const table_options none = { .target = "y", .take = take, .takes = 0 };
    assert_int_equal(table_parse(&t, "t.csv", text, sizeof text - 1, &none, a, &st), SNIP_OK);
    assert_true(t.inputs == 0 && t.target == 3 && t.column[3][0] == 2 && isnan(t.column[1][0]));
    const size_t words[] = { 2 };
    const table_options bad = { .take = words, .takes = 1 };
    assert_int_equal(table_parse(&t, "t.csv", text, sizeof text - 1, &bad, a, &st), SNIP_FORMAT);
    assert_non_null(strstr(st.msg, "line 2, column 'note': 'bar' is not a number"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(reads_what_people_write),
        ARENA_TEST(says_what_is_wrong_and_where),
        ARENA_TEST(drops_invalid_rows_on_request),
        ARENA_TEST(finds_the_target),
        ARENA_TEST(finds_the_weights),
        ARENA_TEST(unused_columns_are_not_read),
        ARENA_TEST(reads_gz_and_notices_truncation),
        ARENA_TEST(missing_files_and_folders_are_said),
        cmocka_unit_test(memory_limits_are_failures_not_crashes),
        ARENA_TEST(columns_can_be_chosen_by_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
