#include "springtime/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "cloths.h"
#include "springtime/error.h"
#include "springtime/generate.h"
#include "springtime/simulation.h"

namespace springtime {

namespace {

constexpr GridOptions kTwoByTwo{2, 2, true, true, true, true};

Cloth small_cloth(double stiffness = 20)
{
    return make_grid_cloth({1.5, 1.0, 2.0}, {6, 8, true, true, true, true},
                           MaterialField::uniform(stiffness), MaterialField::uniform(0.2));
}

// A square of 1 m with a particle in each corner.
Cloth square_cloth()
{
    return make_grid_cloth({1, 1, 0.4}, kTwoByTwo, MaterialField::uniform(10),
                           MaterialField::uniform(0.1));
}

Motion source_of(const MotionHeader& header, const std::vector<Rollout>& rollouts)
{
    return Motion::from_rollouts(header, rollouts);
}

MotionHeader header_for(const Cloth& cloth, double dt, int stride, const Environment& environment)
{
    MotionHeader header;
    header.sheet = cloth.sheet;
    header.rest = cloth.rest;
    header.dt = dt;
    header.stride = stride;
    header.environment = environment;
    return header;
}

// The flat sheet; particle p has moved by frame * drift(p) [m].
template <class Drift>
Rollout drifting(const Cloth& cloth, std::size_t frames, Drift drift)
{
    Rollout rollout;
    rollout.frame_count = frames;
    const State flat = flat_state(cloth);
    for (std::size_t f = 0; f < frames; ++f) {
        for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
            const Vec3d x = flat.position[p] + double(f) * drift(p);
            for (int axis = 0; axis < 3; ++axis) rollout.position.push_back(float(x[axis]));
        }
    }
    rollout.velocity.assign(rollout.position.size(), 0);
    return rollout;
}

Rollout standing(const Cloth& cloth, std::size_t frames)
{
    return drifting(cloth, frames, [](std::size_t) { return Vec3d{}; });
}

// Handles whose path has a key at every frame, where their landmark is.
Handles moving_handles(std::vector<int> particles, const Rollout& rollout, double frame_interval)
{
    Handles handles{std::move(particles), {}, {}};
    for (std::size_t f = 0; f < rollout.frame_count; ++f) {
        handles.key_time.push_back(double(f) * frame_interval);
        for (const int p : handles.particles) {
            const float* x = &rollout.position[3 * (f * rollout.landmark_count() + std::size_t(p))];
            handles.key_position.push_back({x[0], x[1], x[2]});
        }
    }
    return handles;
}

// Rollouts of a cloth as `generate` makes them, shortened so that no two neighbours are alike.
Motion generated(const Cloth& cloth, int rollouts)
{
    GenerateOptions options;
    options.rollouts = rollouts;
    options.seconds = 0.2;
    options.dt = 2e-3;
    options.stride = 10;
    options.anchor_size = 2;
    options.threads = 1;
    options.device = Device::cpu;
    std::vector<Rollout> made;
    generate(cloth, options, 0, [&](int, const Rollout& rollout) { made.push_back(rollout); }, {});
    for (std::size_t r = 0; r < made.size(); ++r) {
        made[r].frame_count -= 3 * r % 7;
        for (auto* values : {&made[r].position, &made[r].velocity, &made[r].acceleration}) {
            values->resize(made[r].frame_count * cloth.particle_count() * 3);
        }
    }
    return source_of(header_for(cloth, options.dt, options.stride, options.environment), made);
}

MotionError run(const Cloth& cloth, const Motion& motion, int threads = 1,
                Device device = Device::cpu)
{
    return surrogate_error(cloth, motion, device, threads, {});
}

template <class Exception, class Work>
std::string message(Work work)
{
    try {
        work();
    } catch (const Exception& exception) {
        return exception.what();
    }
    return "nothing was thrown";
}

void expect_near(const std::vector<double>& seen, const std::vector<double>& expected,
                 double tolerance)
{
    ASSERT_EQ(seen.size(), expected.size());
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], expected[i], tolerance) << i;
}

// ---- The surrogate ----

// Landmarks and particles coincide, so targets are the stored floats; a lane's bits do not depend
// on the batch it runs in, so the same cloth repeats them.
TEST(SurrogateError, IsExactlyZeroOnItsOwnRollouts)
{
    const Cloth cloth = small_cloth();
    const Motion motion = generated(cloth, 37);
    const MotionError error = run(cloth, motion);
    EXPECT_EQ(error.mean, 0);
    EXPECT_EQ(error.std, 0);
    EXPECT_EQ(error.per_rollout, std::vector<double>(37, 0.0));
    EXPECT_GT(static_error(motion).mean, 0.01);
    EXPECT_GT(run(small_cloth(10), motion).mean, 1e-4);
}

// Steps of 2 ms, told as 5 steps of 4 ms to a frame: two sub-steps are the source's own.
TEST(SurrogateError, RunsWithSubsteps)
{
    const Cloth cloth = small_cloth();
    Motion motion = generated(cloth, 3);
    motion.header.dt *= 2;
    motion.header.stride /= 2;
    EXPECT_EQ(surrogate_error(cloth, motion, Device::cpu, 1, {}, 2).mean, 0);
    EXPECT_GT(surrogate_error(cloth, motion, Device::cpu, 1, {}, 1).mean, 0);
    EXPECT_THROW(surrogate_error(cloth, motion, Device::cpu, 1, {}, 0), Error);
}

// A free sheet falls as one: symplectic Euler gives a drop of g h^2 n (n + 1) / 2 after n steps,
// which is its distance from a target that stands still.
TEST(SurrogateError, OfAFallingSheetIsItsDrop)
{
    const Cloth cloth = square_cloth();
    const double g = 9.81, h = 1e-3;
    const int stride = 20;
    // Neither sorted nor of one length; a single frame is a rollout too.
    const std::vector<std::size_t> frames{3, 7, 1, 5};
    std::vector<Rollout> rollouts;
    for (const std::size_t count : frames) rollouts.push_back(standing(cloth, count));
    const Motion motion =
        source_of(header_for(cloth, h, stride, {{0, -g, 0}, 0, {0, 0, 0}}), rollouts);

    std::vector<double> drop, per_rollout, all;
    for (int f = 0; f < 7; ++f) drop.push_back(g * h * h * (f * stride) * (f * stride + 1) / 2);
    for (const std::size_t count : frames) {
        const auto end = drop.begin() + std::ptrdiff_t(count);
        per_rollout.push_back(std::accumulate(drop.begin(), end, 0.0) / double(count));
        all.insert(all.end(), drop.begin(), end);
    }
    const double mean = std::accumulate(all.begin(), all.end(), 0.0) / 16;
    double squares = 0;
    for (const double e : all) squares += (e - mean) * (e - mean);

    for (const Device device : {Device::reference, Device::cpu}) {
        // The corners lie on floats. In double 120 sums of 1e-16 are left, in float 120 of 1e-8.
        const double tolerance = device == Device::reference ? 1e-13 : 2e-6;
        const MotionError error = run(cloth, motion, 1, device);
        expect_near(error.per_rollout, per_rollout, tolerance);
        expect_near(error.over_time, drop, tolerance);
        EXPECT_NEAR(error.mean, mean, tolerance);
        EXPECT_NEAR(error.std, std::sqrt(squares / 16), tolerance);
    }
}

TEST(SurrogateError, AveragesAreConsistent)
{
    const Cloth cloth = small_cloth();
    const Motion motion = generated(cloth, 37);
    const MotionError error = run(small_cloth(10), motion);
    double by_rollout = 0, by_time = 0, frames = 0;
    for (std::size_t r = 0; r < 37; ++r) {
        by_rollout += error.per_rollout[r] * double(motion.frame_counts[r]);
        frames += double(motion.frame_counts[r]);
    }
    for (std::size_t f = 0; f < error.over_time.size(); ++f) {
        const auto reach = std::count_if(motion.frame_counts.begin(), motion.frame_counts.end(),
                                         [&](std::size_t count) { return count > f; });
        by_time += error.over_time[f] * double(reach);
    }
    EXPECT_EQ(error.over_time.size(), 11u);
    EXPECT_EQ(error.over_time[0], 0);  // it starts where the target does
    // Sums of 300 doubles in another order.
    EXPECT_NEAR(by_rollout / frames, error.mean, 1e-13 * error.mean);
    EXPECT_NEAR(by_time / frames, error.mean, 1e-13 * error.mean);
}

// Means over what is seen, in plain loops over a run of the surrogate by itself.
TEST(SurrogateError, CountsWhatIsSeenAlone)
{
    const Cloth cloth = small_cloth(), other = small_cloth(10);
    const Motion whole = generated(cloth, 1);
    const ObserveOptions camera{
        .noise = 0.002, .gaps = 0.3, .gap_seconds = 0.04, .positions_only = true};
    MotionHeader header = whole.header;
    observe_header(header, camera);
    Rollout seen = observe(whole.read(0, 0, whole.frame_counts[0]), header, camera, 3, 0);
    const std::size_t row = 3 * cloth.particle_count(), blind = 4;  // a frame that shows nothing
    std::fill_n(seen.position.begin() + std::ptrdiff_t(blind * row), row,
                std::numeric_limits<float>::quiet_NaN());

    Simulation simulation(other, seen.state(0, header), seen.handles,
                          {header.dt, header.environment, Device::reference});
    double sum = 0, squares = 0;
    const double frames = double(seen.frame_count) - 1;
    std::vector<double> errors;
    for (std::size_t f = 0; f < seen.frame_count; ++f) {
        if (f > 0) {
            ASSERT_FALSE(simulation.advance(header.stride));
        }
        double square = 0, count = 0;
        for (std::size_t p = 0; p < cloth.particle_count(); ++p) {
            const std::vector<int>& held = seen.handles.particles;
            if (std::find(held.begin(), held.end(), int(p)) != held.end()) continue;
            if (!seen.seen(f, p)) continue;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double x = simulation.state().position[p][int(axis)];
                square += std::pow(x - seen.position[f * row + 3 * p + axis], 2);
            }
            ++count;
        }
        errors.push_back(std::sqrt(square / count));
        if (f != blind) sum += errors[f];
    }
    for (std::size_t f = 0; f < errors.size(); ++f)
        if (f != blind) squares += std::pow(errors[f] - sum / frames, 2);

    const MotionError found = run(other, source_of(header, {seen}), 1, Device::reference);
    EXPECT_TRUE(std::isnan(found.over_time[blind]));
    for (std::size_t f = 0; f < errors.size(); ++f) {
        // The start goes through floats on its way from the landmarks: 1e-7 of a metre, and springs
        // of a few hertz do not make that grow within 0.2 s.
        if (f != blind) {
            EXPECT_NEAR(found.over_time[f], errors[f], 1e-6) << f;
        }
    }
    EXPECT_NEAR(found.mean, sum / frames, 1e-6);
    EXPECT_NEAR(found.per_rollout[0], sum / frames, 1e-6);
    EXPECT_NEAR(found.std, std::sqrt(squares / frames), 1e-6);
}

TEST(SurrogateError, AgreesBetweenDevices)
{
    const Motion motion = generated(small_cloth(), 5);
    const MotionError fast = run(small_cloth(10), motion);
    const MotionError exact = run(small_cloth(10), motion, 1, Device::reference);
    expect_near(fast.per_rollout, exact.per_rollout, 1e-5);  // 100 float steps of metres
}

// Three corners are pulled along at a constant speed, and the fourth, which is free, starts with
// it: a rigid translation, in which no spring is strained.
TEST(SurrogateError, MovesItsHandlesWithTheLandmarks)
{
    const Cloth cloth = square_cloth();
    const Vec3d step{0.25, 0, 0.5};
    Rollout rollout = drifting(cloth, 5, [&](std::size_t) { return step; });
    for (std::size_t i = 0; i < rollout.velocity.size(); ++i)
        rollout.velocity[i] = float(step[int(i % 3)] / 4e-3);
    rollout.handles = moving_handles({0, 1, 2}, rollout, 4e-3);
    Handles& handles = rollout.handles;  // they come along from the frame before the first
    handles.key_time.insert(handles.key_time.begin(), -4e-3);
    for (const std::size_t corner : {2, 1, 0})
        handles.key_position.insert(handles.key_position.begin(),
                                    flat_state(cloth).position[corner] - step);
    const Motion motion = source_of(header_for(cloth, 1e-3, 4, kEmptySpace), {rollout});
    // Frames are on keys: float rounding of metres is left.
    expect_near(run(cloth, motion).over_time, {0, 0, 0, 0, 0}, 1e-6);
    // Were all of them held, nothing would be left to be compared.
    Rollout held = rollout;
    held.handles = moving_handles({0, 1, 2, 3}, rollout, 4e-3);
    const std::string text = message<Error>([&] { run(cloth, source_of(motion.header, {held})); });
    EXPECT_NE(text.find("nothing moves freely"), std::string::npos) << text;
}

// Of four corners one is pinned: the three that fall by f count, not the one that is known.
TEST(SurrogateError, IsThatOfFreeLandmarksAlone)
{
    const Cloth cloth = square_cloth();
    const auto drift = [](std::size_t p) { return p == 0 ? Vec3d{} : Vec3d{0, 0, 1}; };
    Rollout rollout = drifting(cloth, 3, drift);
    rollout.handles.particles = {0};
    const Motion motion = source_of(header_for(cloth, 1e-3, 4, kEmptySpace), {rollout});
    expect_near(run(cloth, motion).over_time, {0, 1, 2}, 1e-6);  // nothing moves it
    expect_near(static_error(motion).over_time, {0, 1, 2}, 1e-15);
}

// A surrogate of any grid is compared at the landmarks: falling freely, all of them drop alike, and
// the frame error is that of the landmarks whatever the number of particles.
TEST(SurrogateError, IsTakenAtTheLandmarks)
{
    const Cloth source = small_cloth();
    Motion motion = source_of(header_for(source, 1e-3, 10, kEmptySpace), {standing(source, 3)});
    // One landmark of 48 is seen 1 m away in the last frame: sqrt(1 / 48) at the landmarks. At the
    // particles it would be shared out to those around it.
    Rollout seen = motion.read(0, 0, 3);
    seen.position[3 * (2 * 48 + 20)] += 1;
    motion = source_of(motion.header, {seen});
    for (const auto& [rows, cols] : {std::pair{6, 8}, {11, 15}, {3, 4}}) {
        const Cloth surrogate =
            make_grid_cloth({1.5, 1.0, 2.0}, {rows, cols, true, true, true, true},
                            MaterialField::uniform(20), MaterialField::uniform(0.2));
        EXPECT_NEAR(run(surrogate, motion).over_time[2], std::sqrt(1.0 / 48), 1e-6);
    }
    EXPECT_NEAR(static_error(motion).over_time[2], std::sqrt(1.0 / 48), 1e-7);  // floats
}

// Whatever free landmarks do after the frames that tell the start, the prediction stays the same to
// the bit. It is read from the errors: with a target moved by d along one axis far from everything,
// the squares of the errors before and after differ by what the prediction says. Moving all free
// landmarks of a frame to one far place for two motions that differ elsewhere gives equal errors
// exactly if predictions are equal.
void expect_no_leak(const Motion& motion, const Cloth& surrogate, std::size_t start_frames)
{
    const auto changed = [&](bool others_too) {
        Rollout rollout = motion.read(0, 0, motion.frame_counts[0]);
        std::vector<bool> held(rollout.landmark_count(), false);
        for (const int l : rollout.handles.particles) held[std::size_t(l)] = true;
        const std::size_t last = rollout.frame_count - 1;
        for (std::size_t f = start_frames; f < rollout.frame_count; ++f) {
            if (f != last && !others_too) continue;
            for (std::size_t l = 0; l < rollout.landmark_count(); ++l) {
                if (held[l]) continue;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    rollout.position[3 * (f * rollout.landmark_count() + l) + axis] =
                        f == last ? 0 : float(7 + l + f);
                }
            }
        }
        return source_of(motion.header, {rollout});
    };
    const double one = run(surrogate, changed(false)).over_time.back();
    EXPECT_EQ(run(surrogate, changed(true)).over_time.back(), one);
    EXPECT_TRUE(std::isfinite(one));
}

TEST(SurrogateError, NoTruthLeaksIntoPredictions)
{
    const Cloth source = small_cloth();
    const Motion made = generated(source, 1);
    const auto surrogate = [](int rows, int cols) {
        return make_grid_cloth({1.5, 1.0, 2.0}, {rows, cols, true, true, true, true},
                               MaterialField::uniform(20), MaterialField::uniform(0.2));
    };
    // Captured: positions alone, and handles on observed paths.
    Rollout seen = made.read(0, 0, made.frame_counts[0]);
    seen.velocity.clear();
    seen.acceleration.clear();
    seen.handles = moving_handles(seen.handles.particles, seen, made.header.frame_interval());
    MotionHeader header = made.header;
    header.captured = true;
    header.velocities = false;
    const Motion captured = source_of(header, {seen});
    for (const auto& [rows, cols] : {std::pair{6, 8}, {9, 12}, {4, 5}}) {
        expect_no_leak(made, surrogate(rows, cols), 1);
        expect_no_leak(captured, surrogate(rows, cols), Rollout::kStateFrames);
    }
}

TEST(TrivialErrors, RefuseAnAnswerThatDoesNoBetter)
{
    const Cloth cloth = square_cloth();
    Rollout rollout = drifting(cloth, 4, [](std::size_t p) {
        return p == 0 ? Vec3d{1, 0, 0} : Vec3d{0.5, 0, 0};
    });
    rollout.handles = moving_handles({0}, rollout, 1e-2);
    const Motion motion = source_of(header_for(cloth, 1e-3, 10, {}), {rollout});
    // Free landmarks have moved by f / 2, the first shape by f: both are f / 2 off.
    const TrivialErrors trivial = trivial_errors(motion);
    EXPECT_NEAR(trivial.nothing_moves, 0.75, 1e-15);
    EXPECT_NEAR(trivial.with_handles, 0.75, 1e-15);
    EXPECT_FALSE(loses_to_trivial(0.74, {1, 0.75}));
    EXPECT_TRUE(loses_to_trivial(0.75, {1, 0.75}));
    EXPECT_TRUE(loses_to_trivial(0.75, {0.7, 0.8}));
    EXPECT_TRUE(loses_to_trivial(std::nan(""), {1, 1}));
}

TEST(SurrogateError, DoesNotDependOnThreads)
{
    const Motion motion = generated(small_cloth(), 70);  // five batches of sixteen lanes
    const Cloth surrogate = make_grid_cloth({1.5, 1.0, 2.0}, {5, 7, true, true, true, false},
                                            MaterialField::uniform(30), MaterialField::uniform(1));
    std::atomic<int> readers{0};
    Motion watched = motion;
    watched.read = [&](std::size_t r, std::size_t first, std::size_t count) {
        EXPECT_EQ(++readers, 1);  // one at a time
        Rollout rollout = motion.read(r, first, count);
        --readers;
        return rollout;
    };
    const MotionError one = run(surrogate, watched, 1);
    for (const int threads : {2, 3, 8}) {
        const MotionError many = run(surrogate, watched, threads);
        EXPECT_EQ(many.mean, one.mean);
        EXPECT_EQ(many.std, one.std);
        EXPECT_EQ(many.per_rollout, one.per_rollout);
        EXPECT_EQ(many.over_time, one.over_time);
    }
}

// Two rollouts start faster than the sheet's diagonal in a step of 2 ms; they are in different
// batches of up to sixteen, and the earlier one is named.
TEST(SurrogateError, NamesTheRolloutThatBlowsUpWhateverTheThreads)
{
    const Cloth cloth = square_cloth();
    std::vector<Rollout> rollouts(40, standing(cloth, 3));
    for (const int bad : {9, 30}) {
        const std::size_t particle = 2;  // in its first frame
        rollouts[bad].velocity[3 * particle] = 1000;
    }
    const Motion motion = source_of(header_for(cloth, 2e-3, 5, kEmptySpace), rollouts);
    for (const int threads : {1, 4}) {
        const std::string text = message<Failure>([&] { run(cloth, motion, threads); });
        EXPECT_NE(text.find("rollout 9: the surrogate blew up: particle 2 was the first"),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("in step 1 at 0.002 s"), std::string::npos) << text;
    }
}

TEST(SurrogateError, DoesNotMindABlowUpBehindTheEndOfATarget)
{
    const Cloth cloth = square_cloth();
    std::vector<Rollout> rollouts{standing(cloth, 1), standing(cloth, 3)};
    rollouts[0].velocity[0] = 1000;  // it would fly off in the first step
    const Motion motion = source_of(header_for(cloth, 2e-3, 5, kEmptySpace), rollouts);
    expect_near(run(cloth, motion).per_rollout, {0, 0}, 1e-6);
}

TEST(SurrogateError, TellsItsProgressAndStopsWhenAsked)
{
    const Cloth cloth = square_cloth();
    const std::vector<Rollout> rollouts{standing(cloth, 4), standing(cloth, 2)};
    const Motion motion = source_of(header_for(cloth, 1e-3, 5, {}), rollouts);
    double last = 0;
    surrogate_error(cloth, motion, Device::cpu, 1, Progress([&](const ProgressUpdate& update) {
                        EXPECT_GT(update.done, last);
                        EXPECT_EQ(update.total, 6);
                        last = update.done;
                        return true;
                    }));
    EXPECT_EQ(last, 6);
    const Progress none([](const ProgressUpdate&) { return false; });
    EXPECT_THROW(surrogate_error(cloth, motion, Device::cpu, 2, none), Cancelled);
}

// ---- What needs no model ----

// All landmarks move by f d, |d| = 0.75 m: over n frames the distances 0 .. (n - 1) |d| have the
// mean |d| (n - 1) / 2 and the variance |d|^2 (n^2 - 1) / 12.
TEST(StaticError, OfATranslationIsItsLength)
{
    const Cloth cloth = square_cloth();
    const auto drift = [](std::size_t) { return Vec3d{0.25, -0.5, 0.5}; };
    const Motion motion = source_of(header_for(cloth, 1e-3, 10, {}), {drifting(cloth, 9, drift)});
    const MotionError error = static_error(motion);
    // All coordinates are floats: only the roots and sums of doubles round.
    EXPECT_NEAR(error.mean, 0.75 * 4, 1e-14);
    EXPECT_NEAR(error.std, 0.75 * std::sqrt(80.0 / 12), 1e-14);
    for (int f = 0; f < 9; ++f) EXPECT_NEAR(error.over_time[f], 0.75 * f, 1e-14);
}

// One corner of four moves by f m, which makes f / 2 at a frame. Rollouts of 2, 4 and 1 frames have
// the means 1/4, 3/4 and 0; of all seven, 0 0.5, 0 0.5 1 1.5, 0, the mean is 3.5 / 7 and that of
// the squares (0.25 + 0.25 + 1 + 2.25) / 7.
TEST(StaticError, AveragesOverRolloutsOfDifferentLength)
{
    const Cloth cloth = square_cloth();
    const auto drift = [](std::size_t p) { return p == 3 ? Vec3d{0, 0, 1} : Vec3d{}; };
    const Motion motion = source_of(
        header_for(cloth, 1e-3, 10, {}),
        {drifting(cloth, 2, drift), drifting(cloth, 4, drift), drifting(cloth, 1, drift)});
    const MotionError error = static_error(motion);
    expect_near(error.per_rollout, {0.25, 0.75, 0}, 1e-15);
    expect_near(error.over_time, {0, 0.5, 1, 1.5}, 1e-15);
    EXPECT_NEAR(error.mean, 0.5, 1e-15);
    EXPECT_NEAR(error.std, std::sqrt(3.75 / 7 - 0.25), 1e-15);
}

TEST(HandlesError, OfARigidTranslationIsZero)
{
    const Cloth cloth = square_cloth();
    Rollout rollout = drifting(cloth, 5, [](std::size_t) { return Vec3d{0.25, 0, -1}; });
    rollout.handles = moving_handles({1}, rollout, 1e-2);
    const Motion motion = source_of(header_for(cloth, 1e-3, 10, {}), {rollout});
    EXPECT_EQ(handles_error(motion).mean, 0);
    EXPECT_GT(static_error(motion).mean, 1);
}

// Handles 0 and 1 move by f and 3 f along x, so the shape by 2 f. Landmarks 2 and 3, which are
// free, stay: both are 2 f off.
TEST(HandlesError, MovesTheShapeByTheMeanOfItsHandles)
{
    const Cloth cloth = square_cloth();
    Rollout rollout = drifting(cloth, 4, [](std::size_t p) {
        return Vec3d{p == 0 ? 1.0 : p == 1 ? 3.0 : 0.0, 0, 0};
    });
    rollout.handles = moving_handles({0, 1}, rollout, 1e-2);
    const Motion motion = source_of(header_for(cloth, 1e-3, 10, {}), {rollout});
    expect_near(handles_error(motion).over_time, {0, 2, 4, 6}, 1e-14);
}

TEST(HandlesError, WithPinsOrWithoutHandlesNothingMoves)
{
    const Cloth cloth = square_cloth();
    const auto drift = [](std::size_t p) { return p == 0 ? Vec3d{} : Vec3d{0, 0.5, 0}; };
    std::vector<Rollout> rollouts(2, drifting(cloth, 4, drift));
    rollouts[0].handles.particles = {0};
    const Motion motion = source_of(header_for(cloth, 1e-3, 10, {}), rollouts);
    EXPECT_EQ(handles_error(motion).per_rollout, static_error(motion).per_rollout);
}

// ---- Bad input ----

TEST(MotionError, SaysWhatDoesNotFit)
{
    const Cloth cloth = square_cloth();
    const MotionHeader header = header_for(cloth, 1e-3, 10, {});
    Motion motion = source_of(header, {standing(cloth, 3)});
    Cloth other = cloth;
    other.sheet.width = 1.3;
    const std::string text = message<Error>([&] { run(other, motion); });
    EXPECT_NE(text.find("a sheet of 1 m x 1.3 m, but the motion is that of one of 1 m x 1 m"),
              std::string::npos)
        << text;
    other.sheet.width = 1.1;  // a size that was fitted
    EXPECT_NO_THROW(run(other, motion));
    EXPECT_NE(message<Error>([&] { run(cloth, source_of(header, {})); }).find("no rollouts"),
              std::string::npos);
    motion.frame_counts.push_back(0);
    EXPECT_NE(message<Error>([&] { run(cloth, motion); }).find("rollout 1 of the motion has no"),
              std::string::npos);
}

// ---- Parameters ----

// Two structural springs off by 3 and 4, one bending spring off by -5 [N/m]; dampings off by 0, 2
// and 1 [N s/m].
TEST(ParameterError, IsTheRootMeanSquareInAllAndByFamily)
{
    Cloth truth = chain_cloth(4, 1, 1, 100, 10);
    truth.springs.family[2] = SpringFamily::bending;
    Cloth cloth = truth;
    cloth.springs.stiffness = {103, 104, 95};
    cloth.springs.damping = {10, 12, 11};
    const std::vector<ParameterError> errors = parameter_errors(cloth, truth);
    ASSERT_EQ(errors.size(), 2u);
    EXPECT_EQ(errors[0].kind->name, "stiffness");
    EXPECT_DOUBLE_EQ(errors[0].all, std::sqrt(50.0 / 3));
    ASSERT_EQ(errors[0].by_family.size(), 2u);
    EXPECT_DOUBLE_EQ(errors[0].by_family.at("structural"), std::sqrt(12.5));
    EXPECT_DOUBLE_EQ(errors[0].by_family.at("bending"), 5);
    EXPECT_EQ(errors[1].kind->name, "damping");
    EXPECT_DOUBLE_EQ(errors[1].all, std::sqrt(5.0 / 3));
    ASSERT_EQ(errors[1].by_family.size(), 2u);
    EXPECT_DOUBLE_EQ(errors[1].by_family.at("structural"), std::sqrt(2.0));
    EXPECT_DOUBLE_EQ(errors[1].by_family.at("bending"), 1);
    for (const ParameterError& error : parameter_errors(truth, truth)) EXPECT_EQ(error.all, 0);
}

TEST(ParameterError, IsOfTheParametersThatBothClothsHave)
{
    Cloth truth = chain_cloth(3, 1, 1, 100, 10);
    set_law(truth, {{0}, true});
    Cloth cloth = truth;
    cloth.springs.ranges[0].stiffness = {103, 104};
    cloth.springs.isotropic_damping = {1, 1};
    const std::vector<ParameterError> errors = parameter_errors(cloth, truth);
    ASSERT_EQ(errors.size(), 4u);
    EXPECT_EQ(errors[2].label, "stiffness from strain -inf to 0");
    EXPECT_DOUBLE_EQ(errors[2].all, std::sqrt(12.5));
    EXPECT_EQ(errors[3].kind->name, "isotropic_damping");
    EXPECT_EQ(errors[3].all, 1);
    set_law(cloth, {{0.1}, false});  // other ranges
    EXPECT_EQ(parameter_errors(cloth, truth).size(), 2u);
}

TEST(ParameterError, RefusesOtherSprings)
{
    const Cloth cloth = chain_cloth(4, 1, 1, 100, 10);
    const auto text = [&](const Cloth& truth) {
        return message<Error>([&] { parameter_errors(cloth, truth); });
    };
    EXPECT_NE(text(chain_cloth(5, 1, 1, 100, 10)).find("has 3 springs, but the truth has 4"),
              std::string::npos);
    Cloth other = cloth;
    other.springs.ends[1] = {1, 3};
    EXPECT_NE(text(other).find("spring 1 of the cloth is structural from particle 1 to 2, but that "
                               "of the truth is structural from 1 to 3"),
              std::string::npos);
    other = cloth;
    other.springs.family[2] = SpringFamily::bending;
    EXPECT_NE(text(other).find("that of the truth is bending"), std::string::npos);
}

}  // namespace

}  // namespace springtime
