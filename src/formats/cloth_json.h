#pragma once

#include <string_view>

namespace springtime {

// Whether the text says that it is a cloth; its contents may still be wrong. Throws Error when it
// is not JSON.
bool is_cloth_text(std::string_view text, std::string_view source);

}  // namespace springtime
