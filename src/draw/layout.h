#pragma once

#include "draw/canvas.h"

// What all pictures share, so that they look like one family.
namespace springtime {

inline constexpr int kPageWidth = 1600;  // [pixel]
inline constexpr int kMargin = 24;       // [pixel], around and between panels
inline constexpr int kTextDot = 2;       // [pixel], size of one dot of the font
inline constexpr int kTitleHeight = 26;  // [pixel], a line of text above a panel, with its gap
inline constexpr int kScaleWidth = 840, kScaleHeight = 64;  // [pixel], with caption and numbers

inline constexpr Color kPaper{1, 1, 1};
inline constexpr Color kInk{0.16, 0.19, 0.23};
inline constexpr Color kPanelTop{0.972, 0.978, 0.984};
inline constexpr Color kPanelBottom{0.886, 0.902, 0.921};

}  // namespace springtime
