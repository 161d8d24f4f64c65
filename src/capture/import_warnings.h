#pragma once

#include "springtime/import.h"

namespace springtime {

// Adds what users should look at to the warnings of a report that is complete otherwise.
void add_warnings(ImportReport& report);

}  // namespace springtime
