#include <algorithm>
#include <string>

#include "draw/fabric.h"
#include "springtime/error.h"

namespace springtime {

namespace {

constexpr int kMostRegions = 12;  // more are no regions but elements of their own

// What common fabrics have of a number.
struct CommonRange {
    double low, high;
};

template <class Number>
CommonRange common_range(const std::vector<MeasuredFabric>& fabrics, Number number)
{
    CommonRange range{number(fabrics.front()).first, number(fabrics.front()).first};
    for (const MeasuredFabric& fabric : fabrics) {
        const auto [a, b] = number(fabric);
        range = {std::min({range.low, a, b}), std::max({range.high, a, b})};
    }
    return range;
}

Result row_of(const FabricValue& value, const std::string& unit,
              const std::optional<CommonRange>& common)
{
    Result row = Result::tree();
    row.add("median", value.median, unit);
    row.add("error", value.error, unit).label("+- of one element");
    row.add("low", value.low, unit).label("from");
    row.add("high", value.high, unit).label("to");
    row.add("mean", value.mean, unit);
    row.add("mean_error", value.mean_error, unit).label("+- of the mean");
    row.add("common_low", common ? Result(common->low) : Result(), unit).label("fabrics: from");
    row.add("common_high", common ? Result(common->high) : Result(), unit).label("to");
    return row;
}

Result numbers_of(const Fabric& fabric, const std::vector<MeasuredFabric>& measured)
{
    using Pair = std::pair<double, double>;
    const CommonRange young = common_range(measured, [](const MeasuredFabric& one) {
        return Pair{one.young_warp, one.young_weft};
    });
    const CommonRange shear = common_range(measured, [](const MeasuredFabric& one) {
        return Pair{one.shear, one.shear};
    });
    const CommonRange bending = common_range(measured, [](const MeasuredFabric& one) {
        return Pair{one.bending_warp, one.bending_weft};
    });
    Result rows = Result::tree();
    const auto add = [&](const char* name, const char* label,
                         const std::optional<FabricValue>& value, const char* unit,
                         const std::optional<CommonRange>& common) {
        rows.add(name, value ? row_of(*value, unit, common) : Result()).label(label);
    };
    add("young_warp", "Young's modulus, warp", fabric.young_warp, "N/m", young);
    add("young_weft", "Young's modulus, weft", fabric.young_weft, "N/m", young);
    add("poisson_warp", "Poisson's ratio, warp", fabric.poisson_warp, "", {});
    add("poisson_weft", "Poisson's ratio, weft", fabric.poisson_weft, "", {});
    add("shear", "shear modulus", fabric.shear, "N/m", shear);
    add("bending_warp", "bending rigidity, warp", fabric.bending_warp, "N m", bending);
    add("bending_weft", "bending rigidity, weft", fabric.bending_weft, "N m", bending);
    add("damping", "damping in the plane", fabric.damping, "N s/m", {});
    add("bending_time", "damping of folds, over stiffness", fabric.bending_time, "s", {});
    return rows;
}

// The first element of every unknown, and the share of the weight that each unknown has.
struct RegionShares {
    std::vector<std::size_t> element;
    std::vector<double> share;
};

RegionShares shares_of(const FabricSamples& samples, int regions)
{
    RegionShares shares{std::vector<std::size_t>(std::size_t(regions)),
                        std::vector<double>(std::size_t(regions), 0)};
    double all = 0;
    for (std::size_t i = samples.value.size(); i-- > 0;) {
        shares.element[std::size_t(samples.unknown[i])] = i;
        shares.share[std::size_t(samples.unknown[i])] += samples.weight[i];
        all += samples.weight[i];
    }
    for (double& share : shares.share) share /= all;
    return shares;
}

struct RegionColumn {
    const char *name, *label, *unit;
    const FabricSamples* samples;
};

// A row for each region, the largest by the weights of `all` first. Nothing where there is one
// region, or where elements have values of their own.
Result regions_of(const std::vector<RegionColumn>& columns, const FabricSamples& all, int regions)
{
    if (regions < 2 || regions > kMostRegions) return {};
    const RegionShares shares = shares_of(all, regions);
    std::vector<std::size_t> order;
    for (std::size_t r = 0; r < shares.share.size(); ++r) order.push_back(r);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return shares.share[a] > shares.share[b];
    });
    Result rows = Result::list();
    for (const std::size_t r : order) {
        Result row = Result::tree();
        row.add("share", shares.share[r]).label("share").percent();
        for (const auto& [name, label, unit, samples] : columns) {
            const std::size_t element = shares.element[r];
            row.add(name, samples->value[element], unit).label(label);
            if (samples->error.empty()) continue;
            row.add(fmt::format("{}_error", name), samples->error[element], unit).label("+-");
        }
        rows.push(row);
    }
    return rows;
}

Result result_of(const std::vector<MeasuredFabric>& fabrics)
{
    Result rows = Result::tree();
    for (const MeasuredFabric& fabric : fabrics) {
        Result row = Result::tree();
        row.add("use", fabric.use);
        row.add("fibres", fabric.fibres);
        row.add("young_warp", fabric.young_warp, "N/m").label("Young, warp");
        row.add("young_weft", fabric.young_weft, "N/m").label("weft");
        row.add("shear", fabric.shear, "N/m");
        row.add("bending_warp", fabric.bending_warp, "N m").label("bending, warp");
        row.add("bending_weft", fabric.bending_weft, "N m").label("weft");
        row.add("density", fabric.density, "kg/m^2");
        rows.add(fabric.name, row);
    }
    return rows;
}

}  // namespace

Result report_fabric(const Cloth& cloth)
{
    const Fabric fabric = fabric_of(cloth);
    const FabricElements elements = fabric_elements(cloth);
    const std::vector<MeasuredFabric> measured = measured_fabrics();
    Result result = Result::tree();
    result.add("orthotropic", fabric.orthotropic).label("stiffness of its own along warp and weft");
    result.add("density", fabric.density, "kg/m^2").label("mass per area");
    result.add("numbers", numbers_of(fabric, measured)).label("over the sheet");
    result
        .add("regions", regions_of({{"young_warp", "Young, warp", "N/m", &elements.young_warp},
                                    {"young_weft", "weft", "N/m", &elements.young_weft},
                                    {"poisson_warp", "Poisson", "", &elements.poisson_warp},
                                    {"shear", "shear", "N/m", &elements.shear},
                                    {"damping", "damping", "N s/m", &elements.damping}},
                                   elements.young_warp, elements.triangle_regions))
        .label("regions of triangles");
    if (!elements.bending_warp.value.empty() && !elements.bending_weft.value.empty()) {
        result
            .add("bending_regions",
                 regions_of({{"bending_warp", "bending, warp", "N m", &elements.bending_warp},
                             {"bending_weft", "weft", "N m", &elements.bending_weft},
                             {"bending_time", "damping", "s", &elements.bending_time}},
                            elements.bending_time, elements.hinge_regions))
            .label("regions of hinges");
    }
    result.add("measured", result_of(measured))
        .label("fabrics that were measured (Wang, O'Brien and Ramamoorthi 2011)");
    return result;
}

}  // namespace springtime
