/* rank_json.c - ranked formulas as JSON. See results.h. */
#include "regress/results_int.h"

json_t *regress_candidate_json(const regress_candidate *c, const expr_names *names, arena *a)
{
    json_t *o = json_object();
    if (c->name) {
        json_object_set_new(o, "name", text_json(c->name));
        json_object_set_new(o, "field", text_json(c->field));
    }
    json_object_set_new(o, "equation", regress_formula_json(c->fitted, names, a));
    json_object_set_new(o, "given", text_json(c->text ? c->text : ""));
    json_object_set_new(o, "place", json_integer((json_int_t)c->place));
    json_object_set_new(o, "similarity", text_json_real(c->similarity));
    if (c->why)
        json_object_set_new(o, "no_similarity", text_json(c->why));
    json_object_set_new(o, "promise", text_json_real(c->promise));
    json_object_set_new(o, "loss_train", text_json_real(c->errors.loss[0]));
    json_object_set_new(o, "loss_val", text_json_real(c->errors.loss[1]));
    json_object_set_new(o, "loss_cross", text_json_real(c->errors.cross));
    json_object_set_new(o, "r2_train", text_json_real(c->errors.r2[0]));
    json_object_set_new(o, "r2_val", text_json_real(c->errors.r2[1]));
    json_object_set_new(o, "loss_train_given", text_json_real(c->given.loss[0]));
    json_object_set_new(o, "loss_val_given", text_json_real(c->given.loss[1]));
    json_object_set_new(o, "constants", json_integer((json_int_t)c->constants));
    json_object_set_new(o, "complexity", json_integer((json_int_t)c->complexity));
    json_object_set_new(o, "model_size", json_integer((json_int_t)c->size));
    json_object_set_new(o, "pareto", json_boolean(c->front));
    json_object_set_new(o, "score", text_json_real(c->score));
    return o;
}

json_t *regress_ranking_json(const regress_candidate *c, size_t n, const regress_problem *p,
                             const char *model, arena *a)
{
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(all, regress_candidate_json(&c[i], &p->names, a));
    return json_pack("{s:I,s:I,s:I,s:s?,s:o}", "rows_train", (json_int_t)p->train, "rows_val",
                     (json_int_t)(p->rows - p->train), "inputs", (json_int_t)p->dim, "model", model,
                     "candidates", all);
}
