#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace springtime {

// A rectangle of values, row 0 at the north edge of the sheet.
struct ValueMap {
    int rows = 0, cols = 0;
    std::vector<double> values;  // rows x cols
};

// A number that varies over the sheet, painted in layers: each layer covers a region of the unit
// square (u to the east, v to the south) and either sets the value there or multiplies it.
class MaterialField {
  public:
    struct Range {
        double from = 0, to = 1;
    };
    // Bands of the full height, by their range of u.
    struct ColumnStripes {
        std::vector<Range> bands;
    };
    // Bands of the full length, by their range of v.
    struct RowStripes {
        std::vector<Range> bands;
    };
    struct Patch {
        Range u, v;
    };
    // Every second square of count x count.
    struct Checker {
        int count = 8;
    };
    struct Everywhere {};
    // Values themselves, interpolated bilinearly between cell centres.
    struct Map {
        ValueMap map;
    };
    using Region = std::variant<Everywhere, ColumnStripes, RowStripes, Patch, Checker, Map>;

    struct Layer {
        Region region;
        double value = 1;         // a Map multiplies its values by this
        bool multiplies = false;  // scale what lies beneath instead of replacing it
    };

    static MaterialField uniform(double value);

    MaterialField& paint(Layer layer);
    double at(double u, double v) const;  // u and v in [0, 1]

  private:
    std::vector<Layer> layers_;
};

// Reads a map file for a `map` layer: values scaled to [low, high] for an image, as they stand for
// a table of numbers (then low and high are not given).
using MapReader =
    std::function<ValueMap(const std::string& path, const MaterialField::Range* range)>;

// Parses the text form, layers separated by ';', for example
//   "25; columns 0.10-0.30 0.70-0.90 = 50; patch 0.34-0.66 0.34-0.66 = x4"
// The grammar is in docs/materials.md. Throws Error with the offending layer.
MaterialField parse_material(std::string_view text, const MapReader& read_map);

}  // namespace springtime
