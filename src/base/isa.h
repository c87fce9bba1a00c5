/* isa.h - which vector instructions this machine has.
 *
 * Some files are compiled once per instruction set (`kernels` in meson.build). Those that make data
 * (base/philox.c, expr/vec.c, data/points.c), and those that fit
 * constants (expr/slopes.c, regress/columns.c), give the same results bit for bit, so for them the
 * choice is about speed alone; nn/kernels.c agrees to rounding. */
#ifndef BASE_ISA_H
#define BASE_ISA_H

typedef enum isa { ISA_GENERIC, ISA_AVX2, ISA_AVX512, ISA_COUNT } isa;

/* The best instruction set that both this machine and this build have. */
isa isa_best(void);

/* Whether this machine and this build can run `which`. */
int isa_has(isa which);

const char *isa_name(isa which);

/* The variants of `name` by instruction set: name_generic, name_avx2, name_avx512, or &name_... for
 * objects, to initialise an array of ISA_COUNT. */
#ifdef SNIP_X86
#define ISA_VARIANTS(name)                                                                         \
    {                                                                                              \
        [ISA_GENERIC] = name##_generic, [ISA_AVX2] = name##_avx2, [ISA_AVX512] = name##_avx512     \
    }
#else
#define ISA_VARIANTS(name)                                                                         \
    {                                                                                              \
        [ISA_GENERIC] = name##_generic                                                             \
    }
#endif

#endif
