#pragma once

#include <array>
#include <string>
#include <string_view>

#include "springtime/cloth.h"

// What the reader and the writer of cloth files share: docs/formats.md.
namespace springtime {

inline constexpr std::string_view kClothFormat = "springtime-cloth";
inline constexpr std::string_view kClothUnits = "m, kg, s, N";
inline constexpr std::string_view kRanges = "ranges";  // parameters per range of strain
inline constexpr int kRodVersion = 5;                  // of the first files with a rod

// The group of a file that holds the elements of one type.
std::string group_name(Element element);

// The elements whose groups hold standard errors. The first of them that a cloth has also holds the
// noise of the balance of forces.
inline constexpr std::array kErrorGroups{Element::spring, Element::triangle, Element::hinge,
                                         Element::coupling};

// The group with the standard errors of an element: its own, but that of springs for bends.
Element error_group(Element element);

// Whether the text says that it is a cloth; its contents may still be wrong. Throws Error when it
// is not JSON.
bool is_cloth_text(std::string_view text, std::string_view source);

}  // namespace springtime
