#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "io/cloth_json.h"
#include "io/text_file.h"
#include "springtime/error.h"
#include "springtime/files.h"
#include "springtime/version.h"

namespace springtime {

namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "springtime-cloth";
constexpr std::string_view kUnits = "m, kg, s, N";
constexpr int kClothVersion = 1;

// ---- Writing

// The shortest text that reads back as the same double. JSON readers take "-0" for the integer 0.
std::string number_text(double value)
{
    if (value == 0 && std::signbit(value)) return "-0.0";
    return fmt::format("{}", value);
}

// A JSON array on lines of at most about 100 columns; `text` gives the text of entry i.
template <class Text>
std::string array_text(std::size_t count, Text text)
{
    constexpr std::size_t kColumns = 100;
    constexpr std::string_view kIndent = "      ";
    std::string out = "[", line;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string entry = text(i) + (i + 1 < count ? "," : "");
        if (!line.empty() && kIndent.size() + line.size() + 1 + entry.size() > kColumns) {
            out += fmt::format("\n{}{}", kIndent, line);
            line.clear();
        }
        line += line.empty() ? entry : " " + entry;
    }
    if (!line.empty()) out += fmt::format("\n{}{}\n    ", kIndent, line);
    return out + "]";
}

std::string array_text(const std::vector<double>& values)
{
    return array_text(values.size(), [&](std::size_t i) { return number_text(values[i]); });
}

std::string particles_text(const Cloth& cloth)
{
    const auto rest = array_text(cloth.particle_count(), [&](std::size_t p) {
        return fmt::format("[{}, {}]", number_text(cloth.rest[p].u), number_text(cloth.rest[p].v));
    });
    const bool uniform = std::all_of(cloth.mass.begin(), cloth.mass.end(),
                                     [&](double mass) { return mass == cloth.mass[0]; });
    return fmt::format("{{\n    \"count\": {},\n    \"rest\": {},\n    \"mass\": {}\n  }}",
                       cloth.particle_count(), rest,
                       uniform ? number_text(cloth.mass[0]) : array_text(cloth.mass));
}

std::string springs_text(const SpringSet& springs)
{
    const auto names = array_text(kSpringFamilies.size(), [](std::size_t i) {
        return fmt::format("\"{}\"", name_of(kSpringFamilies[i]));
    });
    const auto families = array_text(springs.spring_count(), [&](std::size_t s) {
        return fmt::format("{}", static_cast<int>(springs.family[s]));
    });
    const auto ends = array_text(springs.spring_count(), [&](std::size_t s) {
        return fmt::format("[{}, {}]", springs.ends[s][0], springs.ends[s][1]);
    });
    return fmt::format(
        "{{\n    \"count\": {},\n    \"family_names\": {},\n    \"family\": {},\n"
        "    \"ends\": {},\n    \"rest_length\": {},\n    \"stiffness\": {},\n"
        "    \"damping\": {}\n  }}",
        springs.spring_count(), names, families, ends, array_text(springs.rest_length),
        array_text(springs.stiffness), array_text(springs.damping));
}

// ---- Reading

std::string_view kind_name(const json& value)
{
    switch (value.type()) {
        case json::value_t::null:
            return "null";
        case json::value_t::object:
            return "an object";
        case json::value_t::array:
            return "an array";
        case json::value_t::string:
            return "text";
        case json::value_t::boolean:
            return "true or false";
        default:
            return "a number";
    }
}

// A value with the name it has in errors, such as springs.ends[3].
class Node {
  public:
    Node(const json& value, std::string_view source, std::string name)
        : value_(value), source_(source), name_(std::move(name))
    {
    }

    bool is_array() const { return value_.is_array(); }
    bool has(const char* key) const { return value_.is_object() && value_.contains(key); }

    Node operator[](const char* key) const
    {
        const std::string name = name_.empty() ? key : name_ + "." + key;
        if (!value_.is_object()) fail("an object");
        const auto found = value_.find(key);
        if (found == value_.end()) {
            throw Error("{}: '{}' is missing; write it as docs/formats.md says", source_, name);
        }
        return {*found, source_, name};
    }

    Node entry(std::size_t index) const
    {
        return {value_[index], source_, fmt::format("{}[{}]", name_, index)};
    }

    std::size_t array_size() const
    {
        if (!value_.is_array()) fail("an array");
        return value_.size();
    }

    // The size, which has to be `count`.
    void check_size(std::size_t count, std::string_view of) const
    {
        if (array_size() == count) return;
        throw Error("{}: '{}' has {} entries for {} {}; give one each", source_, name_,
                    value_.size(), count, of);
    }

    double number() const
    {
        if (!value_.is_number()) fail("a number");
        return value_.get<double>();
    }

    double positive() const
    {
        const double found = number();
        if (!(found > 0)) {
            throw Error("{}: '{}' is {}; it must be positive", source_, name_, found);
        }
        return found;
    }

    int integer(int least, int most) const
    {
        if (!value_.is_number_integer()) fail("an integer");
        // An unsigned number may exceed what a signed one holds.
        const bool huge = value_.is_number_unsigned() &&
                          value_.get<std::uint64_t>() > std::uint64_t(std::max(most, 0));
        const std::int64_t found = huge ? 0 : value_.get<std::int64_t>();
        if (huge || found < least || found > most) {
            throw Error("{}: '{}' is {}; {} to {} is needed", source_, name_, value_.dump(), least,
                        most);
        }
        return static_cast<int>(found);
    }

    std::string text() const
    {
        if (!value_.is_string()) fail("text");
        return value_.get<std::string>();
    }

    std::vector<double> numbers(std::size_t count, std::string_view of) const
    {
        check_size(count, of);
        std::vector<double> all(count);
        for (std::size_t i = 0; i < count; ++i) {
            all[i] = entry(i).number();
        }
        return all;
    }

    // The two entries of a pair.
    std::array<Node, 2> pair() const
    {
        if (array_size() != 2) {
            throw Error("{}: '{}' has {} entries; two are needed", source_, name_, value_.size());
        }
        return {entry(0), entry(1)};
    }

  private:
    [[noreturn]] void fail(std::string_view needed) const
    {
        throw Error("{}: {} is {}; {} is needed", source_,
                    name_.empty() ? "the whole" : fmt::format("'{}'", name_), kind_name(value_),
                    needed);
    }

    const json& value_;
    std::string_view source_;
    std::string name_;
};

json parse(std::string_view text, std::string_view source)
{
    if (text.empty()) throw Error("{}: is empty; a cloth file is needed, make it again", source);
    try {
        return json::parse(text);
    } catch (const json::parse_error& error) {
        const std::size_t end = std::min<std::size_t>(error.byte, text.size());
        throw Error(
            "{}: is no JSON, from line {} on; a cloth file is needed, copy it or make it"
            " again",
            source, 1 + std::count(text.begin(), text.begin() + end, '\n'));
    } catch (const json::exception& error) {
        throw Error("{}: JSON with a number out of range ({}); make it again", source,
                    error.what());
    }
}

bool is_cloth(const json& document)
{
    const auto format = document.is_object() ? document.find("format") : document.end();
    return document.is_object() && format != document.end() && *format == kFormat;
}

void check_kind(const json& document, const Node& root, std::string_view source)
{
    if (!is_cloth(document)) {
        throw Error("{}: JSON without \"format\": \"{}\"; a cloth file is needed (docs/formats.md)",
                    source, kFormat);
    }
    const int version = root["version"].integer(1, std::numeric_limits<int>::max());
    if (version > kClothVersion) {
        throw Error(
            "{}: cloth file version {}, but springtime {} reads version {};"
            " update springtime",
            source, version, kVersion, kClothVersion);
    }
    if (const std::string units = root["units"].text(); units != kUnits) {
        throw Error("{}: 'units' is \"{}\"; convert all numbers to \"{}\"", source, units, kUnits);
    }
}

// The claimed count must be that of the array, which alone decides how much is allocated.
std::size_t checked_count(const Node& group, const char* array, std::string_view of)
{
    const std::size_t count = group["count"].integer(0, std::numeric_limits<int>::max());
    group[array].check_size(count, of);
    return count;
}

void read_particles(const Node& particles, Cloth& cloth)
{
    const std::size_t count = checked_count(particles, "rest", "particles");
    const Node rest = particles["rest"], mass = particles["mass"];
    for (std::size_t p = 0; p < count; ++p) {
        const auto [u, v] = rest.entry(p).pair();
        cloth.rest.push_back({u.number(), v.number()});
    }
    cloth.mass = mass.is_array() ? mass.numbers(count, "particles")
                                 : std::vector<double>(count, mass.number());
}

SpringFamily family_named(const std::string& name, std::string_view source)
{
    for (const SpringFamily family : kSpringFamilies) {
        if (name == name_of(family)) return family;
    }
    throw Error(
        "{}: unknown spring family \"{}\"; use structural, diagonal, antidiagonal or bending",
        source, name);
}

std::vector<SpringFamily> read_families(const Node& springs, std::size_t count,
                                        std::string_view source)
{
    const Node names = springs["family_names"], indices = springs["family"];
    std::vector<SpringFamily> known;
    for (std::size_t i = 0; i < names.array_size(); ++i) {
        known.push_back(family_named(names.entry(i).text(), source));
    }
    indices.check_size(count, "springs");
    std::vector<SpringFamily> families;
    for (std::size_t s = 0; s < count; ++s) {
        families.push_back(known[indices.entry(s).integer(0, static_cast<int>(known.size()) - 1)]);
    }
    return families;
}

SpringSet read_springs(const Node& springs, std::size_t particle_count, std::string_view source)
{
    SpringSet set;
    const std::size_t count = checked_count(springs, "ends", "springs");
    const Node ends = springs["ends"];
    const int last = static_cast<int>(particle_count) - 1;
    for (std::size_t s = 0; s < count; ++s) {
        const auto [a, b] = ends.entry(s).pair();
        set.ends.push_back({a.integer(0, last), b.integer(0, last)});
    }
    set.family = read_families(springs, count, source);
    set.rest_length = springs["rest_length"].numbers(count, "springs");
    set.stiffness = springs["stiffness"].numbers(count, "springs");
    set.damping = springs["damping"].numbers(count, "springs");
    return set;
}

}  // namespace

bool is_cloth_text(std::string_view text, std::string_view source)
{
    return is_cloth(parse(text, source));
}

std::string cloth_to_json(const Cloth& cloth)
{
    check_cloth(cloth, "cloth");
    const auto grid = cloth.grid ? fmt::format("  \"grid\": {{\"rows\": {}, \"cols\": {}}},\n",
                                               cloth.grid->rows, cloth.grid->cols)
                                 : "";
    return fmt::format(
        "{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"units\": \"{}\",\n"
        "  \"sheet\": {{\"length\": {}, \"width\": {}, \"mass\": {}}},\n{}"
        "  \"particles\": {},\n  \"springs\": {}\n}}\n",
        kFormat, kClothVersion, kUnits, number_text(cloth.sheet.length),
        number_text(cloth.sheet.width), number_text(cloth.sheet.mass), grid, particles_text(cloth),
        springs_text(cloth.springs));
}

Cloth cloth_from_json(std::string_view text, std::string_view source)
{
    const json document = parse(text, source);
    const Node root(document, source, "");
    check_kind(document, root, source);
    Cloth cloth;
    const Node sheet = root["sheet"];
    cloth.sheet = {sheet["length"].positive(), sheet["width"].positive(), sheet["mass"].positive()};
    if (root.has("grid")) {
        const Node grid = root["grid"];
        constexpr int kMost = std::numeric_limits<int>::max();
        cloth.grid = Grid{grid["rows"].integer(1, kMost), grid["cols"].integer(1, kMost)};
    }
    read_particles(root["particles"], cloth);
    cloth.springs = read_springs(root["springs"], cloth.particle_count(), source);
    check_cloth(cloth, source);
    return cloth;
}

void write_cloth(const std::filesystem::path& path, const Cloth& cloth)
{
    write_text(path, cloth_to_json(cloth));
}

Cloth read_cloth(const std::filesystem::path& path)
{
    return cloth_from_json(read_text(path), path.string());
}

}  // namespace springtime
