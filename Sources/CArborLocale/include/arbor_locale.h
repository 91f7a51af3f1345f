#ifndef ARBOR_LOCALE_H
#define ARBOR_LOCALE_H

/// Provides the store with the services of ArborLocale, which defines this function.
void arbor_provide_locale_services(void);

#endif
