#include "formats/tracks/csv_clock.h"

namespace springtime {

CsvClock CsvClock::of_frames()
{
    CsvClock clock;
    clock.from_first_ = true;
    return clock;
}

CsvClock CsvClock::of_times(std::optional<double> unit, double first,
                            std::vector<std::string>& remarks)
{
    CsvClock clock;
    clock.has_times_ = true;
    // In seconds 1e11 is the year 5138, so larger ones count something smaller.
    if (!unit && first > 1e15) {
        unit = 1e-9;
        remarks.push_back("Times are so large that they were taken for nanoseconds.");
    } else if (!unit && first > 1e11) {
        unit = 1e-3;
        remarks.push_back("Times are so large that they were taken for milliseconds.");
    }
    clock.unit_ = unit.value_or(1);
    // Nanoseconds since 1970 in seconds would leave a double only tenths of microseconds.
    clock.from_first_ = clock.unit_ < 1e-7;
    return clock;
}

double CsvClock::read(double value)
{
    if (!from_first_) return unit_ * value;
    if (!first_) first_ = value;
    return unit_ * (value - *first_);
}

}  // namespace springtime
