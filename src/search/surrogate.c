/* surrogate.c - see surrogate.h. */
#include "search/surrogate.h"

#include <math.h>
#include <string.h>

enum {
    ROWS_MAX = 2000,
    TERMS_MAX = 330,
    DEGREE_MAX = SEARCH_SURROGATE_DEGREE_MAX,
    ROWS_PER_TERM = 3
};

#define RIDGE 1e-10 /* of the largest diagonal element */

/* How many products of `dim` factors have total degree up to `degree`. */
static size_t count_terms(size_t dim, int degree)
{
    double n = 1;
    for (int k = 1; k <= degree; k++)
        n = n * (double)(dim + (size_t)k) / k;
    return n > 1e6 ? 1000000 : (size_t)round(n);
}

/* Lists them all, the constant first. */
static void list_terms(unsigned char *exponent, size_t dim, int degree)
{
    unsigned char now[256] = { 0 };
    int sum = 0;
    for (size_t t = 0;; t++) {
        memcpy(exponent + t * dim, now, dim);
        size_t j = 0; /* the next one: an odometer whose digits sum up to `degree` at most */
        for (; j < dim; j++) {
            if (sum < degree) {
                now[j]++;
                sum++;
                break;
            }
            sum -= now[j];
            now[j] = 0;
        }
        if (j == dim)
            return;
    }
}

/* Legendre polynomials of degrees 0 .. DEGREE_MAX and their derivatives at u. */
static void legendre(double u, double *p, double *d)
{
    p[0] = 1;
    p[1] = u;
    d[0] = 0;
    d[1] = 1;
    for (int n = 2; n <= DEGREE_MAX; n++) {
        p[n] = ((2 * n - 1) * u * p[n - 1] - (n - 1) * p[n - 2]) / n;
        d[n] = d[n - 2] + (2 * n - 1) * p[n - 1];
    }
}

/* The values of all terms at a row, by the polynomials of its columns. */
static void terms_at(const search_surrogate *s, const double *p, double *out)
{
    for (size_t t = 0; t < s->terms; t++) {
        double v = 1;
        const unsigned char *e = s->exponent + t * s->dim;
        for (size_t j = 0; j < s->dim; j++)
            v *= p[j * (DEGREE_MAX + 1) + e[j]];
        out[t] = v;
    }
}

static double mapped(const search_surrogate *s, size_t j, double v)
{
    double width = s->high[j] - s->low[j];
    return width > 0 ? 2 * (v - s->low[j]) / width - 1 : 0;
}

/* Solves (A + ridge) c = b by Cholesky's factorisation; A is overwritten. */
static int solve(double *a, double *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, a[i * n + i]);
    for (size_t i = 0; i < n; i++)
        a[i * n + i] += RIDGE * most;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0))
                return 0;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return 1;
}

/* Fits s->c on the first `rows` rows of the terms' values; error on the rows behind them. */
static int fit(search_surrogate *s, const double *value, const double *y, size_t rows, size_t all,
               arena *tmp)
{
    size_t n = s->terms;
    arena_pos mark = arena_mark(tmp);
    double *gram = arena_zero(tmp, n * n * sizeof *gram);
    memset(s->c, 0, n * sizeof *s->c);
    for (size_t i = 0; gram && i < rows; i++)
        for (size_t j = 0; j < n; j++) {
            double v = value[i * n + j];
            s->c[j] += v * y[i];
            for (size_t k = 0; k <= j; k++)
                gram[j * n + k] += v * value[i * n + k];
        }
    int good = gram && solve(gram, s->c, n);
    double mean = 0, rest = 0, whole = 0;
    for (size_t i = rows; i < all; i++)
        mean += y[i] / (double)(all - rows);
    for (size_t i = rows; good && i < all; i++) {
        double v = -y[i];
        for (size_t j = 0; j < n; j++)
            v += s->c[j] * value[i * n + j];
        rest += v * v;
        whole += (y[i] - mean) * (y[i] - mean);
    }
    s->error = good && whole > 0 ? rest / whole : INFINITY;
    arena_reset(tmp, mark);
    return good;
}

int search_surrogate_fit(search_surrogate *out, const double *const *x, size_t dim, const double *y,
                         size_t rows, int degree, arena *a)
{
    size_t all = rows < ROWS_MAX ? rows : ROWS_MAX, train = all - all / 4;
    search_surrogate best = { .error = INFINITY };
    double *low = arena_array(a, dim, sizeof *low), *high = arena_array(a, dim, sizeof *high);
    double *p = arena_array(a, dim * (DEGREE_MAX + 1), sizeof *p), d[DEGREE_MAX + 1];
    if (!low || !high || !p || dim > 255)
        return 0;
    for (size_t j = 0; j < dim; j++) {
        low[j] = high[j] = x[j][0];
        for (size_t i = 0; i < rows; i++) {
            low[j] = fmin(low[j], x[j][i]);
            high[j] = fmax(high[j], x[j][i]);
        }
    }
    for (int of = 2; of <= degree && of <= DEGREE_MAX; of++) {
        search_surrogate s = { .dim = dim, .degree = of, .low = low, .high = high };
        s.terms = count_terms(dim, of);
        if (s.terms > TERMS_MAX || s.terms * ROWS_PER_TERM > train)
            break;
        s.exponent = arena_alloc(a, s.terms * dim);
        s.c = arena_array(a, s.terms, sizeof *s.c);
        arena_pos mark = arena_mark(a);
        double *value = arena_array(a, all * s.terms, sizeof *value);
        if (!s.exponent || !s.c || !value)
            return 0;
        list_terms(s.exponent, dim, of);
        for (size_t i = 0; i < all; i++) {
            for (size_t j = 0; j < dim; j++)
                legendre(mapped(&s, j, x[j][i]), p + j * (DEGREE_MAX + 1), d);
            terms_at(&s, p, value + i * s.terms);
        }
        if (fit(&s, value, y, train, all, a) && s.error < best.error)
            best = s;
        arena_reset(a, mark);
    }
    *out = best;
    return best.error < INFINITY;
}

int search_surrogate_gradient(const search_surrogate *s, const double *const *x, size_t rows,
                              double *g, arena *tmp)
{
    arena_pos mark = arena_mark(tmp);
    size_t width = DEGREE_MAX + 1;
    double *p = arena_array(tmp, s->dim * width, sizeof *p);
    double *d = arena_array(tmp, s->dim * width, sizeof *d);
    for (size_t i = 0; p && d && i < rows; i++) {
        for (size_t j = 0; j < s->dim; j++)
            legendre(mapped(s, j, x[j][i]), p + j * width, d + j * width);
        for (size_t j = 0; j < s->dim; j++) {
            double sum = 0, span = s->high[j] - s->low[j];
            for (size_t t = 0; t < s->terms; t++) {
                const unsigned char *e = s->exponent + t * s->dim;
                double v = e[j] ? s->c[t] * d[j * width + e[j]] : 0;
                for (size_t k = 0; k < s->dim && v != 0; k++)
                    v *= k == j ? 1 : p[k * width + e[k]];
                sum += v;
            }
            g[j * rows + i] = span > 0 ? 2 * sum / span : 0;
        }
    }
    arena_reset(tmp, mark);
    return p && d;
}
