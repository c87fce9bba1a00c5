/* fail_product.c - preloaded (LD_PRELOAD) it makes the n-th matrix product of a program fail for
 * want of memory, as oneDNN does where an allocation fails; $SNIP_FAIL_PRODUCT is n. The result is
 * left as it was, so whoever does not look at the status goes on with something wrong. */
#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long calls;

dnnl_status_t dnnl_sgemm(char transa, char transb, dnnl_dim_t m, dnnl_dim_t n, dnnl_dim_t k,
                         float alpha, const float *a, dnnl_dim_t lda, const float *b,
                         dnnl_dim_t ldb, float beta, float *c, dnnl_dim_t ldc)
{
    typedef dnnl_status_t product(char, char, dnnl_dim_t, dnnl_dim_t, dnnl_dim_t, float,
                                  const float *, dnnl_dim_t, const float *, dnnl_dim_t, float,
                                  float *, dnnl_dim_t);
    const char *which = getenv("SNIP_FAIL_PRODUCT");
    if (which && atomic_fetch_add(&calls, 1) + 1 == atol(which))
        return dnnl_out_of_memory;
    product *real = (product *)dlsym(RTLD_NEXT, "dnnl_sgemm");
    return real ? real(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
                : dnnl_runtime_error;
}
