/* isa.h - which vector instructions this machine has.
 *
 * Three files are compiled once per instruction set (meson.build): base/philox.c, expr/vec.c and
 * data/points.c. Their results are the same bit for bit, so the choice is about speed alone. */
#ifndef BASE_ISA_H
#define BASE_ISA_H

typedef enum isa { ISA_GENERIC, ISA_AVX2, ISA_AVX512, ISA_COUNT } isa;

/* The best instruction set that both this machine and this build have. */
isa isa_best(void);

/* Whether this machine and this build can run `which`. */
int isa_has(isa which);

const char *isa_name(isa which);

#endif
