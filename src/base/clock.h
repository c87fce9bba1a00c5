/* clock.h - seconds on clocks that only go forward. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_now(void);

/* Processor time of the whole process, all threads together. */
double clock_processor(void);

#endif
