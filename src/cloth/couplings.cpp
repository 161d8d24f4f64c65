#include "cloth/couplings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "springtime/error.h"

namespace springtime {

namespace {

double side_of(const SheetPoint& a, const SheetPoint& b, const SheetPoint& p)
{
    return (b.u - a.u) * (p.v - a.v) - (b.v - a.v) * (p.u - a.u);
}

bool lies_between(const SheetPoint& a, const SheetPoint& b, const SheetPoint& c,
                  const SheetPoint& p)
{
    const double ab = side_of(a, b, p), bc = side_of(b, c, p), ca = side_of(c, a, p);
    return (ab > 0 && bc > 0 && ca > 0) || (ab < 0 && bc < 0 && ca < 0);
}

double rest_distance(const SheetPoint& a, const SheetPoint& b)
{
    return std::hypot(b.u - a.u, b.v - a.v);
}

using Neighbours = std::vector<std::set<int>>;  // of every particle

Neighbours joined_particles(const Cloth& cloth)
{
    Neighbours neighbours(cloth.particle_count());
    for (std::size_t s = 0; s < cloth.springs.spring_count(); ++s) {
        if (cloth.springs.family[s] == SpringFamily::bending) continue;
        const auto [a, b] = cloth.springs.ends[s];
        neighbours[a].insert(b);
        neighbours[b].insert(a);
    }
    return neighbours;
}

// Three particles that are joined may go round others: then one of these is joined to the first,
// because every edge has a triangle beside it.
bool is_triangle(const Cloth& cloth, const Neighbours& neighbours, int a, int b, int c)
{
    const SheetPoint pa = cloth.rest[a], pb = cloth.rest[b], pc = cloth.rest[c];
    const double longest =
        std::max({rest_distance(pa, pb), rest_distance(pb, pc), rest_distance(pc, pa)});
    if (std::abs(side_of(pa, pb, pc)) <= 1e-6 * longest * longest) return false;
    return std::none_of(neighbours[a].begin(), neighbours[a].end(),
                        [&](int p) { return lies_between(pa, pb, pc, cloth.rest[p]); });
}

void couple(Cloth& cloth, int apex, int b, int c)
{
    const auto rest = [&](int end) { return rest_distance(cloth.rest[apex], cloth.rest[end]); };
    cloth.couplings.corners.push_back({apex, b, c});
    cloth.couplings.rest_length.push_back({rest(b), rest(c)});
    cloth.couplings.stiffness.push_back(0);
}

}  // namespace

void add_couplings(Cloth& cloth)
{
    const Neighbours neighbours = joined_particles(cloth);
    for (int a = 0; a < static_cast<int>(cloth.particle_count()); ++a) {
        for (auto b = neighbours[a].upper_bound(a); b != neighbours[a].end(); ++b) {
            for (auto c = std::next(b); c != neighbours[a].end(); ++c) {
                if (!neighbours[*b].contains(*c)) continue;
                if (!is_triangle(cloth, neighbours, a, *b, *c)) continue;
                couple(cloth, a, *b, *c);
                couple(cloth, *b, a, *c);
                couple(cloth, *c, a, *b);
            }
        }
    }
    if (cloth.couplings.coupling_count() > 0) return;
    throw Error(Field{"couplings"},
                "law: couplings join the edges of triangles, but no three of the {} springs form "
                "one; give the grid a diagonal, or leave the couplings out",
                cloth.springs.spring_count());
}

}  // namespace springtime
