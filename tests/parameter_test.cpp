// The table of parameter kinds, and the parameters that a cloth has.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <tuple>

#include "cloths.h"
#include "learn/unknowns.h"
#include "physics/bend.h"
#include "physics/spring.h"

namespace springtime {

namespace {

std::vector<std::string> names_of(const std::vector<Parameter>& parameters)
{
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters) names.emplace_back(parameter.kind->name);
    return names;
}

TEST(ParameterKinds, HaveNamesThatAreTheirOwnAmongThoseOfTheirElement)
{
    std::set<std::tuple<Element, std::string_view>> seen;
    for (const ParameterKind& kind : parameter_kinds()) {
        EXPECT_TRUE(seen.insert({kind.element, kind.name}).second) << kind.name;
        EXPECT_FALSE(kind.label.empty() || kind.unit.empty() || kind.meaning.empty()) << kind.name;
        // The sparse solver knows no other bound (learn/bounded_system.h). Couplings have either
        // sign.
        const double none = -std::numeric_limits<double>::infinity();
        EXPECT_EQ(kind.lower_bound, kind.element == Element::coupling ? none : 0) << kind.name;
    }
}

TEST(Parameters, OfSpringsComeInTheOrderOfTheTable)
{
    Cloth cloth = chain_cloth(3, 1, 1, 20, 2);
    EXPECT_EQ(names_of(learned_parameters(cloth)),
              (std::vector<std::string>{"stiffness", "damping"}));
    set_law(cloth, {{-0.2, 0, 0.1}, true});
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    EXPECT_EQ(
        names_of(parameters),
        (std::vector<std::string>{"stiffness", "damping", "range_stiffness", "range_stiffness",
                                  "range_stiffness", "isotropic_damping"}));
    const bool damping[] = {false, true, false, false, false, true};
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        EXPECT_EQ(parameters[k].is_damping(), damping[k]) << k;
        EXPECT_EQ(parameters[k].slot, k) << k;
    }
    EXPECT_EQ(&values_of(cloth, parameters[0]), &cloth.springs.stiffness);
    EXPECT_EQ(&values_of(cloth, parameters[3]), &cloth.springs.ranges[1].stiffness);
    EXPECT_EQ(&values_of(cloth, parameters[5]), &cloth.springs.isotropic_damping);
    EXPECT_EQ(label_of(cloth, parameters[4]), "stiffness from strain 0.1 to inf");
    EXPECT_EQ(label_of(cloth, parameters[5]), "isotropic damping");
}

TEST(Parameters, KeepTheirSlotsInTheFormulaWhereOthersAreAbsent)
{
    Cloth cloth = chain_cloth(3, 1, 1, 20, 2);
    set_law(cloth, {{}, true});
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    EXPECT_EQ(names_of(parameters),
              (std::vector<std::string>{"stiffness", "damping", "isotropic_damping"}));
    EXPECT_EQ(parameters[2].slot, std::size_t(kFirstRangeSlot));
    set_law(cloth, {{0}, false});
    EXPECT_EQ(learned_parameters(cloth).back().slot, std::size_t(kFirstRangeSlot));
}

// The adjoint hands back the gradient by every parameter in the order of the slots: by central
// differences of s.f, which is linear in each of them, to rounding.
TEST(Parameters, HaveTheSlotsOfTheSpringFormula)
{
    Cloth cloth = chain_cloth(2, 1, 1, 20, 2);
    set_law(cloth, {{0.1, 0.3}, true});
    const Vec3d d{1.1, -0.4, 0.7}, v{0.3, 0.8, -0.2}, s{0.5, -1.5, 2};
    const auto law_of = [](const Cloth& of, std::vector<SpringRange<double>>& ranges) {
        ranges.clear();
        for (const StiffnessRange& r : of.springs.ranges) {
            ranges.push_back({r.from, r.to, r.stiffness[0]});  // the rest length is 1
        }
        return RangeLaw<double>{int(ranges.size()), ranges.data(), of.springs.isotropic_damping[0]};
    };
    const auto along = [&](const Cloth& of) {
        std::vector<SpringRange<double>> ranges;
        return dot(s, spring_force(d, v, 1.0, of.springs.stiffness[0], of.springs.damping[0],
                                   law_of(of, ranges)));
    };
    std::vector<double> by_slot(kSlotsBesideRanges + cloth.springs.ranges.size());
    std::vector<SpringRange<double>> ranges;
    const auto back = spring_adjoint(
        d, v, 1.0, 20.0, 2.0, law_of(cloth, ranges), s,
        [&](int j, double value) { by_slot[std::size_t(kFirstRangeSlot + j)] = value; });
    by_slot[0] = back.stiffness;
    by_slot[1] = back.damping;
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    ASSERT_EQ(parameters.size(), by_slot.size());
    for (const Parameter& parameter : parameters) {
        Cloth up = cloth, down = cloth;
        values_of(up, parameter)[0] += 1;
        values_of(down, parameter)[0] -= 1;
        EXPECT_NEAR(by_slot[parameter.slot], (along(up) - along(down)) / 2, 1e-12)
            << label_of(cloth, parameter);
    }
}

// The same for bends: s.f of the first particle is linear in both parameters.
TEST(Parameters, HaveTheSlotsOfTheBendFormula)
{
    Cloth cloth = chain_cloth(3, 1, 1, 20, 2, Grid{1, 3});
    set_law(cloth, {{}, false, true});
    const std::vector<Parameter> parameters = parameters_in(cloth, Element::bend);
    EXPECT_EQ(names_of(parameters),
              (std::vector<std::string>{"bending_stiffness", "bending_damping"}));
    ASSERT_EQ(parameters.size(), std::size_t(kBendSlots));
    const Vec3d e{1.1, -0.4, 0.7}, rate{0.3, 0.8, -0.2}, s{0.5, -1.5, 2};
    const auto back = bend_adjoint(e, rate, 3.0, 0.2, s);
    const double by_slot[] = {back.stiffness, back.damping};
    for (const Parameter& parameter : parameters) {
        values_of(cloth, parameter)[0] = 1;
        const Vec3d f = bend_force(e, rate, cloth.bends.stiffness[0], cloth.bends.damping[0]);
        EXPECT_NEAR(by_slot[parameter.slot], dot(s, f), 1e-14) << label_of(cloth, parameter);
        values_of(cloth, parameter)[0] = 0;
    }
}

TEST(Unknowns, CountBendsAfterSprings)
{
    Cloth cloth = chain_cloth(4, 1, 1, 20, 2, Grid{1, 4});
    set_law(cloth, {{}, false, true});  // three springs and two bends, two parameters each
    const Unknowns unknowns(cloth);
    ASSERT_EQ(unknowns.size(), 10u);
    for (std::size_t bend = 0; bend < 2; ++bend) {
        for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_EQ(unknowns.number(2 + k, bend), 6 + 2 * bend + k);
            EXPECT_EQ(unknowns.parameter_of(6 + 2 * bend + k), 2 + k);
        }
    }
}

TEST(Parameters, OfAllElementsOfACloth)
{
    const Cloth mesh = uneven_mesh({3, 4}, MeshCut::diagonal, TriangleDamping::strain);
    EXPECT_EQ(names_of(parameters_in(mesh)),
              (std::vector<std::string>{"shear_stiffness", "area_stiffness", "damping", "stiffness",
                                        "damping"}));
    EXPECT_EQ(names_of(learned_parameters(mesh)), names_of(parameters_in(mesh)));
    for (const Parameter& parameter : parameters_in(mesh)) {
        EXPECT_EQ(values_of(mesh, parameter).size(), element_count(mesh, parameter.kind->element));
    }
}

TEST(Parameters, AreSetAndReadTogether)
{
    Cloth cloth = chain_cloth(3, 1, 1, 20, 2);
    set_law(cloth, {{0}, true});
    const ParameterValues values{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    set_parameters(cloth, values);
    EXPECT_EQ(parameters_of(cloth), values);
    EXPECT_EQ(cloth.springs.ranges[0].stiffness, values[2]);
}

TEST(ElementFamilies, AreThoseOfSpringsOrAllElements)
{
    Cloth cloth = chain_cloth(4, 1, 1, 20, 2);
    cloth.springs.family[1] = SpringFamily::bending;
    const std::vector<ElementFamily> families = families_of(cloth, Element::spring);
    ASSERT_EQ(families.size(), 2u);
    EXPECT_EQ(families[0].name, "structural");
    EXPECT_EQ(families[0].members, (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(families[1].name, "bending");
    EXPECT_EQ(families[1].members, (std::vector<std::size_t>{1}));
    EXPECT_TRUE(families_of(cloth, Element::hinge).empty());
    const Cloth mesh = uneven_mesh({3, 4}, MeshCut::diagonal, TriangleDamping::strain);
    ASSERT_EQ(families_of(mesh, Element::hinge).size(), 1u);
    EXPECT_EQ(families_of(mesh, Element::hinge)[0].members.size(), mesh.hinges.hinge_count());
}

TEST(Unknowns, CountElementByElementWithTheParametersOfOneSideBySide)
{
    Cloth cloth = chain_cloth(4, 1, 1, 20, 2);
    set_law(cloth, {{0}, true});
    const Unknowns unknowns(cloth);
    ASSERT_EQ(unknowns.size(), 12u);
    for (std::size_t element = 0; element < 3; ++element) {
        for (std::size_t parameter = 0; parameter < 4; ++parameter) {
            const std::size_t number = 4 * element + parameter;
            EXPECT_EQ(unknowns.number(parameter, element), number);
            EXPECT_EQ(unknowns.parameter_of(number), parameter);
        }
    }
}

}  // namespace

}  // namespace springtime
