// Settings of SQLite for the whole process. sqlite3_config(3) has variable arguments, which Swift does not import.
#ifndef PHOTOD_SQLITESETTINGS_H
#define PHOTOD_SQLITESETTINGS_H

/// Stops SQLite from counting the memory that it allocates, which takes a lock for each piece. photod never asks for it.
///
/// It has an effect only before the first use of SQLite in the process.
void sqlitesettings_count_no_memory(void);

#endif
