/* fuzz_table.c - any bytes as a table: it is refused with a message, or all its cells are finite.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    /* The first byte chooses the options. */
    const table_options how = { .target = data[0] & 1 ? "y" : NULL,
                                .columns = data[0] & 8 ? "a,x1" : NULL,
                                .need_target = data[0] & 16,
                                .drop_invalid = data[0] & 2 };
    const char *path = data[0] & 4 ? "t.tsv" : "t.csv";
    arena *a = arena_new((size_t)64 << 20);
    char *text = arena_text(a, (const char *)data + 1, size - 1);
    table t;
    snip_status st = { 0 };
    if (table_parse(&t, path, text, size - 1, &how, a, &st) != SNIP_OK) {
        if (!st.msg[0])
            abort();
    } else {
        const char **names;
        const double **x;
        if (t.rows == 0 || t.columns == 0)
            abort();
        table_inputs(&t, &names, &x, a);
        for (size_t j = 0; j < t.inputs; j++)
            for (size_t i = 0; i < t.rows; i++)
                if (!isfinite(x[j][i]))
                    abort();
        if (how.need_target && !isfinite(t.column[t.target][0]))
            abort();
    }
    arena_free(a);
    return 0;
}
