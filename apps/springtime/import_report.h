#pragma once

#include <string>

#include "springtime/error.h"
#include "springtime/import.h"
#include "springtime/report.h"

namespace springtime::app {

// What an import found and decided.
Result import_result(const ImportReport& report, const std::string& out);

}  // namespace springtime::app
