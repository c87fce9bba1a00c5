/* html.h - what every page and picture is written with: text that may hold anything, numbers as
 * readers know them, and the frame of a page.
 *
 *     text t = { .a = a };
 *     page_open(&t, "snip: training curves", "h1{line-height:1.2}");
 *     page_element(&t, "<h1>", name, "</h1>\n");
 *     page_close(&t);
 *
 * Everything is added to a text (base/text.h), which remembers whether memory ran out; nothing is
 * printed. A page needs no network. */
#ifndef PAGE_HTML_H
#define PAGE_HTML_H

#include "base/text.h"

typedef enum page_format {
    PAGE_SHARE,   /* .73 */
    PAGE_PERCENT, /* 87.3 % */
    PAGE_PLAIN,   /* 1.18 */
    PAGE_COUNT,   /* 10,000 or 26.5 */
    PAGE_SIGNED,  /* +.12 */
    PAGE_MIRROR,  /* per cent without its sign, for an axis that goes up and down from 0 */
    PAGE_NUMBER   /* as many digits as it has, twelve at most: a measured value */
} page_format;

enum { PAGE_DIGITS = 48 }; /* room for a number */

/* Writes the number and returns `out`; a dash where it is not finite. */
const char *page_number(char out[PAGE_DIGITS], double v, page_format f);

/* Adds text that may hold anything, for use in elements and quoted attributes of HTML and XML. What
 * is not UTF-8 and what steers a terminal becomes a question mark: names are whatever bytes a
 * table's head has. */
void page_escape(text *t, const char *s);

/* Adds markup as it is, and an element around text that may hold anything. */
void page_put(text *t, const char *markup);
void page_element(text *t, const char *open, const char *s, const char *close);

/* The frame of a page: its head, with the title and the page's own rules of style, up to and with
 * the start of the body; and its end. */
void page_open(text *t, const char *title, const char *style);
void page_close(text *t);

#endif
