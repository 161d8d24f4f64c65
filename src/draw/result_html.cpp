#include "draw/result_text.h"
#include "springtime/report.h"

namespace springtime {

namespace {

std::string escaped(const std::string& text)
{
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            default:
                safe += c;
        }
    }
    return safe;
}

std::string html_of(const Result& result);

std::string row_of(const Result::Entry& entry, bool named)
{
    if (entry.value.style().words) {
        return "<tr><td colspan=\"2\">" + escaped(value_text(entry.value)) + "</td></tr>";
    }
    const std::string head = named ? "<th>" + escaped(label_of(entry)) + "</th>" : "";
    return "<tr>" + head + "<td>" + html_of(entry.value) + "</td></tr>";
}

std::string html_of(const Result& result)
{
    if (is_line(result)) {
        const std::string unit = unit_of(result);
        return escaped(value_text(result) + (unit.empty() ? "" : " " + unit));
    }
    std::string text = "<table>";
    std::size_t shown = 0;
    for (const Result::Entry& entry : result.entries()) {
        if (!is_shown(entry.value)) continue;
        if (++shown > result.style().rows && result.is_list()) continue;
        text += row_of(entry, result.is_tree());
    }
    return text + "</table>";
}

}  // namespace

std::string to_html(const Result& result)
{
    const std::string& label = result.style().label;
    const std::string caption = label.empty() ? "" : "<p>" + escaped(label) + "</p>";
    return caption + html_of(result);
}

}  // namespace springtime
