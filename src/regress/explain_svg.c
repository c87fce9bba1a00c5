/* explain_svg.c - an explanation as a picture: the formula's tree. See results.h. */
#include <math.h>
#include <stdio.h>

#include "regress/results.h"

const char *regress_node_label(const regress_explanation *x, size_t i, const expr_names *names,
                               char buf[48])
{
    const expr_node *n = &x->shown.node[i];
    if (n->op == EXPR_NUMBER)
        snprintf(buf, 48, "%.5g", n->value);
    else if (n->op == EXPR_VARIABLE && n->var < names->count)
        snprintf(buf, 48, "%.30s", names->name[n->var]);
    else if (n->op == EXPR_VARIABLE)
        snprintf(buf, 48, "x%d", n->var);
    else
        return expr_ops[n->op].sign[0] ? expr_ops[n->op].sign : expr_ops[n->op].name;
    return buf;
}

double regress_gain_share(const regress_explanation *x, size_t i)
{
    double top = 1e-3; /* less is no gain worth a bar */
    for (size_t k = 0; k < x->e.count; k++)
        top = fmax(top, x->gain[k]); /* of NaN and a number it is the number */
    return x->gain[i] > 0 ? x->gain[i] / top : 0;
}

/* Where a node is drawn. */
typedef struct place {
    double x;
    int depth;
} place;

enum { ACROSS = 74, DOWN = 62, EDGE = 46 };

/* Leaves side by side, operators above the middle of their operands. Returns the node's x. */
static double arrange(place *at, expr e, size_t i, int depth, int *leaves)
{
    int arity = expr_ops[e.node[i].op].arity;
    double sum = 0;
    at[i].depth = depth;
    for (int k = 0; k < arity; k++)
        sum += arrange(at, e, expr_child(e, i, k), depth + 1, leaves);
    at[i].x = arity ? sum / arity : EDGE + ACROSS * (double)(*leaves)++;
    return at[i].x;
}

/* White over amber to red, readable beside each other without colour too: darker is more. */
static void put_colour(text *t, double s)
{
    int r = 255 - (int)(40 * s), g = 250 - (int)(190 * s), b = 240 - (int)(200 * s);
    text_add(t, "#%02x%02x%02x", r, g, b);
}

/* A node: its sign in a box, below it what its best edit gains, under the pointer that edit. Where
 * the verdict is about the node, the box is bold and the verdict is under the pointer. */
static void put_node(text *t, const regress_explanation *x, const regress_problem *p, size_t i,
                     const place *at)
{
    char buf[48];
    int y = EDGE + DOWN * at->depth;
    const regress_edit *best = x->best[i] == (size_t)-1 ? NULL : &x->edit[x->best[i]];
    const regress_edit *v = x->evidence.supported && !x->verdict->base.count ? x->verdict : NULL;
    int judged = v && (v->node == i || (v->two && v->second_node == i));
    page_element(t, "<g><title>",
                 best || judged ? regress_edit_text(judged ? v : best, x->shown, &p->names, t->a)
                                : NULL,
                 "</title>");
    text_add(t, "<rect x=\"%.1f\" y=\"%d\" width=\"64\" height=\"26\" rx=\"13\" fill=\"",
             at->x - 32, y - 13);
    put_colour(t, regress_gain_share(x, i));
    text_add(t, "\" stroke=\"#555\"%s/><text x=\"%.1f\" y=\"%d\" font-size=\"13\">",
             judged ? " stroke-width=\"3\"" : "", at->x, y + 5);
    page_element(t, "", regress_node_label(x, i, &p->names, buf), "</text>");
    if (!isnan(x->gain[i]))
        text_add(t,
                 "<text x=\"%.1f\" y=\"%d\" font-size=\"10\" fill=\"#444\" stroke=\"white\" "
                 "stroke-width=\"3\" paint-order=\"stroke\">%+.3f</text>",
                 at->x, y + 24, x->gain[i]);
    page_put(t, "</g>\n");
}

void regress_explanation_svg(text *t, const regress_explanation *x, const regress_problem *p)
{
    int leaves = 0;
    place *at = arena_array(t->a, x->e.count, sizeof *at);
    if (!at) {
        t->failed = 1;
        return;
    }
    arrange(at, x->e, 0, 0, &leaves);
    page_svg_file(t, 2 * EDGE + ACROSS * (leaves - 1), 2 * EDGE + DOWN * expr_depth(x->e),
                  " text-anchor=\"middle\"", expr_print(x->shown, SNIP_INFIX, &p->names, 5, t->a),
                  NULL);
    for (size_t i = 0; i < x->e.count; i++)
        for (int k = 0; k < expr_ops[x->e.node[i].op].arity; k++) {
            size_t kid = expr_child(x->e, i, k);
            text_add(t, "<path d=\"M%.1f %dL%.1f %d\" stroke=\"#888\"/>\n", at[i].x,
                     EDGE + DOWN * at[i].depth, at[kid].x, EDGE + DOWN * at[kid].depth);
        }
    for (size_t i = 0; i < x->e.count; i++)
        put_node(t, x, p, i, &at[i]);
    page_svg_close(t);
}
