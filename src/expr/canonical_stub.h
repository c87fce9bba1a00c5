#include <string.h>
#include <xxhash.h>
typedef struct expr_form { expr e, core; double shift, factor; uint8_t shift_free, factor_free; int32_t *where; double *factor_of; uint64_t hash; } expr_form;
static inline snip_code expr_canonical(expr_form *out, expr e, arena *a, snip_status *st)
{ (void)st; *out=(expr_form){.e=e,.core=e,.factor=1}; out->where=arena_array(a,e.count,4); for(size_t i=0;i<e.count;i++) out->where[i]=(int32_t)i;
  expr_node *n=arena_copy(a,e.node,e.count*sizeof*n); for(size_t i=0;i<e.count;i++) n[i].value=0; out->hash=XXH3_64bits(n,e.count*sizeof*n); return SNIP_OK; }
static inline void expr_set_fixed(expr e,int f){for(size_t i=0;i<e.count;i++) e.node[i].fixed=f&1;}
