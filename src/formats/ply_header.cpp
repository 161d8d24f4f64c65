#include "formats/ply_header.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/text.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// Far more than any program writes.
constexpr std::size_t kMostElements = 100, kMostProperties = 1000;

// Takes the header line by line.
class HeaderParser {
  public:
    HeaderParser(std::string_view bytes, std::string_view source) : rest_(bytes), source_(source) {}

    PlyHeader parse()
    {
        if (next_line() != "ply") {
            throw Error("{}: does not begin with the line 'ply'; a PLY file is needed", source_);
        }
        const std::size_t all = taken_ + rest_.size();
        for (;;) {
            std::string_view line = next_line();
            const std::string_view word = next_word(line);
            if (word == "end_header") break;
            if (word == "comment" || word == "obj_info" || word.empty()) continue;
            if (word == "format")
                take_format(line);
            else if (word == "element")
                take_element(line);
            else if (word == "property")
                take_property(line);
            else
                fail("begins with '{}'; format, element, property or comment", word);
        }
        if (!format_) {
            throw Error("{}: no format line; 'format ascii 1.0' or a binary one is needed",
                        source_);
        }
        header_.bytes = all - rest_.size();
        return header_;
    }

  private:
    template <class... Args>
    [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const
    {
        throw Error("{}:{}: {} is needed in the header of a PLY file; export it again", source_,
                    line_, fmt::format(text, std::forward<Args>(args)...));
    }

    // Without its end, which may be of Windows.
    std::string_view next_line()
    {
        const auto end = rest_.find('\n');
        if (end == std::string_view::npos) {
            if (line_ == 0) return rest_;
            throw Error(
                "{}: the header of a PLY file ends at line {} without 'end_header'; copy "
                "it or export it again",
                source_, line_ + 1);
        }
        std::string_view line = rest_.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        rest_.remove_prefix(end + 1);
        taken_ += end + 1;
        ++line_;
        return line;
    }

    void take_format(std::string_view line)
    {
        const std::string_view kind = next_word(line), version = next_word(line);
        const bool known =
            kind == "ascii" || kind == "binary_little_endian" || kind == "binary_big_endian";
        if (!known || version != "1.0" || format_) {
            fail(
                "format is '{} {}'; one of ascii, binary_little_endian or binary_big_endian 1.0, "
                "once,",
                kind, version);
        }
        if (!header_.elements.empty()) fail("format comes late; its line before all elements");
        format_ = true;
        header_.ascii = kind == "ascii";
        big_ = kind == "binary_big_endian";
    }

    void take_element(std::string_view line)
    {
        PlyElement element;
        element.name = next_word(line);
        const std::string_view digits = next_word(line);
        const auto [end, status] =
            std::from_chars(digits.data(), digits.data() + digits.size(), element.count);
        if (!format_ || element.name.empty() || digits.empty() || status != std::errc() ||
            end != digits.data() + digits.size()) {
            fail("element '{}' has the count '{}'; a name and a whole number, behind the format,",
                 element.name, digits);
        }
        for (const PlyElement& other : header_.elements) {
            if (other.name == element.name) fail("element {} comes twice; once", element.name);
        }
        if (header_.elements.size() == kMostElements) {
            fail("has more than {} elements; fewer", kMostElements);
        }
        header_.elements.push_back(std::move(element));
    }

    ScalarFormat scalar(std::string_view type) const
    {
        static const std::map<std::string_view, ScalarFormat> known = {
            {"char", {'i', 1}},   {"int8", {'i', 1}},    {"uchar", {'u', 1}},
            {"uint8", {'u', 1}},  {"short", {'i', 2}},   {"int16", {'i', 2}},
            {"ushort", {'u', 2}}, {"uint16", {'u', 2}},  {"int", {'i', 4}},
            {"int32", {'i', 4}},  {"uint", {'u', 4}},    {"uint32", {'u', 4}},
            {"float", {'f', 4}},  {"float32", {'f', 4}}, {"double", {'f', 8}},
            {"float64", {'f', 8}}};
        const auto found = known.find(type);
        if (found == known.end()) fail("property of type '{}'; char, int, float, double ...", type);
        ScalarFormat format = found->second;
        format.big = big_;
        return format;
    }

    void take_property(std::string_view line)
    {
        if (header_.elements.empty()) fail("property of no element; an element line before it");
        PlyProperty property;
        std::string_view type = next_word(line);
        property.list = type == "list";
        if (property.list) {
            property.count = scalar(next_word(line));
            if (property.count.kind == 'f') fail("list with a count of floats; a whole number");
            type = next_word(line);
        }
        property.value = scalar(type);
        property.name = next_word(line);
        auto& properties = header_.elements.back().properties;
        if (properties.size() == kMostProperties) {
            fail("has more than {} properties in element {}; fewer", kMostProperties,
                 header_.elements.back().name);
        }
        const bool twice =
            std::any_of(properties.begin(), properties.end(),
                        [&](const PlyProperty& other) { return other.name == property.name; });
        if (property.name.empty() || twice) {
            fail("property '{}' comes twice or has no name; a name of its own", property.name);
        }
        properties.push_back(std::move(property));
    }

    std::string_view rest_, source_;
    std::size_t taken_ = 0, line_ = 0;
    PlyHeader header_;
    bool format_ = false, big_ = false;
};

}  // namespace

bool PlyElement::has_list() const
{
    return std::any_of(properties.begin(), properties.end(),
                       [](const PlyProperty& property) { return property.list; });
}

PlyHeader parse_ply_header(std::string_view bytes, std::string_view source)
{
    return HeaderParser(bytes, source).parse();
}

}  // namespace springtime
