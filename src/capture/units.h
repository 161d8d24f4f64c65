#pragma once

#include "capture/layout.h"

// The unit of numbers in files that do not state it, from the distances of neighbours.
namespace springtime {

std::string name_of_unit(double metres);

// Sets the unit of the points, which nothing states: `stretch` is how far neighbours are apart, of
// the flat sheet, were they in metres.
void choose_unit(PointLayout& layout, double stretch, std::string_view source, bool trust);

// Throws Error unless a cloth can be stretched like that in the unit that was stated or chosen.
void check_unit(const PointLayout& layout, double stretch, std::string_view source);

// A rest shape as numbers, before its unit is known.
struct UnscaledRest {
    std::string source;
    double length = 0;
    double stretch = 1;  // how far neighbouring points are apart, of this, both as numbers
};
struct RestUnit {
    double metres = 1;
    std::string reason;  // "metres, as given"
};
// In this order: as given; where the unit of the points is not known, as fits the length of the
// sheet; the same as that of the points, where that fits; the one that does. Where nothing decides
// any of them, metres are assumed for a shape of the same unit, if that makes a cloth of a usual
// size. Sets the unit of the points with it where that must be assumed as well.
RestUnit choose_rest_unit(PointLayout& layout, const UnscaledRest& rest,
                          const ImportOptions& options);

}  // namespace springtime
