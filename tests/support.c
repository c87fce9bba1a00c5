/* support.c - see support.h. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

int arena_setup(void **state)
{
    *state = arena_new(0);
    return *state ? 0 : -1;
}

int arena_teardown(void **state)
{
    arena_free(*state);
    return 0;
}

static void golden_path(char *out, size_t room, const char *name)
{
    const char *golden = getenv("SNIP_GOLDEN"), *tests = getenv("SNIP_TESTS");
    if (golden && *golden)
        snprintf(out, room, "%s/%s", golden, name);
    else
        snprintf(out, room, "%s/golden/%s", tests ? tests : "tests", name);
}

static char *read_golden(const char *name, size_t *size, arena *a)
{
    char path[1024], *text;
    snip_status st;
    golden_path(path, sizeof path, name);
    if (file_read(&text, size, path, a, &st) != SNIP_OK)
        fail_msg("%s", st.msg);
    return text;
}

regress_table law_table(const char *text, double low, double high, size_t dim, size_t rows, rng *r,
                        arena *a)
{
    static const char *const names[] = { "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7" };
    expr e = parsed(text, NULL, a);
    dim = dim ? dim : expr_inputs(e);
    assert_true(dim <= COUNT(names));
    double **x = arena_array(a, dim, sizeof *x), *y = arena_array(a, rows, sizeof *y);
    for (size_t j = 0; j < dim; j++) {
        x[j] = arena_array(a, rows, sizeof *x[j]);
        for (size_t i = 0; i < rows; i++)
            x[j][i] = low + (high - low) * rng_uniform(r);
    }
    assert_int_equal(expr_eval(e, (const double *const *)x, rows, y, a), rows);
    return (regress_table){
        .dim = dim, .rows = rows, .names = names, .x = (const double *const *)x, .y = y
    };
}

expr parsed(const char *text, const expr_names *known, arena *a)
{
    expr e;
    snip_status st = { 0 };
    if (expr_parse(&e, text, known, a, &st) != SNIP_OK)
        fail_msg("%s: %s", text, st.msg);
    return e;
}

char *golden_text(const char *name, arena *a)
{
    size_t size;
    return read_golden(name, &size, a);
}

json_t *golden_json(const char *name)
{
    char path[1024];
    json_error_t error;
    golden_path(path, sizeof path, name);
    json_t *o = json_load_file(path, 0, &error);
    if (!o)
        fail_msg("%s: %s", path, error.text);
    return o;
}

json_t *golden_lines(const char *name)
{
    arena *a = arena_new(0);
    json_t *list = json_array();
    for (char *s = golden_text(name, a); *s;) {
        size_t n = strcspn(s, "\n");
        json_error_t error;
        json_t *o = json_loadb(s, n, 0, &error);
        if (!o)
            fail_msg("%s: %s", name, error.text);
        json_array_append_new(list, o);
        s += n + (s[n] == '\n');
    }
    arena_free(a);
    assert_true(json_array_size(list) > 0);
    return list;
}

golden_array golden_npy(const char *name, arena *a)
{
    golden_array out = { .size = 1 };
    size_t bytes;
    char *file = read_golden(name, &bytes, a), *shape;
    assert_true(bytes > 10 && memcmp(file, "\x93NUMPY", 6) == 0);
    size_t header = 10 + (unsigned char)file[8] + 256u * (unsigned char)file[9];
    assert_true(header < bytes);
    char *text = arena_text(a, file + 10, header - 10), *descr = strstr(text, "'descr': '");
    assert_non_null(descr);
    assert_non_null(shape = strstr(text, "'shape': ("));
    for (char *s = shape + 10; *s != ')';) {
        out.shape[out.rank] = strtoul(s, &s, 10);
        out.size *= out.shape[out.rank++];
        s += strspn(s, ", ");
    }
    descr += 10;
    size_t width = (size_t)atoi(descr + 2);
    assert_int_equal(bytes - header, out.size * width);
    out.value = arena_array(a, out.size, sizeof *out.value);
    const char *p = file + header;
    for (size_t i = 0; i < out.size; i++, p += width) {
        double f8;
        float f4;
        int32_t i4;
        if (strncmp(descr, "<f8", 3) == 0) {
            memcpy(&f8, p, 8);
            out.value[i] = f8;
        } else if (strncmp(descr, "<f4", 3) == 0) {
            memcpy(&f4, p, 4);
            out.value[i] = (double)f4;
        } else if (strncmp(descr, "<i4", 3) == 0) {
            memcpy(&i4, p, 4);
            out.value[i] = i4;
        } else {
            fail_msg("%s: unexpected type %.3s", name, descr);
        }
    }
    return out;
}

const model_tensor *find_tensor(const model *m, const char *name)
{
    for (size_t k = 0; k < m->tensors; k++)
        if (strcmp(m->tensor[k].name, name) == 0)
            return &m->tensor[k];
    return NULL;
}

double chi_square_p(double x, double freedom)
{
    /* The regularised incomplete gamma function Q(freedom/2, x/2): a series below the mean, a
     * continued fraction above it. */
    double s = freedom / 2, t = x / 2;
    if (t <= 0)
        return 1;
    double scale = exp(-t + s * log(t) - lgamma(s));
    if (t < s + 1) {
        double term = 1 / s, sum = term;
        for (int k = 1; k < 10000 && term > sum * 1e-16; k++)
            sum += term *= t / (s + k);
        return 1 - scale * sum;
    }
    double b = t + 1 - s, c = 1e300, d = 1 / b, h = d;
    for (int k = 1; k < 10000; k++) {
        double a = -k * (k - s);
        b += 2;
        d = 1 / (a * d + b);
        c = b + a / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return scale * h;
}

double chi_square_test(const double *a, const double *b, size_t n)
{
    double total_a = 0, total_b = 0, x = 0, pa = 0, pb = 0;
    int bins = 0;
    for (size_t i = 0; i < n; i++) {
        total_a += a[i];
        total_b += b[i];
    }
    for (size_t i = 0; i < n; i++) {
        pa += a[i];
        pb += b[i];
        if (pa + pb < 20)
            continue;
        double ea = (pa + pb) * total_a / (total_a + total_b), eb = pa + pb - ea;
        x += (pa - ea) * (pa - ea) / ea + (pb - eb) * (pb - eb) / eb;
        bins++;
        pa = pb = 0;
    }
    return bins > 1 ? chi_square_p(x, bins - 1) : 1;
}

double kolmogorov_p(double d, double n, double m)
{
    double effective = sqrt(n * m / (n + m));
    double t = (effective + 0.12 + 0.11 / effective) * d, p = 0;
    if (t < 0.2)
        return 1;
    for (int k = 1; k <= 100; k++)
        p += (k % 2 ? 2 : -2) * exp(-2 * k * k * t * t);
    return p < 0 ? 0 : p > 1 ? 1 : p;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double kolmogorov_test(double *a, size_t n, double *b, size_t m)
{
    qsort(a, n, sizeof *a, compare);
    qsort(b, m, sizeof *b, compare);
    double d = 0;
    for (size_t i = 0, j = 0; i < n && j < m;) {
        double v = fmin(a[i], b[j]);
        while (i < n && a[i] <= v)
            i++;
        while (j < m && b[j] <= v)
            j++;
        d = fmax(d, fabs((double)i / (double)n - (double)j / (double)m));
    }
    return kolmogorov_p(d, (double)n, (double)m);
}

static model *untrained(int forms, uint64_t seed, arena *a)
{
    model_config c;
    model *m;
    assert_int_equal(model_config_preset(&c, "tiny", NULL), SNIP_OK);
    c.statistics = 1;
    c.points = 0;
    c.layers = 1;
    c.hidden = 16;
    if (forms) {
        c.forms = 1;
        c.constants = MODEL_CONSTANT_VALUE;
    }
    assert_int_equal(model_new(&m, &c, a, NULL), SNIP_OK);
    model_start(m, seed);
    return m;
}

model *untrained_model(uint64_t seed, arena *a)
{
    return untrained(0, seed, a);
}

model *untrained_forms_model(uint64_t seed, arena *a)
{
    return untrained(1, seed, a);
}
