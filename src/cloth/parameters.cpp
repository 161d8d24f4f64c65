#include <fmt/format.h>

#include <limits>

#include "springtime/cloth.h"

namespace springtime {

namespace {

using Values = std::vector<double>&;
using enum ParameterRole;
using enum ParameterPresence;
constexpr Element kSpring = Element::spring, kBend = Element::bend, kTriangle = Element::triangle,
                  kHinge = Element::hinge, kCoupling = Element::coupling;
constexpr double kAny = -std::numeric_limits<double>::infinity();

// Every kind of parameter that an element can have. The kinds of an element come in the
// order of its adjoint in physics/.
constexpr std::array kKinds{
    ParameterKind{"stiffness", "stiffness", "N/m", kSpring, stiffness, always, 0, true, 1,
                  "slope of the force over the length, outside of all ranges of strain",
                  [](Cloth& cloth, std::size_t) -> Values { return cloth.springs.stiffness; }},
    ParameterKind{"damping", "damping", "N s/m", kSpring, damping, always, 0, true, 1,
                  "force per speed at which the ends part, along the spring",
                  [](Cloth& cloth, std::size_t) -> Values { return cloth.springs.damping; }},
    ParameterKind{"range_stiffness", "stiffness", "N/m", kSpring, stiffness, per_range, 0, true, 3,
                  "slope of the force over the length within a range of strain",
                  [](Cloth& cloth, std::size_t range) -> Values {
                      return cloth.springs.ranges[range].stiffness;
                  }},
    ParameterKind{
        "isotropic_damping", "isotropic damping", "N s/m", kSpring, damping, optional, 0, true, 3,
        "force per relative velocity of the ends, in all directions",
        [](Cloth& cloth, std::size_t) -> Values { return cloth.springs.isotropic_damping; }},
    ParameterKind{"bending_stiffness", "bending stiffness", "N/m", kBend, stiffness, always, 0,
                  true, 4, "kappa: force per second difference of three neighbours in line",
                  [](Cloth& cloth, std::size_t) -> Values { return cloth.bends.stiffness; }},
    ParameterKind{"bending_damping", "bending damping", "N s/m", kBend, damping, always, 0, true, 4,
                  "eta: force per rate of the second difference of three neighbours in line",
                  [](Cloth& cloth, std::size_t) -> Values { return cloth.bends.damping; }},
    ParameterKind{
        "shear_stiffness", "shear stiffness", "N/m", kTriangle, stiffness, always, 0, true, 2,
        "mu: resistance to shear in the plane of the sheet",
        [](Cloth& cloth, std::size_t) -> Values { return cloth.triangles.shear_stiffness; }},
    ParameterKind{
        "area_stiffness", "area stiffness", "N/m", kTriangle, stiffness, always, 0, true, 2,
        "lambda: resistance to a change of area",
        [](Cloth& cloth, std::size_t) -> Values { return cloth.triangles.area_stiffness; }},
    ParameterKind{"damping", "damping", "N s/m", kTriangle, damping, always, 0, true, 2,
                  "gamma: resistance to the rate of deformation",
                  [](Cloth& cloth, std::size_t) -> Values { return cloth.triangles.damping; }},
    ParameterKind{
        "warp_stiffness", "warp stiffness", "N/m", kTriangle, stiffness, optional, 0, true, 6,
        "added resistance to stretch along u",
        [](Cloth& cloth, std::size_t) -> Values { return cloth.triangles.warp_stiffness; }},
    ParameterKind{
        "weft_stiffness", "weft stiffness", "N/m", kTriangle, stiffness, optional, 0, true, 6,
        "added resistance to stretch along v",
        [](Cloth& cloth, std::size_t) -> Values { return cloth.triangles.weft_stiffness; }},
    ParameterKind{"stiffness", "stiffness", "N m", kHinge, stiffness, always, 0, true, 2,
                  "moment per angle of the fold",
                  [](Cloth& cloth, std::size_t) -> Values { return cloth.hinges.stiffness; }},
    ParameterKind{"damping", "damping", "N m s", kHinge, damping, always, 0, true, 2,
                  "moment per angular velocity of the fold",
                  [](Cloth& cloth, std::size_t) -> Values { return cloth.hinges.damping; }},
    ParameterKind{"coupling", "coupling", "N/m", kCoupling, stiffness, always, kAny, true, 6,
                  "c: energy per product of the stretches of two edges",
                  [](Cloth& cloth, std::size_t) -> Values { return cloth.couplings.stiffness; }},
};

}  // namespace

std::span<const ParameterKind> parameter_kinds()
{
    return kKinds;
}

std::string_view name_of(Element element)
{
    switch (element) {
        case Element::spring:
            return "spring";
        case Element::bend:
            return "bend";
        case Element::triangle:
            return "triangle";
        case Element::hinge:
            return "hinge";
        case Element::coupling:
            return "coupling";
    }
    return "unknown";
}

std::size_t element_count(const Cloth& cloth, Element element)
{
    switch (element) {
        case Element::spring:
            return cloth.springs.spring_count();
        case Element::bend:
            return cloth.bends.bend_count();
        case Element::triangle:
            return cloth.triangles.triangle_count();
        case Element::hinge:
            return cloth.hinges.hinge_count();
        case Element::coupling:
            return cloth.couplings.coupling_count();
    }
    return 0;
}

std::vector<Parameter> parameters_in(const Cloth& cloth, Element element)
{
    std::vector<Parameter> all;
    std::size_t slot = 0;
    for (const ParameterKind& kind : kKinds) {
        if (kind.element != element) continue;
        const std::size_t count = kind.presence == per_range ? cloth.springs.ranges.size() : 1;
        for (std::size_t range = 0; range < count; ++range) {
            const Parameter parameter{&kind, range, slot++};
            const bool absent = kind.presence == optional && values_of(cloth, parameter).empty();
            if (!absent) all.push_back(parameter);
        }
    }
    return all;
}

std::vector<Parameter> parameters_in(const Cloth& cloth)
{
    std::vector<Parameter> all;
    for (const Element element : kElements) {
        if (element_count(cloth, element) == 0) continue;
        const std::vector<Parameter> some = parameters_in(cloth, element);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::vector<Parameter> learned_parameters(const Cloth& cloth)
{
    std::vector<Parameter> all = parameters_in(cloth);
    std::erase_if(all, [](const Parameter& parameter) { return !parameter.kind->learned; });
    return all;
}

std::vector<double>& values_of(Cloth& cloth, const Parameter& parameter)
{
    return parameter.kind->values(cloth, parameter.range);
}

const std::vector<double>& values_of(const Cloth& cloth, const Parameter& parameter)
{
    return values_of(const_cast<Cloth&>(cloth), parameter);  // the table only says where they lie
}

std::string label_of(const Cloth& cloth, const Parameter& parameter)
{
    if (!parameter.in_range()) return std::string(parameter.kind->label);
    const StiffnessRange& range = cloth.springs.ranges[parameter.range];
    return fmt::format("{} from strain {} to {}", parameter.kind->label, range.from, range.to);
}

std::vector<ElementFamily> families_of(const Cloth& cloth, Element element)
{
    std::vector<ElementFamily> families;
    const auto add_all = [&](const auto& kinds, const auto& family_of) {
        for (const auto family : kinds) families.push_back({name_of(family), {}});
        for (std::size_t e = 0; e < family_of.size(); ++e) {
            families[std::size_t(family_of[e])].members.push_back(e);
        }
    };
    if (element == Element::spring) {
        add_all(kSpringFamilies, cloth.springs.family);
    } else if (element == Element::bend) {
        add_all(kBendFamilies, cloth.bends.family);
    } else {
        families.push_back({name_of(element), {}});
        for (std::size_t e = 0; e < element_count(cloth, element); ++e) {
            families[0].members.push_back(e);
        }
    }
    std::erase_if(families, [](const ElementFamily& family) { return family.members.empty(); });
    return families;
}

ParameterValues parameters_of(const Cloth& cloth)
{
    ParameterValues values;
    for (const Parameter& parameter : learned_parameters(cloth)) {
        values.push_back(values_of(cloth, parameter));
    }
    return values;
}

void set_parameters(Cloth& cloth, const ParameterValues& values)
{
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (std::size_t i = 0; i < parameters.size(); ++i) values_of(cloth, parameters[i]) = values[i];
}

}  // namespace springtime
