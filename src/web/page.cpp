#include "web/page.h"

#include "springtime/error.h"

namespace springtime {

namespace {

constexpr std::string_view kMarker =
    R"(<script type="application/octet-stream" id="springtime-data">)";

}  // namespace

std::string filled_page(std::string_view built, const Payload& payload)
{
    const std::size_t at = built.find(kMarker);
    if (at == built.npos || built.find(kMarker, at + 1) != built.npos) {
        throw Failure(
            "the page in this program has no place, or several, for its data; build it again with "
            "scripts/viewer, then the program");
    }
    const std::size_t place = at + kMarker.size();
    std::string page(built.substr(0, place));
    page += base64(payload.bytes());
    page += built.substr(place);
    return page;
}

}  // namespace springtime
