#include "arbor_locale.h"

// Runs before main, so that no program can use the store without its services.
__attribute__((constructor)) static void provide(void) { arbor_provide_locale_services(); }
