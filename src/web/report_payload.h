#pragma once

#include "springtime/export.h"
#include "web/payload.h"

namespace springtime {

// All that make_report() puts into the page; viewer/src/report/model.ts has the types.
Payload report_payload(const ReportOptions& options, const Progress& progress);

}  // namespace springtime
