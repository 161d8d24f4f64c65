#include <algorithm>
#include <array>

#include "draw/moduli.h"
#include "springtime/report.h"

namespace springtime {

namespace {

// As the database of Wang, O'Brien and Ramamoorthi has them (Data-Driven Elastic Models for Cloth:
// Modeling and Measurement, SIGGRAPH 2011), in the form in which ARCSim distributes it: stretching
// at zero strain [N/m], and bending at zero curvature of folds along warp and along weft [N m].
struct StoredFabric {
    const char *name, *use, *fibres;
    double density;
    std::array<double, 4> stretching;
    double fold_along_warp, fold_along_weft;
};

constexpr std::array kStored{StoredFabric{"rib knit",
                                          "underwear",
                                          "95 % cotton, 5 % spandex",
                                          0.276,
                                          {42.871021, -0.234556, 65.166023, 83.175644},
                                          46.237591e-6,
                                          32.243889e-6},
                             StoredFabric{"interlock",
                                          "T-shirt",
                                          "60 % cotton, 40 % polyester",
                                          0.187,
                                          {16.593832, -14.695990, 34.477123, 36.860302},
                                          23.191698e-6,
                                          14.267624e-6},
                             StoredFabric{"ponte roma",
                                          "jacket",
                                          "60 % polyester, 40 % rayon",
                                          0.284,
                                          {31.146198, -12.802702, 44.028667, 31.896357},
                                          36.348366e-6,
                                          37.157593e-6},
                             StoredFabric{"sweater knit",
                                          "sweater",
                                          "96 % polyester, 4 % spandex",
                                          0.224,
                                          {12.486332, -19.875324, 3.272434, 17.616289},
                                          59.469658e-6,
                                          45.625023e-6},
                             StoredFabric{"swim knit",
                                          "swimsuit",
                                          "87 % nylon, 13 % spandex",
                                          0.204,
                                          {47.971176, 6.834521, 104.615456, 60.773663},
                                          60.237942e-6,
                                          51.018833e-6},
                             StoredFabric{"jet set",
                                          "jacket",
                                          "100 % polyester",
                                          0.113,
                                          {43.067627, 54.373299, 171.424835, 14.314700},
                                          14.293814e-6,
                                          20.345654e-6},
                             StoredFabric{"ribbon",
                                          "blanket",
                                          "100 % polyester",
                                          0.228,
                                          {151.503906, 106.028160, 244.830673, 30.250183},
                                          117.070122e-6,
                                          59.774277e-6},
                             StoredFabric{"denim, 11 oz",
                                          "jeans",
                                          "99 % cotton, 1 % spandex",
                                          0.324,
                                          {205.352005, 10.234077, 1013.88629, 53.387184},
                                          64.196457e-6,
                                          96.951576e-6},
                             StoredFabric{"dotted weave",
                                          "tablecloth",
                                          "100 % polyester",
                                          0.128,
                                          {2002.08618, 0.345588, 2027.48559, 19.189022},
                                          51.713814e-6,
                                          31.282822e-6},
                             StoredFabric{"target weave",
                                          "trousers",
                                          "65 % cotton, 35 % polyester",
                                          0.220,
                                          {2016.55456, 9.170511, 2034.97644, 104.759674},
                                          125.409805e-6,
                                          125.409805e-6}};

// ARCSim doubles the numbers of stretching, and takes negative ones for zero. Its energy per area
// is then c11 e11^2 + 2 c12 e11 e22 + c22 e22^2 + 2 c66 e12^2, with e12 half of the angle of shear.
MeasuredFabric measured(const StoredFabric& stored)
{
    const auto& [c11, c12, c22, c66] = stored.stretching;
    const double first = 2 * c11, across = 2 * std::max(c12, 0.0), second = 2 * c22;
    MeasuredFabric fabric{stored.name, stored.use, stored.fibres, stored.density};
    fabric.young_warp = young_modulus(first, across, second);
    fabric.young_weft = young_modulus(second, across, first);
    fabric.shear = c66;
    // A fold along the weft curves the warp.
    fabric.bending_warp = kArcsimRigidity * stored.fold_along_weft;
    fabric.bending_weft = kArcsimRigidity * stored.fold_along_warp;
    return fabric;
}

}  // namespace

std::vector<MeasuredFabric> measured_fabrics()
{
    std::vector<MeasuredFabric> all;
    for (const StoredFabric& stored : kStored) all.push_back(measured(stored));
    return all;
}

}  // namespace springtime
