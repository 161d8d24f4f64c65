#pragma once

#include "springtime/import.h"

namespace springtime {

// Smoothing that moves driven paths further than this says that they are noisy. [m, rms]
double noisy_path(const Sheet& sheet);

// Adds what users should look at to the warnings of a report that is complete otherwise.
void add_warnings(ImportReport& report);

}  // namespace springtime
