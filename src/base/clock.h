/* clock.h - seconds on a clock that only goes forward. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_now(void);

#endif
