// Calls of the system that fail when a test asks for it. See faults.c.
#pragma once

/// The calls on files of the folder so far that could have failed.
long arbor_faults_calls(void);
