/* search_json.c - see search_json.h. */
#include "search/search_json.h"

#include "base/text.h"

/* The fitted constants in the order of the formula, each with its standard error. */
static json_t *constants_json(const search_formula *f, arena *a)
{
    arena_pos mark = arena_mark(a);
    size_t *node = arena_array(a, f->e.count, sizeof *node);
    json_t *out = json_array();
    size_t n = node && f->error ? expr_constants(f->e, node) : 0;
    for (size_t k = 0; k < n; k++)
        json_array_append_new(out, json_pack("{s:o, s:o}", "value",
                                             text_json_real(f->e.node[node[k]].value), "error",
                                             text_json_real(f->error[k])));
    arena_reset(a, mark);
    return out;
}

json_t *search_formula_json(const search_formula *f, const expr_names *names, arena *a)
{
    const char *infix = expr_print(f->e, SNIP_INFIX, names, 0, a);
    const char *sympy = expr_print(f->e, SNIP_SYMPY, names, 0, a);
    if (!infix || !sympy)
        return NULL;
    return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "equation", infix,
                     "sympy", sympy, "size", (json_int_t)f->size, "constants", constants_json(f, a),
                     "r2_train", text_json_real(f->r2[0]), "r2_val", text_json_real(f->r2[1]),
                     "loss_train", text_json_real(f->loss[0]), "loss_val",
                     text_json_real(f->loss[1]), "bits", text_json_real(f->bits), "similarity",
                     text_json_real(f->similarity), "stage", search_stage_names[f->stage]);
}

json_t *search_result_json(const search_result *r, const expr_names *names, arena *a)
{
    json_t *front = json_array();
    for (size_t k = 0; k < r->count; k++) {
        json_t *one = search_formula_json(&r->front[k], names, a);
        if (!one || json_array_append_new(front, one) != 0) {
            json_decref(front);
            return NULL;
        }
    }
    json_t *far = json_array();
    for (size_t k = 0; k < r->far_count; k++)
        json_array_append_new(far, json_integer((json_int_t)r->far[k] + 1));
    return json_pack("{s:f, s:I, s:I, s:[I,I], s:I, s:o, s:b, s:s?, s:I, s:o}", "seconds",
                     r->seconds, "evaluations", (json_int_t)r->evaluations, "seed",
                     (json_int_t)r->seed, "rows", (json_int_t)r->rows[0], (json_int_t)r->rows[1],
                     "outliers", (json_int_t)r->outliers, "far_rows", far, "cancelled",
                     r->cancelled, "note", r->note, "selected", (json_int_t)r->selected, "front",
                     front);
}
