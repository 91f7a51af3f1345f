#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast that Swift does not import: the value is copied while it is bound. */
static inline int arbor_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
  return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}
