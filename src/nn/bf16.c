/* bf16.c - matrix products of numbers rounded to bf16, with float32 sums; see nn.h. */
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

#include "nn/nn.h"

uint16_t nn_bf16_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) /* rounding up would make an infinity of some NaN */
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* to nearest, ties to even */
}

float nn_bf16_value(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* A dense matrix as oneDNN sees it. */
typedef struct matrix {
    dnnl_dims_t size, stride;
    dnnl_data_type_t kind;
    void *data;
    dnnl_memory_desc_t about;
    dnnl_memory_t memory;
} matrix;

/* Versions 2 and 3 of oneDNN differ in these: descriptors by value or by handle, a product's own
 * descriptor, and what is said of a sum. */
#if DNNL_VERSION_MAJOR >= 3
static int describe(matrix *x, dnnl_engine_t engine)
{
    return dnnl_memory_desc_create_with_strides(&x->about, 2, x->size, x->kind, x->stride) ==
               dnnl_success &&
           dnnl_memory_create(&x->memory, x->about, engine, x->data) == dnnl_success;
}
static void forget(matrix *x)
{
    if (x->memory)
        dnnl_memory_destroy(x->memory);
    if (x->about)
        dnnl_memory_desc_destroy(x->about);
}
static int plan(dnnl_primitive_desc_t *out, const matrix *a, const matrix *b, const matrix *c,
                dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
    return dnnl_matmul_primitive_desc_create(out, engine, a->about, b->about, NULL, c->about,
                                             attr) == dnnl_success;
}
#define APPEND_SUM(ops) dnnl_post_ops_append_sum(ops, 1, 0, dnnl_data_type_undef)
#else
static int describe(matrix *x, dnnl_engine_t engine)
{
    return dnnl_memory_desc_init_by_strides(&x->about, 2, x->size, x->kind, x->stride) ==
               dnnl_success &&
           dnnl_memory_create(&x->memory, &x->about, engine, x->data) == dnnl_success;
}
static void forget(matrix *x)
{
    if (x->memory)
        dnnl_memory_destroy(x->memory);
}
static int plan(dnnl_primitive_desc_t *out, const matrix *a, const matrix *b, const matrix *c,
                dnnl_primitive_attr_t attr, dnnl_engine_t engine)
{
    dnnl_matmul_desc_t product;
    return dnnl_matmul_desc_init(&product, &a->about, &b->about, NULL, &c->about) == dnnl_success &&
           dnnl_primitive_desc_create(out, &product, attr, engine, NULL) == dnnl_success;
}
#define APPEND_SUM(ops) dnnl_post_ops_append_sum(ops, 1)
#endif

/* "Add to what is there" as an attribute; NULL where it cannot be had. */
static dnnl_primitive_attr_t adding(void)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    int good = dnnl_primitive_attr_create(&attr) == dnnl_success &&
               dnnl_post_ops_create(&ops) == dnnl_success && APPEND_SUM(ops) == dnnl_success &&
               dnnl_primitive_attr_set_post_ops(attr, ops) == dnnl_success;
    if (ops)
        dnnl_post_ops_destroy(ops);
    if (!good && attr)
        dnnl_primitive_attr_destroy(attr);
    return good ? attr : NULL;
}

/* Everything is made anew for each product: oneDNN keeps the code of shapes it has met, and what is
 * left to do is little beside chunks of a thousand rows. */
static int multiply(matrix *a, matrix *b, matrix *c, int add)
{
    dnnl_engine_t engine = NULL;
    dnnl_stream_t stream = NULL;
    dnnl_primitive_desc_t how = NULL;
    dnnl_primitive_t product = NULL;
    dnnl_primitive_attr_t attr = add ? adding() : NULL;
    int good = (!add || attr) && dnnl_engine_create(&engine, dnnl_cpu, 0) == dnnl_success &&
               dnnl_stream_create(&stream, engine, dnnl_stream_default_flags) == dnnl_success &&
               describe(a, engine) && describe(b, engine) && describe(c, engine) &&
               plan(&how, a, b, c, attr, engine) &&
               dnnl_primitive_create(&product, how) == dnnl_success;
    if (good) {
        const dnnl_exec_arg_t args[] = { { DNNL_ARG_SRC, a->memory },
                                         { DNNL_ARG_WEIGHTS, b->memory },
                                         { DNNL_ARG_DST, c->memory } };
        good = dnnl_primitive_execute(product, stream, 3, args) == dnnl_success &&
               dnnl_stream_wait(stream) == dnnl_success;
    }
    if (product)
        dnnl_primitive_destroy(product);
    if (how)
        dnnl_primitive_desc_destroy(how);
    forget(a);
    forget(b);
    forget(c);
    if (stream)
        dnnl_stream_destroy(stream);
    if (engine)
        dnnl_engine_destroy(engine);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    return good;
}

/* The same sums of the same rounded numbers by float32 products, on any processor. Many parameters:
 * those of BLAS. */
static int multiply_rounded(int trans_a, int trans_b, size_t m, size_t n, size_t k,
                            const uint16_t *a, const uint16_t *b, int add, float *c)
{
    float *wide = malloc((m * k + k * n) * sizeof *wide);
    for (size_t i = 0; wide && i < m * k; i++)
        wide[i] = nn_bf16_value(a[i]);
    for (size_t i = 0; wide && i < k * n; i++)
        wide[m * k + i] = nn_bf16_value(b[i]);
    int good = wide && nn_product(trans_a, trans_b, m, n, k, 1, wide, trans_a ? m : k, wide + m * k,
                                  trans_b ? k : n, (float)(add != 0), c, n);
    free(wide);
    return good;
}

/* Many parameters: those of BLAS. */
int nn_dense(nn_products how, int trans_a, int trans_b, size_t m, size_t n, size_t k,
             const float *a, const float *b, int add, float *c)
{
    if (how == NN_FLOAT32)
        return nn_gemm(trans_a, trans_b, m, n, k, 1, a, trans_a ? m : k, b, trans_b ? k : n,
                       (float)(add != 0), c, n);
    if (m == 0 || n == 0 || k == 0)
        return 1; /* of no rows; nothing is added */
    uint16_t *half = malloc((m * k + k * n) * sizeof *half), *second = half + m * k;
    if (!half)
        return 0;
    for (size_t i = 0; i < m * k; i++)
        half[i] = nn_bf16_of(a[i]);
    for (size_t i = 0; i < k * n; i++)
        second[i] = nn_bf16_of(b[i]);
    dnnl_dim_t rows = (dnnl_dim_t)m, columns = (dnnl_dim_t)n, inner = (dnnl_dim_t)k;
    matrix x = { .size = { rows, inner }, .kind = dnnl_bf16, .data = half };
    matrix y = { .size = { inner, columns }, .kind = dnnl_bf16, .data = second };
    matrix z = { .size = { rows, columns }, .stride = { columns, 1 }, .kind = dnnl_f32, .data = c };
    x.stride[0] = trans_a ? 1 : inner;
    x.stride[1] = trans_a ? rows : 1;
    y.stride[0] = trans_b ? 1 : columns;
    y.stride[1] = trans_b ? inner : 1;
    nn_quiet q;
    nn_quiet_begin(&q);
    int good = how == NN_BF16 ? multiply(&x, &y, &z, add)
                              : multiply_rounded(trans_a, trans_b, m, n, k, half, second, add, c);
    nn_quiet_end(&q);
    free(half);
    return good;
}

int nn_has_bf16(void)
{
    const unsigned wanted = dnnl_cpu_isa_avx512_core_bf16;
    const float a[] = { 1, 2, 3, 4 }, b[] = { 1, 0, 1, 1 };
    float c[4] = { 1, 1, 1, 1 };
    if (((unsigned)dnnl_get_effective_cpu_isa() & wanted) != wanted)
        return 0;
    /* That the library can do it, too, is seen by a product: [1 2; 3 4] [1 0; 1 1]' + 1. */
    return nn_dense(NN_BF16, 0, 1, 2, 2, 2, a, b, 1, c) && c[0] == 2 && c[1] == 4 && c[2] == 4 &&
           c[3] == 8;
}
