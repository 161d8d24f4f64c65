// The built pages, byte for byte in the read-only data of the program. The assembler reads the
// files, which takes no time; a compiler needs minutes for an array of a megabyte.

#include "springtime/error.h"
#include "web/page.h"

#define SPRINGTIME_EMBED(name, path)                          \
    asm(".pushsection .rodata\n"                              \
        ".global springtime_" name "_begin, springtime_" name \
        "_end\n"                                              \
        "springtime_" name                                    \
        "_begin:\n"                                           \
        ".incbin \"" path                                     \
        "\"\n"                                                \
        "springtime_" name                                    \
        "_end:\n"                                             \
        ".popsection\n")

#ifdef SPRINGTIME_REPORT_PAGE
SPRINGTIME_EMBED("report_page", SPRINGTIME_REPORT_PAGE);
extern "C" const char springtime_report_page_begin[], springtime_report_page_end[];
#endif
#ifdef SPRINGTIME_LIVE_PAGE
SPRINGTIME_EMBED("live_page", SPRINGTIME_LIVE_PAGE);
extern "C" const char springtime_live_page_begin[], springtime_live_page_end[];
#endif

namespace springtime {

namespace {

std::string_view embedded([[maybe_unused]] Page page)
{
#ifdef SPRINGTIME_REPORT_PAGE
    if (page == Page::report) return {springtime_report_page_begin, springtime_report_page_end};
#endif
#ifdef SPRINGTIME_LIVE_PAGE
    if (page == Page::live) return {springtime_live_page_begin, springtime_live_page_end};
#endif
    return {};
}

}  // namespace

bool has_page(Page page)
{
    return !embedded(page).empty();
}

std::string_view built_page(Page page)
{
    if (!has_page(page)) {
        throw Failure(
            "this build of springtime has no {} was missing when it was built; in its source "
            "folder, "
            "run scripts/setup viewer, then scripts/build",
            page == Page::report ? "report page: npm" : "live page: npm or em++");
    }
    return embedded(page);
}

}  // namespace springtime
