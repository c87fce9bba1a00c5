/* isa.c - see isa.h. */
#include "base/isa.h"

int isa_has(isa which)
{
#ifdef SNIP_X86
    switch (which) {
    case ISA_AVX2: /* every processor with AVX2 has F16C, which not all compilers can ask for */
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    default:
        break;
    }
#endif
    return which == ISA_GENERIC;
}

isa isa_best(void)
{
    return isa_has(ISA_AVX512) ? ISA_AVX512 : isa_has(ISA_AVX2) ? ISA_AVX2 : ISA_GENERIC;
}

const char *isa_name(isa which)
{
    static const char *const names[ISA_COUNT] = { "generic", "avx2", "avx512" };
    return names[which];
}
