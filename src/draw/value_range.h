#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "springtime/report.h"

namespace springtime {

// The span of many values.
struct ValueRange {
    double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
    std::size_t count = 0;

    void add(double value);
};

// Least, greatest and mean; nothing without values.
Result report_of(const ValueRange& range, const std::string& unit);
Result report_of(const Sheet& sheet);

}  // namespace springtime
