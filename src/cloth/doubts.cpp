#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "springtime/cloth.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// The first of many, and how many more there are.
class Finding {
  public:
    template <class Describe>
    void add(Describe describe)
    {
        if (count_++ == 0) first_ = describe();
    }
    void report(std::vector<std::string>& doubts, std::string_view advice) const
    {
        if (count_ == 0) return;
        const std::string more = count_ == 1 ? "" : fmt::format(", and {} more such", count_ - 1);
        doubts.push_back(fmt::format("{}{}; {}", first_, more, advice));
    }

  private:
    std::size_t count_ = 0;
    std::string first_;
};

double rest_distance(const Cloth& cloth, int a, int b)
{
    const SheetPoint &p = cloth.rest[a], &q = cloth.rest[b];
    return std::hypot(p.u - q.u, p.v - q.v);
}

void look_for_double_springs(const Cloth& cloth, std::vector<std::string>& doubts)
{
    std::map<std::array<int, 2>, std::size_t> seen;
    Finding found;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        auto [a, b] = cloth.springs.ends[s];
        if (a > b) std::swap(a, b);
        const auto [before, is_new] = seen.try_emplace({a, b}, s);
        if (is_new) continue;
        found.add([&, first = before->second, low = a, high = b] {
            return fmt::format("springs {} and {} both join particles {} and {}", first, s, low,
                               high);
        });
    }
    found.report(doubts, "their stiffness adds up");
}

// Half and double: no fabric is that far from flat when it is made.
void look_at_rest_lengths(const Cloth& cloth, std::vector<std::string>& doubts)
{
    Finding found;
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        const auto [a, b] = cloth.springs.ends[s];
        const double length = cloth.springs.rest_length[s], apart = rest_distance(cloth, a, b);
        if (length >= 0.5 * apart && length <= 2 * apart) continue;
        found.add([&] {
            return fmt::format(
                "spring {} has a rest length of {:.4g} m, but its ends are {:.4g} m "
                "apart in the flat sheet",
                s, length, apart);
        });
    }
    found.report(doubts, "the sheet will not rest flat");
}

void look_for_coincident_particles(const Cloth& cloth, std::vector<std::string>& doubts)
{
    const double least = 1e-6 * std::hypot(cloth.sheet.length, cloth.sheet.width);
    std::vector<int> order(cloth.particle_count());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
        const SheetPoint &p = cloth.rest[a], &q = cloth.rest[b];
        return std::tie(p.u, p.v, a) < std::tie(q.u, q.v, b);
    });
    Finding found;
    for (std::size_t i = 1; i < order.size(); ++i) {
        const int a = order[i - 1], b = order[i];
        if (rest_distance(cloth, a, b) > least) continue;
        found.add([&] {
            return fmt::format(
                "particles {} and {} lie at one place of the flat sheet, ({:.4g}, "
                "{:.4g}) m",
                std::min(a, b), std::max(a, b), cloth.rest[b].u, cloth.rest[b].v);
        });
    }
    found.report(doubts, "nothing tells them apart");
}

void look_at_masses(const Cloth& cloth, std::vector<std::string>& doubts)
{
    constexpr double kTolerance = 0.05;
    const double sum = std::accumulate(cloth.mass.begin(), cloth.mass.end(), 0.0);
    if (std::abs(sum - cloth.sheet.mass) <= kTolerance * cloth.sheet.mass) return;
    doubts.push_back(
        fmt::format("the particles weigh {:.4g} kg together, but the sheet says {:.4g} kg; the "
                    "particles count",
                    sum, cloth.sheet.mass));
}

struct Extent {
    double low, high;
    double length() const { return high - low; }
    // Of the i-th of n places that are evenly spread over it.
    double place(int i, int n) const { return n < 2 ? low : low + length() * i / (n - 1); }
};

Extent extent_of(const Cloth& cloth, double SheetPoint::*axis)
{
    Extent extent{cloth.rest[0].*axis, cloth.rest[0].*axis};
    for (const SheetPoint& p : cloth.rest) {
        extent = {std::min(extent.low, p.*axis), std::max(extent.high, p.*axis)};
    }
    return extent;
}

void look_at_size(const Cloth& cloth, std::vector<std::string>& doubts)
{
    constexpr double kTolerance = 0.01;
    const auto look = [&](double SheetPoint::*axis, double size, const char* name) {
        const double length = extent_of(cloth, axis).length();
        if (length <= (1 + kTolerance) * size) return;
        doubts.push_back(fmt::format(
            "rest positions extend over {:.4g} m along {}, but the sheet over {:.4g} m; make them "
            "agree",
            length, name, size));
    };
    look(&SheetPoint::u, cloth.sheet.length, "u");
    look(&SheetPoint::v, cloth.sheet.width, "v");
}

void look_at_grid(const Cloth& cloth, std::vector<std::string>& doubts)
{
    if (!cloth.grid) return;
    const int rows = cloth.grid->rows, cols = cloth.grid->cols;
    const Extent u = extent_of(cloth, &SheetPoint::u), v = extent_of(cloth, &SheetPoint::v);
    const double half_u = 0.5 * u.length() / std::max(1, cols - 1);
    const double half_v = 0.5 * v.length() / std::max(1, rows - 1);
    Finding found;
    for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
        const int row = int(p) / cols, col = int(p) % cols;
        const double place_u = u.place(col, cols), place_v = v.place(row, rows);
        if (std::abs(cloth.rest[p].u - place_u) <= half_u &&
            std::abs(cloth.rest[p].v - place_v) <= half_v) {
            continue;
        }
        found.add([&] {
            return fmt::format(
                "particle {} lies at ({:.4g}, {:.4g}) m, but row {} and column {} "
                "of the grid {} x {} are at ({:.4g}, {:.4g}) m",
                p, cloth.rest[p].u, cloth.rest[p].v, row, col, rows, cols, place_u, place_v);
        });
    }
    found.report(doubts, "leave the grid out or sort the particles");
}

}  // namespace

// Chiffon has 0.02 kg/m^2, heavy leather 5, a rope as thick as it is wide up to some 50.
std::optional<std::string> doubt_about_mass(const Sheet& sheet)
{
    constexpr double kLightest = 1e-3, kHeaviest = 100;  // [kg/m^2]
    const double density = sheet.mass / (sheet.length * sheet.width);
    if (density >= kLightest && density <= kHeaviest) return std::nullopt;
    return fmt::format(
        "{:.4g} kg on {:.4g} x {:.4g} m is {:.3g} kg/m^2, and fabrics have 0.02 to 5; check mass, "
        "length and width, which are in kilograms and metres",
        sheet.mass, sheet.length, sheet.width, density);
}

std::vector<std::string> doubts_of(const Cloth& cloth)
{
    std::vector<std::string> doubts;
    look_for_double_springs(cloth, doubts);
    look_at_rest_lengths(cloth, doubts);
    look_for_coincident_particles(cloth, doubts);
    look_at_masses(cloth, doubts);
    if (const auto doubt = doubt_about_mass(cloth.sheet)) doubts.push_back(*doubt);
    look_at_size(cloth, doubts);
    look_at_grid(cloth, doubts);
    return doubts;
}

}  // namespace springtime
