/* html.c - see html.h. */
#include "page/html.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Groups of three digits, from the right. */
static void count_text(char *out, double v)
{
    char digits[PAGE_DIGITS];
    int n = snprintf(digits, sizeof digits, "%.0f", v), used = 0;
    for (int i = 0; i < n && used < PAGE_DIGITS - 2; i++) {
        out[used++] = digits[i];
        if ((n - i) % 3 == 1 && i + 1 < n)
            out[used++] = ',';
    }
    out[used] = 0;
}

/* "0.73" loses its zero. */
static void share_text(char *out, double v)
{
    char digits[PAGE_DIGITS];
    snprintf(digits, sizeof digits, "%.2f", v);
    strcpy(out, digits + (digits[0] == '0'));
}

const char *page_number(char out[PAGE_DIGITS], double v, page_format f)
{
    if (f == PAGE_NUMBER && isfinite(v)) {
        snprintf(out, PAGE_DIGITS, "%.12g", v);
        return out;
    }
    if (!isfinite(v) || fabs(v) >= 1e15) /* beyond this it is no result of ours */
        return strcpy(out, "–");
    char *s = out;
    double size = fabs(v), least = f == PAGE_PERCENT ? .0005 : f == PAGE_COUNT ? .05 : .005;
    if (f == PAGE_SIGNED && v >= least)
        s += sprintf(s, "+");
    else if (f != PAGE_MIRROR && v <= -least)
        s += sprintf(s, "−");
    if (f == PAGE_PERCENT || f == PAGE_MIRROR)
        sprintf(s, f == PAGE_PERCENT ? "%.1f %%" : "%g %%", 100 * size);
    else if (f == PAGE_PLAIN)
        sprintf(s, "%.2f", size);
    else if (f == PAGE_COUNT && fabs(size - round(size)) >= .05)
        sprintf(s, "%.1f", size);
    else if (f == PAGE_COUNT)
        count_text(s, size);
    else
        share_text(s, size);
    return out;
}

void page_escape(text *t, const char *s)
{
    json_t *clean = s ? text_json(s) : NULL; /* UTF-8 in any case */
    const char *c = json_string_value(clean);
    t->failed |= s && !c;
    for (; c && *c; c++)
        if (strchr("<>&\"'", *c))
            text_add(t, "&#%d;", *c);
        else
            text_put(t, iscntrl((unsigned char)*c) ? "?" : c, 1);
    json_decref(clean);
}

void page_put(text *t, const char *markup)
{
    text_put(t, markup, strlen(markup));
}

void page_element(text *t, const char *open, const char *s, const char *close)
{
    page_put(t, open);
    page_escape(t, s);
    page_put(t, close);
}

void page_open(text *t, const char *title, const char *style)
{
    page_element(t, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>",
                 title,
                 "</title>\n<meta name=\"viewport\" content=\"width=device-width, "
                 "initial-scale=1\">\n<style>\n");
    page_put(t, style);
    page_put(t, "</style></head><body>\n");
}

void page_close(text *t)
{
    page_put(t, "</body></html>\n");
}
