// Compiled once per instruction set. One state of a mesh, with elements side by side in the lanes.
#include "backends/simd/lanes.h"
#include "physics/euler.h"
#include "physics/external.h"
#include "physics/hinge.h"

namespace springtime::SPRINGTIME_ISA {

namespace {

// A row: the four numbers that lie together for one particle, of which three count.
typedef float Row __attribute__((vector_size(16)));
typedef float LooseRow __attribute__((vector_size(16), aligned(4), may_alias));

Row load_row(const float* from)
{
    return *reinterpret_cast<const LooseRow*>(from);
}
void store_row(float* to, Row row)
{
    *reinterpret_cast<LooseRow*>(to) = row;
}

// Four lanes of a pack, and back.
template <int kPart>
Row part_of(Pack pack)
{
    constexpr int k = 4 * kPart;
    return __builtin_shufflevector(pack.lanes, pack.lanes, k, k + 1, k + 2, k + 3);
}
Pack pack_of(const Row (&parts)[kWidth / 4])
{
#if defined(__AVX512F__)
    const auto low = __builtin_shufflevector(parts[0], parts[1], 0, 1, 2, 3, 4, 5, 6, 7);
    const auto high = __builtin_shufflevector(parts[2], parts[3], 0, 1, 2, 3, 4, 5, 6, 7);
    return Pack::Lanes(
        __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
#elif defined(__AVX__)
    return Pack::Lanes(__builtin_shufflevector(parts[0], parts[1], 0, 1, 2, 3, 4, 5, 6, 7));
#else
    return Pack::Lanes(parts[0]);
#endif
}

// The rows of kWidth particles, one per lane; rows of neighbours lie `pitch` apart.
Vec load_rows(const float* rows, int pitch, const int* particles)
{
    Row x[kWidth / 4], y[kWidth / 4], z[kWidth / 4];
    for (int i = 0; i < kWidth / 4; ++i) {
        const int* p = particles + 4 * i;
        const Row a = load_row(rows + pitch * p[0]), b = load_row(rows + pitch * p[1]);
        const Row c = load_row(rows + pitch * p[2]), d = load_row(rows + pitch * p[3]);
        const Row ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        const Row cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        x[i] = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        y[i] = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        z[i] = __builtin_shufflevector(__builtin_shufflevector(a, b, 2, 6, 3, 7),
                                       __builtin_shufflevector(c, d, 2, 6, 3, 7), 0, 1, 4, 5);
    }
    return {pack_of(x), pack_of(y), pack_of(z)};
}

// Calls act(particle, row) for four lanes after the other; the fourth number of a row is anything.
template <int kPart, class Act>
void for_rows(const Vec& value, const int* particles, Act act)
{
    const Row x = part_of<kPart>(value.x), y = part_of<kPart>(value.y), z = part_of<kPart>(value.z);
    const Row low = __builtin_shufflevector(x, y, 0, 4, 1, 5);
    const Row high = __builtin_shufflevector(x, y, 2, 6, 3, 7);
    const int* p = particles + 4 * kPart;
    act(p[0], Row(__builtin_shufflevector(low, z, 0, 1, 4, 4)));
    act(p[1], Row(__builtin_shufflevector(low, z, 2, 3, 5, 5)));
    act(p[2], Row(__builtin_shufflevector(high, z, 0, 1, 6, 6)));
    act(p[3], Row(__builtin_shufflevector(high, z, 2, 3, 7, 7)));
    if constexpr (4 * (kPart + 1) < kWidth) for_rows<kPart + 1>(value, particles, act);
}

void store_rows(float* rows, int pitch, const int* particles, const Vec& value)
{
    for_rows<0>(value, particles, [&](int p, Row row) { store_row(rows + pitch * p, row); });
}

// Lane after lane, so that the sum does not depend on which particles meet.
void add_forces(float* force, const int* particles, const Vec& value)
{
    for_rows<0>(value, particles,
                [&](int p, Row row) { store_row(force + 4 * p, load_row(force + 4 * p) + row); });
}

// The corners of a group of elements: [corner][lane] numbers of particles.
struct Gathered {
    const float* state;
    const int* corners;

    const int* particles(int corner) const { return corners + kWidth * corner; }
    Vec position(int corner) const { return load_rows(state, 8, particles(corner)); }
    Vec velocity(int corner) const { return load_rows(state + 4, 8, particles(corner)); }
};

template <class Damping, class Material>
[[gnu::flatten]] void triangle_forces(const MeshArrays& mesh)
{
    constexpr long kNumbers = std::is_same_v<Material, WovenMaterial<Pack>> ? 10 : 8;
    for (int g = 0; g < mesh.triangle_groups; ++g) {
        const Gathered at{mesh.state, mesh.triangle_corners + 3L * kWidth * g};
        const float* from = mesh.triangle_numbers + kNumbers * kWidth * g;
        const auto number = [&](int i) { return Pack::load(from + kWidth * i); };
        const TriangleShape<Pack> shape{number(0),
                                        {{number(1), number(2)}, {number(3), number(4)}}};
        const auto material = triangle_material<Material>([&](int i) { return number(5 + i); });
        const Vec x = at.position(0), v = at.velocity(0);
        const TriangleForce<Pack> f =
            triangle_force<Damping>(shape, material, at.position(1) - x, at.position(2) - x,
                                    at.velocity(1) - v, at.velocity(2) - v);
        add_forces(mesh.force, at.particles(0), -(f.on1 + f.on2));
        add_forces(mesh.force, at.particles(1), f.on1);
        add_forces(mesh.force, at.particles(2), f.on2);
    }
}

[[gnu::flatten]] void hinge_forces(const MeshArrays& mesh)
{
    for (int g = 0; g < mesh.hinge_groups; ++g) {
        const Gathered at{mesh.state, mesh.hinge_corners + 4L * kWidth * g};
        const float* from = mesh.hinge_numbers + 4L * kWidth * g;
        const auto number = [&](int i) { return Pack::load(from + kWidth * i); };
        const Vec x = at.position(0), v = at.velocity(0);
        const HingeForce<Pack> f = hinge_force<Pack>(
            {number(0), number(1)}, {number(2), number(3)}, at.position(1) - x, at.position(2) - x,
            at.position(3) - x, at.velocity(1) - v, at.velocity(2) - v, at.velocity(3) - v);
        add_forces(mesh.force, at.particles(0), -(f.on1 + f.on2 + f.on3));
        add_forces(mesh.force, at.particles(1), f.on1);
        add_forces(mesh.force, at.particles(2), f.on2);
        add_forces(mesh.force, at.particles(3), f.on3);
    }
}

[[gnu::flatten]] void move_particles(const AirPacks& air, const MeshArrays& mesh)
{
    int particles[kWidth];
    for (int first = 0; first < mesh.particle_count; first += kWidth) {
        for (int lane = 0; lane < kWidth; ++lane) particles[lane] = first + lane;
        Vec position = load_rows(mesh.state, 8, particles);
        Vec velocity = load_rows(mesh.state + 4, 8, particles);
        const Vec acceleration =
            Pack::load(mesh.inverse_mass + first) * load_rows(mesh.force, 4, particles) +
            external_acceleration(velocity, air.gravity, air.wind, air.drag);
        euler_step(position, velocity, acceleration, Pack::load(mesh.mobility + first), air.dt);
        store_rows(mesh.state, 8, particles, position);
        store_rows(mesh.state + 4, 8, particles, velocity);
        store_rows(mesh.force, 4, particles, Vec{});
    }
}

}  // namespace

void mesh_step(const Air& air, const MeshArrays& mesh)
{
    with_triangles(mesh.damps_strain, mesh.woven, [&]<class Damping, class Material>() {
        triangle_forces<Damping, Material>(mesh);
    });
    hinge_forces(mesh);
    move_particles(AirPacks(air), mesh);
}

}  // namespace springtime::SPRINGTIME_ISA
