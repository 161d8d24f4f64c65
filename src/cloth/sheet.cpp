#include "springtime/cloth.h"

#include <cmath>

#include "springtime/error.h"

namespace springtime {

void check_sheet(const Sheet& sheet)
{
    const auto usable = [](double value) { return std::isfinite(value) && value > 0; };
    if (!usable(sheet.length) || !usable(sheet.width) || !usable(sheet.mass)) {
        throw Error(
            "sheet: length {} m, width {} m, mass {} kg; all three must be finite and positive",
            sheet.length, sheet.width, sheet.mass);
    }
}

}  // namespace springtime
