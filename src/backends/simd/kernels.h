#pragma once

#include <vector>

#include "sim/contact_shape.h"

// The border between code compiled for one instruction set and the rest: plain numbers and
// pointers only, so that nothing instantiated on one side is shared with the other.
namespace springtime {

// A spring in the list of its lower-numbered end.
struct SweepSpring {
    int other;
    float rest_length, stiffness, damping;
};

// A bend in the list of its lowest-numbered particle, which is an end. Springs from there to the
// middle and to the other end share its loads and stores.
enum BendSprings { kBothSprings, kNearSpring, kNoSprings, kBendSpringsCount };
struct SweepBend {
    int middle, end;
    int near, far;  // springs, where it has them
    float stiffness, damping;
};

// Springs grouped by their lower-numbered end: those of particle p are first[p] .. first[p + 1].
struct SweepCloth {
    int particle_count;
    const int* first;
    const SweepSpring* springs;
    const float* inverse_mass;
    // What springs have beyond that; null where they have no law. The law of a spring is
    // `law_size` numbers: from, to [m] and stiffness of each range, then isotropic damping.
    const float* laws;
    int range_count, law_size;
    bool compression_law;  // the one range holds all strains below rest
    // Bends likewise, by the springs that they have: those of particle p with some BendSprings
    // begin at first_bend[kBendSpringsCount * p + springs]. Null where there are no bends. Springs
    // that belong to a bend begin at first_in_bend[p]; they follow the others of the particle.
    const int *first_bend, *first_in_bend;
    const SweepBend* bends;
    bool damped_bends;  // some bend has damping
    // Adjoints leave out the gradient by what is zero: the isotropic damping of single springs, and
    // the damping of bends if none has any.
    bool zeros_stay;
};

// Other elements; corners are as in TriangleSet, HingeSet and CouplingSet. The numbers of a
// material come in the order of the adjoint of its formula.
struct SweepTriangle {
    int corners[3];
    float rest_area, inverse[2][2];
    float material[5];  // shear, area, damping; warp and weft, zero where it is not woven
};
struct SweepHinge {
    int corners[4];
    float least_square[2];
    float material[2];  // stiffness, damping
};
struct SweepCoupling {
    int corners[3];
    float rest_length[2];
    float material[1];  // stiffness
};
// In an order that keeps the particles of one element close to those of the next.
struct SweepElements {
    int triangle_count, hinge_count, coupling_count;
    const SweepTriangle* triangles;
    const SweepHinge* hinges;
    const SweepCoupling* couplings;
    bool damps_strain;  // the damping of the triangles; otherwise it damps all deformation
    bool woven;         // triangles have fibres
};

struct Air {
    float gravity[3], wind[3], drag, dt;
};

// A group of states in lanes, [particle][xyz][lane].
struct LaneState {
    const float *position, *velocity;
};
// What a step needs beside.
struct LaneAids {
    // [particle][xyz][lane]: what other forces there are, at first; zero afterwards
    float* force;
    const float* mobility;  // [particle][lane]
};

// The adjoint of a state, and what the way back through a step needs beside.
struct LaneAdjoint {
    float *position, *velocity;  // of the new state in, of the old state out
    float* force;                // room for [particle][xyz][lane]
    // [spring][slot][lane] in sweep order; added to. The slots are those of physics/spring.h: the
    // first two, or all of them where springs have a law.
    float* parameters;
    float* bend_parameters;  // [bend][slot][lane] likewise, with the slots of physics/bend.h
    // The same for other elements.
    float *triangle_parameters, *hinge_parameters, *coupling_parameters;
    float* masses;  // [particle][lane] likewise; null where they are not learned
};

// Where grid springs and bends lead, seen from their first end. Along the last two there are bends
// alone.
struct GridOffset {
    int down, right;
};
inline constexpr GridOffset kGridOffsets[] = {{0, 1}, {1, 0}, {1, 1}, {1, -1},
                                              {0, 2}, {2, 0}, {2, 2}, {2, -2}};
inline constexpr int kGridOffsetCount = 8, kSpringOffsetCount = 6;
// A bend leads along one of the first four, and as far again along the one that is four later.
inline constexpr int kGridLineCount = 4;

// One state of a regular grid, a number per particle: [row][column], rows `pitch` apart.
// Two further rows after the last and `margin` numbers before the first may be read.
struct GridArrays {
    int rows, pitch;  // pitch is a multiple of the width
    float *position[3], *velocity[3];
    const float *mobility, *inverse_mass;
    // For each offset that the cloth has, the springs by their first end; zero where there is none,
    // and null where bends alone lead there.
    int offset_count;
    GridOffset offset[kGridOffsetCount];
    const float *rest_length[kGridOffsetCount], *stiffness[kGridOffsetCount],
        *damping[kGridOffsetCount];
    int range_count;
    // Numbers of the laws by first end, from one number to the next `law_pitch` numbers; that is
    // zero where springs have no law.
    const float* laws[kGridOffsetCount];
    long law_pitch;
    bool compression_law;  // the one range holds all strains below rest
    // For each line that bends lie along, the bends by their first end; zero where there is none.
    // The springs of the line have the offsets `near` and `far`, those of no line are `alone`.
    int line_count, alone_count;
    int near[kGridLineCount], far[kGridLineCount], alone[kGridOffsetCount];
    const float *bend_stiffness[kGridLineCount], *bend_damping[kGridLineCount];
    bool damped_bends;  // some bend has damping
    // Room for 9 offset_count + 3 rows of `pitch + 2 margin` numbers.
    float* force;
};
inline constexpr int kGridMargin = 16;

// An obstacle where it is now. The lanes may see it at times of their own, so every number of its
// placement comes once for each lane, [kPlacementNumbers][lane]: axes, position, spin and drift of
// SolidPlacement.
inline constexpr int kPlacementNumbers = 24;
struct ContactObstacle {
    int shape_count;
    const ContactShape* shapes;
    const float* placement;
    float friction;
    ContactBounds bounds;
};

struct ContactScene {
    int obstacle_count;
    const ContactObstacle* obstacles;
    float thickness, dt;
};

// Particles in groups as wide as a register: arrays for x, y, z, and steps from group to group.
struct ContactParticles {
    long group_count, stride, mobility_stride;
    float *position[3], *velocity[3];
    const float* mobility;  // zero: not touched
};

// One state of a cloth of triangles and hinges; elements lie side by side in groups of the width.
struct MeshArrays {
    int particle_count;  // a multiple of the width, and at least one more than there are
    float* state;        // [particle][x, y, z of the position, 0, of the velocity, 0]
    float* force;        // [particle][x, y, z, anything], zero between calls
    const float *mobility, *inverse_mass;
    int triangle_groups, hinge_groups;
    const int *triangle_corners, *hinge_corners;  // [group][corner][lane]
    // [group][number][lane]: rest area, inverse by rows, shear, area, damping, and warp and weft
    // where it is woven; for hinges least squares, stiffness, damping
    const float *triangle_numbers, *hinge_numbers;
    bool damps_strain, woven;
};

struct KernelSet {
    const char* name;
    int width;  // lanes in a group
    // One step; it may write to where it reads from.
    void (*lane_step)(const SweepCloth&, const Air&, const LaneAids&, const LaneState&,
                      float* to_position, float* to_velocity);
    // Acceleration of every particle, [particle][xyz][lane]; zero for handles.
    void (*lane_acceleration)(const SweepCloth&, const Air&, const LaneAids&, const LaneState&,
                              float* acceleration);
    // The way back through the step that began at a state and ended with a velocity.
    void (*lane_step_adjoint)(const SweepCloth&, const Air&, const float* mobility,
                              const LaneState&, const float* to_velocity, const LaneAdjoint&);
    // The way back through lane_acceleration, given the adjoint of its result (zero for handles).
    void (*lane_acceleration_adjoint)(const SweepCloth&, const Air&, const LaneState&,
                                      const float* acceleration, const LaneAdjoint&);
    // Adds the forces of triangles, hinges and couplings to `force`, [particle][xyz][lane].
    void (*lane_element_forces)(const SweepElements&, const LaneState&, float* force);
    // Adds what their forces hand back, given the adjoint of all forces in LaneAdjoint::force. It
    // completes lane_step_adjoint and lane_acceleration_adjoint.
    void (*lane_element_adjoints)(const SweepElements&, const LaneState&, const LaneAdjoint&);
    void (*grid_step)(const Air&, const GridArrays&);
    void (*mesh_step)(const Air&, const MeshArrays&);
    // What the obstacles do to particles after a step.
    void (*meet_obstacles)(const ContactScene&, const ContactParticles&);
};

namespace baseline {
KernelSet kernel_set();
}
namespace avx2 {
KernelSet kernel_set();
}
namespace avx512 {
KernelSet kernel_set();
}

}  // namespace springtime
