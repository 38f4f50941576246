// Keeps Foundation from reading behind a directory's last entry. See foundationguard.c.
#ifndef PHOTOD_FOUNDATIONGUARD_H
#define PHOTOD_FOUNDATIONGUARD_H

/// Does nothing. A call links readdir(3) of this target into the tests.
void foundationguard_use(void);

#endif
