#include <cmath>

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

ParameterError compare(const Cloth& cloth, const Parameter& parameter,
                       const std::vector<double>& truth)
{
    const std::vector<double>& values = values_of(cloth, parameter);
    ParameterError error{parameter.kind, label_of(cloth, parameter), 0, {}};
    SquareMean all;
    for (const auto& [name, members] : families_of(cloth, parameter.kind->element)) {
        SquareMean part;
        for (const std::size_t e : members) part.add(values[e] - truth[e]);
        error.by_family[std::string(name)] = part.root();
    }
    for (std::size_t e = 0; e < values.size(); ++e) all.add(values[e] - truth[e]);
    error.all = all.root();
    return error;
}

}  // namespace

std::vector<ParameterError> parameter_errors(const Cloth& cloth, const Cloth& truth)
{
    if (truth.springs.spring_count() == 0 && truth.triangles.triangle_count() > 0) {
        throw Error(
            "the truth is a sheet of finite elements, without springs to compare with; compare the "
            "motion alone");
    }
    check_same_springs(cloth.springs, truth.springs);
    const std::size_t our_bends = cloth.bends.bend_count();
    const std::size_t their_bends = truth.bends.bend_count();
    if (our_bends > 0 && their_bends > 0 && cloth.bends.particles != truth.bends.particles) {
        throw Error(
            "the cloth has {} bends, but the truth has {}, or they join other particles; compare "
            "cloths of one grid",
            our_bends, their_bends);
    }
    std::vector<ParameterError> errors;
    for (const Parameter& found : learned_parameters(cloth)) {
        for (const Parameter& expected : learned_parameters(truth)) {
            if (found.kind != expected.kind ||
                label_of(cloth, found) != label_of(truth, expected)) {
                continue;
            }
            errors.push_back(compare(cloth, found, values_of(truth, expected)));
        }
    }
    return errors;
}

}  // namespace springtime
