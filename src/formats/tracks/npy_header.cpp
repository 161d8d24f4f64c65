#include "formats/tracks/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "springtime/error.h"

namespace springtime {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMostHeaderBytes = 1 << 16;  // NumPy itself stops reading at 10000
constexpr std::size_t kMostAxes = 32;              // of NumPy

// The few Python literals that np.save writes, and no others: what is evaluated as Python elsewhere
// is only ever compared here.
class LiteralParser {
  public:
    LiteralParser(std::string_view text, std::string_view source) : rest_(text), source_(source) {}

    NpyHeader dictionary()
    {
        NpyHeader header;
        bool type = false, order = false, shape = false;
        expect('{');
        while (!recording('}')) {
            const std::string key = string();
            expect(':');
            if (key == "descr" && !std::exchange(type, true)) {
                header.type = next() == '[' ? list_text() : string();
            } else if (key == "fortran_order" && !std::exchange(order, true)) {
                header.fortran_order = truth();
            } else if (key == "shape" && !std::exchange(shape, true)) {
                header.shape = tuple();
            } else {
                fail(fmt::format("has '{}' twice or where nothing of that name belongs", key));
            }
            if (next() != '}') expect(',');
        }
        if (next() != '\0' || !rest_.empty()) fail("goes on behind its dictionary");
        if (!type || !order || !shape) fail("lacks descr, fortran_order or shape");
        return header;
    }

  private:
    [[noreturn]] void fail(std::string_view found) const
    {
        throw Error("{}: the header of the array {}; what np.save writes is needed; save it again",
                    source_, found);
    }

    // The next character that is not a blank, which stays; zero at the end.
    char next()
    {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size()));
        return rest_.empty() ? '\0' : rest_.front();
    }
    bool recording(char wanted)
    {
        if (next() != wanted || rest_.empty()) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char wanted)
    {
        if (!recording(wanted)) {
            fail(fmt::format("has '{}' where '{}' is needed", printable(rest_.substr(0, 12)),
                             wanted));
        }
    }
    static std::string printable(std::string_view text)
    {
        std::string kept(text);
        std::replace_if(
            kept.begin(), kept.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
        return kept;
    }

    std::string string()
    {
        const char quote = next();
        if (quote != '\'' && quote != '"') fail("lacks a name in quotes");
        const auto end = rest_.find(quote, 1);
        if (end == std::string_view::npos) fail("has a quote without its end");
        const std::string_view inside = rest_.substr(1, end - 1);
        if (inside.find('\\') != std::string_view::npos) fail("has a backslash in a name");
        rest_.remove_prefix(end + 1);
        return printable(inside);
    }

    bool truth()
    {
        next();
        for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)}) {
            if (!rest_.starts_with(word)) continue;
            rest_.remove_prefix(std::string_view(word).size());
            return value;
        }
        fail("has neither True nor False for fortran_order");
    }

    std::vector<std::uint64_t> tuple()
    {
        std::vector<std::uint64_t> values;
        expect('(');
        while (!recording(')')) {
            next();
            std::uint64_t value = 0;
            const auto [end, status] =
                std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
            if (status == std::errc::result_out_of_range) fail("has a shape beyond 64 bits");
            if (status != std::errc()) fail("has a shape that is not a tuple of whole numbers");
            if (values.size() == kMostAxes) fail("has more than 32 axes");
            values.push_back(value);
            rest_.remove_prefix(std::size_t(end - rest_.data()));
            if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2
            if (next() != ')') expect(',');
        }
        return values;
    }

    // The type of an array of structures, as it stands.
    std::string list_text()
    {
        std::size_t at = 0;
        int depth = 0;
        do {
            if (at == rest_.size()) fail("has a list without its end");
            const char c = rest_[at++];
            depth += (c == '[') - (c == ']');
        } while (depth > 0);
        const std::string_view list = rest_.substr(0, at);
        rest_.remove_prefix(at);
        return printable(list);
    }

    std::string_view rest_, source_;
};

std::size_t header_length(ByteSource& source, int major)
{
    char bytes[4];
    const bool wide = major > 1;
    read_exactly(source, bytes, wide ? 4 : 2);
    const auto length = std::size_t(decode_scalar({'u', wide ? 4 : 2, false}, bytes));
    if (length > kMostHeaderBytes) {
        throw Error(
            "{}: says that its header has {} bytes, but {} is the most that an array of "
            "numbers needs; save it again with np.save",
            source.name(), length, kMostHeaderBytes);
    }
    return length;
}

void check_length(const NpyHeader& header, const ByteSource& source)
{
    const auto format = header.scalar_format();
    if (!format) return;
    std::optional<std::uint64_t> needed = checked_product({std::uint64_t(format->bytes)});
    for (const std::uint64_t count : header.shape) {
        if (needed) needed = checked_product({*needed, count});
    }
    if (!needed) {
        throw Error("{}: an array of shape {} is more than any file holds; save it again",
                    source.name(), header.shape_text());
    }
    const std::uint64_t found = source.size() - std::min(source.size(), header.bytes);
    if (found == *needed) return;
    throw Error("{}: {} bytes of numbers, but the shape {} of {} needs {}; {}", source.name(),
                found, header.shape_text(), header.type, *needed,
                found < *needed ? "it was cut short, copy it or save it again"
                                : "save one array alone, or several with np.savez");
}

}  // namespace

std::optional<ScalarFormat> NpyHeader::scalar_format() const
{
    if (type.size() != 3) return std::nullopt;
    const char order = type[0], kind = type[1];
    const int width = type[2] - '0';
    const bool whole = kind == 'i' || kind == 'u';
    const bool sized = width == 4 || width == 8 || (whole && (width == 1 || width == 2));
    if (!sized || (!whole && kind != 'f')) return std::nullopt;
    if (order != '<' && order != '>' && !(order == '|' && width == 1)) return std::nullopt;
    return ScalarFormat{kind, width, order == '>'};
}

std::string NpyHeader::shape_text() const
{
    return shape.empty() ? "()" : fmt::format("{}", fmt::join(shape, " x "));
}

NpyHeader parse_npy_dictionary(std::string_view text, std::string_view source)
{
    return LiteralParser(text, source).dictionary();
}

NpyHeader read_npy_header(ByteSource& source)
{
    char start[8];
    const std::size_t got = source.read(start, sizeof start);
    if (std::string_view(start, std::min(got, kMagic.size())) != kMagic) {
        throw Error(
            "{}: does not begin with the magic of a NumPy array; a file of np.save is "
            "needed",
            source.name());
    }
    const int major = got > 6 ? start[6] : 0, minor = got > 7 ? start[7] : 0;
    if (major < 1 || major > 3 || minor != 0) {
        throw Error("{}: NumPy array of format {}.{}; 1.0, 2.0 or 3.0 is needed; save it again",
                    source.name(), major, minor);
    }
    std::string text(header_length(source, major), '\0');
    read_exactly(source, text.data(), text.size());
    NpyHeader header = parse_npy_dictionary(text, source.name());
    header.bytes = sizeof start + (major > 1 ? 4 : 2) + text.size();
    check_length(header, source);
    return header;
}

}  // namespace springtime
