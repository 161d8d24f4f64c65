#pragma once

namespace springtime {

// Seven rows of 5 dots above the base line and two below it for descenders.
inline constexpr int kGlyphRows = 9, kGlyphCols = 5;

// Whether a letter is inked there. A letter that the font lacks is drawn as a box.
bool glyph_dot(char letter, int row, int col);

}  // namespace springtime
