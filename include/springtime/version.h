#pragma once

namespace springtime {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace springtime
