#include <algorithm>
#include <cmath>
#include <map>

#include "springtime/error.h"
#include "springtime/evaluate.h"

namespace springtime {

namespace {

void check_same_springs(const SpringSet& ours, const SpringSet& theirs)
{
    if (ours.spring_count() != theirs.spring_count()) {
        throw Error(
            "the cloth has {} springs, but the truth has {}; compare cloths of one grid with the "
            "same families",
            ours.spring_count(), theirs.spring_count());
    }
    for (std::size_t s = 0; s < ours.spring_count(); ++s) {
        if (ours.ends[s] == theirs.ends[s] && ours.family[s] == theirs.family[s]) continue;
        throw Error(
            "spring {} of the cloth is {} from particle {} to {}, but that of the truth is {} from "
            "{} to {}; compare cloths of one grid with the same families",
            s, name_of(ours.family[s]), ours.ends[s][0], ours.ends[s][1], name_of(theirs.family[s]),
            theirs.ends[s][0], theirs.ends[s][1]);
    }
}

struct SquareMean {
    double sum = 0;
    std::size_t count = 0;

    void add(double difference)
    {
        sum += difference * difference;
        ++count;
    }
    double root() const { return count == 0 ? 0 : std::sqrt(sum / double(count)); }
};

// For every element of the cloth, which one of the truth it is.
using Match = std::vector<std::size_t>;

ParameterError compare(const Cloth& cloth, const Parameter& parameter,
                       const std::vector<double>& truth, const Match& match)
{
    const std::vector<double>& values = values_of(cloth, parameter);
    const auto difference = [&](std::size_t e) { return values[e] - truth[match[e]]; };
    ParameterError error{parameter.kind, label_of(cloth, parameter), 0, {}};
    SquareMean all, relative;
    for (const auto& [name, members] : families_of(cloth, parameter.kind->element)) {
        SquareMean part;
        for (const std::size_t e : members) part.add(difference(e));
        error.by_family[std::string(name)] = part.root();
    }
    for (std::size_t e = 0; e < values.size(); ++e) {
        all.add(difference(e));
        if (truth[match[e]] != 0) relative.add(difference(e) / truth[match[e]]);
    }
    error.all = all.root();
    if (relative.count > 0) error.relative = relative.root();
    return error;
}

Match in_order(std::size_t count)
{
    Match match(count);
    for (std::size_t e = 0; e < count; ++e) match[e] = e;
    return match;
}

// The corners of an element, so that the same element has the same ones: both ends of an edge, and
// both sides of it, may be exchanged, and triangles turned.
std::vector<int> key_of(const std::array<int, 3>& corners, Element element)
{
    std::vector<int> key(corners.begin(), corners.end());
    std::sort(key.begin() + (element == Element::coupling ? 1 : 0), key.end());
    return key;
}

std::vector<int> key_of(const std::array<int, 4>& corners, Element)
{
    std::vector<int> key(corners.begin(), corners.end());
    std::sort(key.begin(), key.begin() + 2);
    std::sort(key.begin() + 2, key.end());
    return key;
}

template <std::size_t N>
Match match_by_corners(const std::vector<std::array<int, N>>& ours,
                       const std::vector<std::array<int, N>>& theirs, Element element)
{
    std::map<std::vector<int>, std::size_t> number;
    for (std::size_t e = 0; e < theirs.size(); ++e) number[key_of(theirs[e], element)] = e;
    Match match;
    for (const auto& corners : ours) {
        const auto found = number.find(key_of(corners, element));
        if (found == number.end() || ours.size() != theirs.size()) {
            throw Error(
                "the cloth has {} {}s and the truth {}, and they join other particles; compare "
                "cloths of one mesh, cut in the same way",
                ours.size(), name_of(element), theirs.size());
        }
        match.push_back(found->second);
    }
    return match;
}

Match match_of(const Cloth& cloth, const Cloth& truth, Element element)
{
    switch (element) {
        case Element::spring:
            check_same_springs(cloth.springs, truth.springs);
            break;
        case Element::bend:
            if (cloth.bends.particles != truth.bends.particles) {
                throw Error(
                    "the cloth has {} bends, but the truth has {}, or they join other particles; "
                    "compare cloths of one grid",
                    cloth.bends.bend_count(), truth.bends.bend_count());
            }
            break;
        case Element::triangle:
            return match_by_corners(cloth.triangles.corners, truth.triangles.corners, element);
        case Element::hinge:
            return match_by_corners(cloth.hinges.corners, truth.hinges.corners, element);
        case Element::coupling:
            return match_by_corners(cloth.couplings.corners, truth.couplings.corners, element);
    }
    return in_order(element_count(cloth, element));
}

void add_errors_of(std::vector<ParameterError>& errors, const Cloth& cloth, const Cloth& truth,
                   Element element)
{
    const Match match = match_of(cloth, truth, element);
    for (const Parameter& found : parameters_in(cloth, element)) {
        for (const Parameter& expected : parameters_in(truth, element)) {
            if (!found.kind->learned || found.kind != expected.kind ||
                label_of(cloth, found) != label_of(truth, expected)) {
                continue;
            }
            errors.push_back(compare(cloth, found, values_of(truth, expected), match));
        }
    }
}

}  // namespace

std::vector<ParameterError> parameter_errors(const Cloth& cloth, const Cloth& truth)
{
    std::vector<ParameterError> errors;
    for (const Element element : kElements) {
        if (element_count(cloth, element) == 0 || element_count(truth, element) == 0) continue;
        add_errors_of(errors, cloth, truth, element);
    }
    if (!errors.empty()) return errors;
    throw Error(
        "the cloth has {} springs and {} triangles, the truth {} and {}: there is nothing to "
        "compare; compare the motion alone",
        cloth.springs.spring_count(), cloth.triangles.triangle_count(),
        truth.springs.spring_count(), truth.triangles.triangle_count());
}

}  // namespace springtime
