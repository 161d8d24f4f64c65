#pragma once

#include <string>
#include <string_view>

#include "web/payload.h"

// Pages that are built into the program (viewer/, scripts/viewer), and how one is filled.
namespace springtime {

enum class Page { report, live };

// Whether this build has the page: where npm was missing, it has none.
bool has_page(Page page);

// The page as it was built, without data. Throws Failure where this build has none.
std::string_view built_page(Page page);

// One file of HTML: the built page with the payload in its place.
std::string filled_page(std::string_view built, const Payload& payload);

}  // namespace springtime
