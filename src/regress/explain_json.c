/* explain_json.c - an explanation as JSON. See results.h. */
#include <math.h>

#include "regress/results_int.h"

json_t *regress_formula_json(expr e, const expr_names *names, arena *a)
{
    const char *s = expr_print(e, SNIP_SYMPY, names, 0, a);
    return text_json(s ? s : "");
}

static json_t *errors_json(const regress_errors *e)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "loss_train", text_json_real(e->loss[0]), "loss_val",
                     text_json_real(e->loss[1]), "r2_train", text_json_real(e->r2[0]), "r2_val",
                     text_json_real(e->r2[1]), "loss_cross", text_json_real(e->cross));
}

json_t *regress_edit_json(const regress_explanation *x, const regress_edit *e,
                          const regress_problem *p, arena *a)
{
    const char *what = regress_edit_text(e, x->shown, &p->names, a);
    json_t *second = e->two ? json_integer((json_int_t)e->second_node) : json_null();
    return json_pack("{s:I,s:o,s:o,s:f,s:o,s:o,s:o,s:o}", "node", (json_int_t)e->node,
                     "second_node", second, "edit", text_json(what ? what : ""), "gain",
                     isnan(e->gain) ? 0 : e->gain, "equation",
                     regress_formula_json(e->e, &p->names, a), "errors", errors_json(&e->errors),
                     "refitted_equation", regress_formula_json(e->fitted, &p->names, a),
                     "refitted_errors", errors_json(&e->refitted));
}

static json_t *evidence_json(const regress_explanation *x, const regress_problem *p, arena *a)
{
    const regress_evidence *v = &x->evidence;
    if (v->best == (size_t)-1)
        return json_null();
    return json_pack("{s:b,s:I,s:i,s:o,s:o,s:o,s:o,s:o}", "supported", v->supported, "tried",
                     (json_int_t)v->tried, "folds", v->folds, "cross_loss",
                     text_json_real(v->cross[0]), "edited_cross_loss", text_json_real(v->cross[1]),
                     "p", text_json_real(v->p), "edit", regress_edit_json(x, x->verdict, p, a),
                     "equation", regress_formula_json(v->fitted, &p->names, a));
}

json_t *regress_explanation_json(const regress_explanation *x, const regress_problem *p, size_t top,
                                 const char *model, arena *a)
{
    json_t *nodes = json_array(), *edits = json_array(), *pairs = json_array();
    for (size_t i = 0; i < x->e.count; i++)
        json_array_append_new(
            nodes, json_pack("{s:I,s:o,s:o}", "node", (json_int_t)i, "part",
                             regress_formula_json(expr_subtree(x->shown, i), &p->names, a), "gain",
                             text_json_real(x->gain[i])));
    for (size_t k = 0; k < x->listed && k < top; k++)
        json_array_append_new(edits, regress_edit_json(x, &x->edit[k], p, a));
    for (size_t k = 0; k < x->pairs && k < top; k++)
        json_array_append_new(pairs, regress_edit_json(x, &x->pair[k], p, a));
    return json_pack("{s:o,s:f,s:o,s:o,s:o,s:o,s:I,s:o,s:o,s:s}", "equation",
                     regress_formula_json(x->shown, &p->names, a), "similarity", x->similarity,
                     "errors", errors_json(&x->errors), "nodes", nodes, "edits", edits, "pairs",
                     pairs, "pairs_tried", (json_int_t)x->pairs_tried, "least_error",
                     x->evidence.supported ? regress_edit_json(x, x->verdict, p, a) : json_null(),
                     "evidence", evidence_json(x, p, a), "model", model);
}
