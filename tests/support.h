/* support.h - what the tests share: cmocka, golden data, statistics.
 *
 * Golden data are read from the folder in SNIP_GOLDEN, so that the same tests run on other data of
 * the same shape, and from tests/golden without it. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/arena.h"
#include "expr/expr.h"
#include "model/model.h"
#include "regress/problem.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A cmocka state that is an arena, made before each test and released after it. */
int arena_setup(void **state);
int arena_teardown(void **state);
#define ARENA_TEST(f) cmocka_unit_test_setup_teardown(f, arena_setup, arena_teardown)

/* The formula in a text; `known` may be NULL. Fails the test if it cannot be read. */
expr parsed(const char *text, const expr_names *known, arena *a);

/* A table of the law `text` on `rows` rows, its inputs x0, x1, ... uniform between low and high;
 * dim 0: as many inputs as the law has. *r goes on for noise. */
regress_table law_table(const char *text, double low, double high, size_t dim, size_t rows, rng *r,
                        arena *a);

/* The whole of a golden file, terminated. Fails the test if it cannot be read. */
char *golden_text(const char *name, arena *a);

/* A golden JSON file; release with json_decref. */
json_t *golden_json(const char *name);

/* A golden .jsonl file as a JSON array. */
json_t *golden_lines(const char *name);

/* A golden .npy array, converted to double. */
typedef struct golden_array {
    size_t rank, shape[4], size;
    double *value;
} golden_array;
golden_array golden_npy(const char *name, arena *a);

/* A small untrained model that reads statistics, so that tests with it are quick. */
model *untrained_model(uint64_t seed, arena *a);

/* The same with the view of forms. */
model *untrained_forms_model(uint64_t seed, arena *a);

/* The tensor of that name, or NULL. */
const model_tensor *find_tensor(const model *m, const char *name);

/* Upper tail of the chi-square distribution. */
double chi_square_p(double x, double freedom);

/* p-value of the two-sample chi-square test on counts a and b (0..n); neighbouring bins are joined
 * until they hold at least 20. */
double chi_square_test(const double *a, const double *b, size_t n);

/* p-value of the Kolmogorov-Smirnov distance d for samples of n and m. */
double kolmogorov_p(double d, double n, double m);

/* Two-sample test on values, which are sorted on the way. */
double kolmogorov_test(double *a, size_t n, double *b, size_t m);

#endif
