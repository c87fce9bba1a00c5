/* streams.c - see streams.h. */
#include "base/streams.h"

#define ROW(user, stream, part, first, count) { #user, stream, part, first, count },
const streams_range streams_map[STREAMS_USERS] = { STREAMS_MAP(ROW) };
