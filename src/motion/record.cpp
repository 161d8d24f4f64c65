#include "motion/record.h"

#include "sim/forces.h"
#include "sim/obstacle_placement.h"
#include "sim/stepper.h"
#include "springtime/error.h"

namespace springtime {

namespace {

// One frame, with a look at the listener after every piece of it.
std::optional<StepReport> next_frame(Simulation& simulation, int stride,
                                     const std::function<void(double share)>& piece_done)
{
    const int piece = steps_per_piece(simulation.cloth().particle_count() * simulation.substeps());
    for (int done = 0; done < stride; done += piece) {
        const int count = std::min(piece, stride - done);
        if (const auto report = simulation.advance(count)) return report;
        piece_done(double(done + count) / stride);
    }
    return std::nullopt;
}

void append(std::vector<float>& to, const std::vector<Vec3d>& from)
{
    for (const Vec3d& a : from) {
        to.push_back(float(a.x));
        to.push_back(float(a.y));
        to.push_back(float(a.z));
    }
}

// Where particles meet something, forces do not tell the acceleration and it is left out.
void append_frame(Rollout& rollout, const State& state, const std::vector<Vec3d>& accelerations)
{
    ++rollout.frame_count;
    append(rollout.position, state.position);
    append(rollout.velocity, state.velocity);
    append(rollout.acceleration, accelerations);
}

Rollout empty_rollout(const Handles& handles, std::size_t frames, std::size_t particles)
{
    Rollout rollout;
    rollout.handles = handles;
    rollout.position.reserve(3 * frames * particles);
    rollout.velocity.reserve(3 * frames * particles);
    rollout.acceleration.reserve(3 * frames * particles);
    return rollout;
}

}  // namespace

RecordedLanes record_lanes(const Cloth& cloth, const SimulationOptions& options,
                           const std::vector<RolloutStart>& starts, std::size_t frames, int stride,
                           bool with_accelerations, const std::function<void(double frames)>& done)
{
    check_contact(options);
    const ForceTable<double> table(cloth, options.environment);
    const auto stepper = make_batch_stepper(cloth, options);
    std::vector<State> states;
    std::vector<Handles> handles;
    RecordedLanes result;
    for (std::size_t lane = 0; lane < starts.size(); ++lane) {
        handles.push_back(starts[lane].handles);
        states.push_back(with_handles(starts[lane].state, handles[lane], options.dt));
        result.rollouts.push_back(empty_rollout(handles[lane], frames, cloth.particle_count()));
        stepper->load(static_cast<int>(lane), states[lane], handles[lane]);
        stepper->store(static_cast<int>(lane), states[lane]);  // in the precision it runs in
    }
    for (std::size_t frame = 0; frame < frames; ++frame) {
        if (frame > 0) {
            result.blow_up =
                advance_checked(*stepper, states, handles, stride, cloth, options.dt, done);
            if (result.blow_up) {
                result.blow_up->step += long(frame - 1) * stride;
                return result;
            }
        }
        for (std::size_t lane = 0; lane < starts.size(); ++lane) {
            append_frame(result.rollouts[lane], states[lane],
                         has_contact(options) || !with_accelerations
                             ? std::vector<Vec3d>{}
                             : acceleration(table, handles[lane], states[lane]));
        }
        if (frame == 0) done(1);
    }
    return result;
}

std::vector<Rollout> record_batch(const Cloth& cloth, const SimulationOptions& options,
                                  const std::vector<RolloutStart>& starts, std::size_t frames,
                                  int stride, const std::function<void(double frames)>& done)
{
    RecordedLanes recorded = record_lanes(cloth, options, starts, frames, stride, true, done);
    if (recorded.blow_up) throw Failure("{}", describe(*recorded.blow_up, cloth, options));
    return std::move(recorded.rollouts);
}

void record(Simulation& simulation, std::size_t frames, int stride, Recording& recording,
            const Progress& progress, const std::optional<RestRule>& rest)
{
    recording = {};
    std::optional<RestWatch> watch;
    if (rest) watch.emplace(after_all_paths(*rest, simulation));
    recording.rollout =
        empty_rollout(simulation.handles(), frames, simulation.cloth().particle_count());
    const auto report = [&](double done) {
        progress.report({"simulate", done, double(frames), "frames", {}});
    };
    for (std::size_t frame = 0; frame < frames && !recording.settled; ++frame) {
        if (frame > 0) {
            recording.blow_up = next_frame(simulation, stride, [&](double share) {
                if (share < 1) report(double(frame) + share);
            });
        }
        if (recording.blow_up) break;
        append_frame(
            recording.rollout, simulation.state(),
            has_contact(simulation.options()) ? std::vector<Vec3d>{} : simulation.acceleration());
        recording.settled = watch && watch->settled(simulation.state());
        report(double(frame + 1));
    }
}

Recording record(Simulation& simulation, std::size_t frames, int stride, const Progress& progress,
                 const std::optional<RestRule>& rest)
{
    Recording recording;
    record(simulation, frames, stride, recording, progress, rest);
    return recording;
}

}  // namespace springtime
