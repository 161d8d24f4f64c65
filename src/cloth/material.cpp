#include "springtime/cloth.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "core/read_number.h"
#include "core/text.h"
#include "springtime/error.h"

namespace springtime {

namespace {

using Range = MaterialField::Range;
using Layer = MaterialField::Layer;
using Region = MaterialField::Region;

// Spring midpoints often lie on an edge up to rounding, which must not decide between two bands.
// All edges move together, so that neighbours still share nothing.
constexpr double kEdgeSlack = 1e-9;

constexpr int kMaxChecker = 4096;

constexpr std::string_view kForms =
    "write layers separated by ';', each of them VALUE, columns U0-U1 ... = VALUE, "
    "rows V0-V1 ... = VALUE, patch U0-U1 V0-V1 = VALUE, checker N = VALUE, "
    "map FILE.png LOW-HIGH or map FILE.csv, where xVALUE multiplies what lies beneath";

// Half open, except that the last band owns the edge of the sheet.
bool contains(const Range& range, double t)
{
    return t >= range.from - kEdgeSlack && (t < range.to - kEdgeSlack || range.to >= 1);
}

bool contains(const std::vector<Range>& bands, double t)
{
    return std::any_of(bands.begin(), bands.end(),
                       [t](const Range& band) { return contains(band, t); });
}

int checker_index(int count, double t)
{
    return std::min(static_cast<int>((t + kEdgeSlack) * count), count - 1);
}

// The two cells whose centres enclose t, and the share of the second. Beyond the outermost centres
// the value stays constant.
struct Between {
    int first, second;
    double share;
};

Between between_centres(int count, double t)
{
    const double cell = std::clamp(t * count - 0.5, 0.0, count - 1.0);
    const int first = std::min(static_cast<int>(cell), std::max(count - 2, 0));
    return {first, std::min(first + 1, count - 1), cell - first};
}

double mix(double a, double b, double share)
{
    return (1 - share) * a + share * b;
}

double interpolate(const ValueMap& map, double u, double v)
{
    const Between col = between_centres(map.cols, u), row = between_centres(map.rows, v);
    const auto along_row = [&](int r) {
        const double* values = map.values.data() + std::size_t(r) * map.cols;
        return mix(values[col.first], values[col.second], col.share);
    };
    return mix(along_row(row.first), along_row(row.second), row.share);
}

// What a layer paints at (u, v); nothing where it does not reach.
struct PaintAt {
    double u, v, value;

    std::optional<double> when(bool covered) const
    {
        return covered ? std::optional(value) : std::nullopt;
    }
    std::optional<double> operator()(const MaterialField::Everywhere&) const { return value; }
    std::optional<double> operator()(const MaterialField::ColumnStripes& stripes) const
    {
        return when(contains(stripes.bands, u));
    }
    std::optional<double> operator()(const MaterialField::RowStripes& stripes) const
    {
        return when(contains(stripes.bands, v));
    }
    std::optional<double> operator()(const MaterialField::Patch& patch) const
    {
        return when(contains(patch.u, u) && contains(patch.v, v));
    }
    std::optional<double> operator()(const MaterialField::Checker& checker) const
    {
        return when((checker_index(checker.count, u) + checker_index(checker.count, v)) % 2 == 0);
    }
    std::optional<double> operator()(const MaterialField::Map& layer) const
    {
        return value * interpolate(layer.map, u, v);
    }
};

bool usable(double value)
{
    return std::isfinite(value) && value >= 0;
}

// Says what is wrong with a region; empty when nothing is.
struct FaultOf {
    std::string operator()(const MaterialField::Everywhere&) const { return {}; }
    std::string operator()(const Range& range) const
    {
        // Written so that a NaN fails.
        if (range.from >= 0 && range.from < range.to && range.to <= 1) return {};
        return fmt::format("range {}-{} must ascend and lie within 0-1", range.from, range.to);
    }
    std::string operator()(const std::vector<Range>& bands) const
    {
        if (bands.empty()) return "no band is given";
        for (const Range& band : bands) {
            if (std::string fault = (*this)(band); !fault.empty()) return fault;
        }
        return {};
    }
    std::string operator()(const MaterialField::ColumnStripes& stripes) const
    {
        return (*this)(stripes.bands);
    }
    std::string operator()(const MaterialField::RowStripes& stripes) const
    {
        return (*this)(stripes.bands);
    }
    std::string operator()(const MaterialField::Patch& patch) const
    {
        return (*this)(std::vector<Range>{patch.u, patch.v});
    }
    std::string operator()(const MaterialField::Checker& checker) const
    {
        if (checker.count >= 1 && checker.count <= kMaxChecker) return {};
        return fmt::format("a checker of {} squares a side must have 1 to {}", checker.count,
                           kMaxChecker);
    }
    std::string operator()(const MaterialField::Map& layer) const
    {
        const ValueMap& map = layer.map;
        if (map.rows < 1 || map.cols < 1 || map.values.size() != std::size_t(map.rows) * map.cols) {
            return fmt::format("a map of {} x {} cells holds {} values, and must hold one a cell",
                               map.rows, map.cols, map.values.size());
        }
        const auto bad = std::find_if_not(map.values.begin(), map.values.end(), usable);
        if (bad == map.values.end()) return {};
        const auto index = bad - map.values.begin();
        return fmt::format(
            "the map holds {} in row {}, column {}, and must hold finite values >= 0", *bad,
            index / map.cols + 1, index % map.cols + 1);
    }
};

std::string fault_of(const Layer& layer)
{
    if (!usable(layer.value)) {
        return fmt::format("value {} must be finite and not negative", layer.value);
    }
    return std::visit(FaultOf{}, layer.region);
}

// Lines may be broken anywhere.
std::string_view without_blanks(std::string_view text)
{
    return trimmed(text, " \t\r\n");
}

std::vector<std::string_view> words_of(std::string_view text)
{
    std::vector<std::string_view> words;
    for (text = without_blanks(text); !text.empty(); text = without_blanks(text)) {
        words.push_back(text.substr(0, text.find_first_of(" \t\r\n")));
        text.remove_prefix(words.back().size());
    }
    return words;
}

// Takes a number off the front of `text`.
std::optional<double> take_number(std::string_view& text)
{
    double value = 0;
    const auto [end, status] = read_number(text.data(), text.data() + text.size(), value);
    if (status != std::errc()) return std::nullopt;
    text.remove_prefix(end - text.data());
    return value;
}

std::optional<Range> range_of(std::string_view text)
{
    const auto from = take_number(text);
    if (!from || !text.starts_with('-')) return std::nullopt;
    text.remove_prefix(1);
    const auto to = take_number(text);
    if (!to || !text.empty()) return std::nullopt;
    return Range{*from, *to};
}

// One layer of the text, read word by word; every complaint quotes it.
class LayerParser {
  public:
    LayerParser(std::string_view text, const MapReader& read_map) : text_(text), read_map_(read_map)
    {
    }

    Layer parse() const
    {
        Layer layer = read();
        if (const std::string fault = fault_of(layer); !fault.empty()) fail(fault);
        return layer;
    }

    [[noreturn]] void fail(std::string_view fault) const
    {
        throw Error("material layer '{}': {}; {}", text_, fault, kForms);
    }

  private:
    Layer read() const
    {
        const auto equals = text_.rfind('=');
        const bool has_amount = equals != std::string_view::npos;
        const std::string_view head = without_blanks(text_.substr(0, equals));
        const std::string_view amount = has_amount ? without_blanks(text_.substr(equals + 1)) : "";
        const auto words = words_of(head);
        if (!words.empty() && words[0] == "map") return map(head, words, has_amount, amount);
        if (!has_amount) return everywhere(words);
        Layer layer;
        layer.region = region(words);
        set_amount(layer, amount);
        return layer;
    }

    Layer everywhere(const std::vector<std::string_view>& words) const
    {
        Layer layer;
        layer.region = MaterialField::Everywhere{};
        if (words.size() != 1) fail("a region needs '= VALUE'");
        set_amount(layer, words[0]);
        return layer;
    }

    Region region(const std::vector<std::string_view>& words) const
    {
        if (words.empty()) fail("no region stands before '='");
        if (words[0] == "columns") return MaterialField::ColumnStripes{ranges(words)};
        if (words[0] == "rows") return MaterialField::RowStripes{ranges(words)};
        if (words[0] == "patch") {
            const auto sides = ranges(words);
            if (sides.size() != 2) {
                fail(fmt::format("a patch needs 2 ranges, not {}", sides.size()));
            }
            return MaterialField::Patch{sides[0], sides[1]};
        }
        if (words[0] == "checker") return checker(words);
        fail(fmt::format("unknown region '{}'", words[0]));
    }

    std::vector<Range> ranges(const std::vector<std::string_view>& words) const
    {
        std::vector<Range> found;
        for (std::size_t w = 1; w < words.size(); ++w) {
            const auto range = range_of(words[w]);
            if (!range) fail(fmt::format("'{}' is no range FROM-TO", words[w]));
            found.push_back(*range);
        }
        return found;
    }

    MaterialField::Checker checker(const std::vector<std::string_view>& words) const
    {
        if (words.size() != 2) fail("a checker needs one number of squares a side");
        int count = 0;
        const char* last = words[1].data() + words[1].size();
        const auto [end, status] = std::from_chars(words[1].data(), last, count);
        if (status != std::errc() || end != last) {
            fail(fmt::format("'{}' is no whole number of squares", words[1]));
        }
        return {count};
    }

    // The path is whatever stands between `map` and the range, so that it may contain blanks.
    Layer map(std::string_view head, const std::vector<std::string_view>& words, bool has_amount,
              std::string_view amount) const
    {
        const std::optional<Range> range = range_of(words.back());
        if (range && !(usable(range->from) && usable(range->to))) {
            fail(fmt::format("range {} must hold finite values >= 0", words.back()));
        }
        head.remove_prefix(words[0].size());
        if (range) head.remove_suffix(words.back().size());
        const std::string path(without_blanks(head));
        if (path.empty()) fail("a map needs a file");
        Layer layer;
        if (amount == "x") {
            layer.multiplies = true;
        } else if (has_amount) {
            set_amount(layer, amount);
        }
        if (!read_map_) fail("maps cannot be read here");
        layer.region = MaterialField::Map{read_map_(path, range)};
        return layer;
    }

    void set_amount(Layer& layer, std::string_view amount) const
    {
        std::string_view digits = amount;
        layer.multiplies = digits.starts_with('x');
        if (layer.multiplies) digits.remove_prefix(1);
        const auto value = take_number(digits);
        if (!value || !digits.empty()) fail(fmt::format("'{}' is no value", amount));
        layer.value = *value;
    }

    std::string_view text_;
    const MapReader& read_map_;
};

bool covers_everything(const Layer& layer)
{
    return std::holds_alternative<MaterialField::Everywhere>(layer.region) ||
           std::holds_alternative<MaterialField::Map>(layer.region);
}

}  // namespace

MaterialField MaterialField::uniform(double value)
{
    MaterialField field;
    field.paint({Everywhere{}, value, false});
    return field;
}

MaterialField& MaterialField::paint(Layer layer)
{
    if (const std::string fault = fault_of(layer); !fault.empty()) {
        throw Error("material layer {}: {}", layers_.size() + 1, fault);
    }
    layers_.push_back(std::move(layer));
    return *this;
}

double MaterialField::at(double u, double v) const
{
    if (!std::isfinite(u) || !std::isfinite(v)) {
        throw Error("material: asked for the value at ({}, {}); both must be within 0 to 1", u, v);
    }
    // A midpoint on the edge may lie outside by rounding.
    u = std::clamp(u, 0.0, 1.0);
    v = std::clamp(v, 0.0, 1.0);
    double value = 0;
    for (const Layer& layer : layers_) {
        const auto painted = std::visit(PaintAt{u, v, layer.value}, layer.region);
        if (painted) value = layer.multiplies ? value * *painted : *painted;
    }
    return value;
}

MaterialField parse_material(std::string_view text, const MapReader& read_map)
{
    MaterialField field;
    for (std::size_t start = 0, number = 1; start <= text.size(); ++number) {
        const auto end = std::min(text.find(';', start), text.size());
        const auto layer_text = without_blanks(text.substr(start, end - start));
        start = end + 1;
        if (layer_text.empty()) {
            throw Error("material '{}': layer {} is empty; {}", text, number, kForms);
        }
        const LayerParser parser(layer_text, read_map);
        Layer layer = parser.parse();
        // A region alone would leave the rest of the sheet without any stiffness, unnoticed.
        if (number == 1 && (layer.multiplies || !covers_everything(layer))) {
            parser.fail("nothing lies beneath the first layer, begin with a value for everywhere");
        }
        field.paint(std::move(layer));
    }
    return field;
}

}  // namespace springtime
