#include "capture/tool_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/quantile.h"
#include "geometry/linear_algebra.h"
#include "springtime/error.h"

namespace springtime {

namespace {

Vec3d middle_of(const PointFrame& path)
{
    std::vector<double> along[3];
    for (const Vec3d& x : path) {
        if (!is_seen(x)) continue;
        for (int axis = 0; axis < 3; ++axis) along[axis].push_back(x[axis]);
    }
    if (along[0].empty()) return kMissingPoint;
    return {quantile(along[0], 0.5), quantile(along[1], 0.5), quantile(along[2], 0.5)};
}

// Calls `visit` with frame and held point wherever one is seen.
template <class Visit>
void for_seen(const HeldTracks& track, Visit visit)
{
    for (std::size_t f = 0; f < track.seen.size(); ++f) {
        for (std::size_t h = 0; h < track.seen[f].size(); ++h) {
            if (is_seen(track.seen[f][h])) visit(f, h);
        }
    }
}

std::vector<double> residuals(const ToolFit& fit, const PoseLog& log, const HeldTracks& track,
                              std::size_t take)
{
    std::vector<double> found;
    for_seen(track, [&](std::size_t f, std::size_t h) {
        found.push_back(length(track.seen[f][h] - fit.place(log, take, h, track.time[f])));
    });
    return found;
}

// ---- A start ----

// The rotation that takes directions `from` to directions `to` (Horn 1987): the eigenvector of the
// largest eigenvalue of a symmetric matrix of their products.
Turn best_turn(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to)
{
    double s[3][3]{};
    for (std::size_t i = 0; i < from.size(); ++i) {
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) s[a][b] += from[i][a] * to[i][b];
        }
    }
    const std::vector<double> matrix = {
        s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1],           s[2][0] - s[0][2],
        s[0][1] - s[1][0],           s[1][2] - s[2][1],           s[0][0] - s[1][1] - s[2][2],
        s[0][1] + s[1][0],           s[2][0] + s[0][2],           s[2][0] - s[0][2],
        s[0][1] + s[1][0],           s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1],
        s[0][1] - s[1][0],           s[2][0] + s[0][2],           s[1][2] + s[2][1],
        s[2][2] - s[0][0] - s[1][1]};
    const std::vector<double> q = symmetric_eigenpairs(matrix).vector.front();
    return {q[1], q[2], q[3], q[0]};
}

// The tracks and the tool at a delay, both from the middle of their paths.
struct Paths {
    std::vector<Vec3d> tool, seen;
    Vec3d tool_middle{}, seen_middle{};  // means over held points

    Paths(const PoseLog& log, const HeldTracks& track, double delay)
    {
        constexpr std::size_t kEnough = 400;  // frames, for a start
        const std::size_t held = track.seen.front().size(), step = 1 + track.seen.size() / kEnough;
        for (std::size_t h = 0; h < held; ++h) {
            PointFrame path, place;
            for (std::size_t f = 0; f < track.seen.size(); f += step) {
                if (!is_seen(track.seen[f][h])) continue;
                path.push_back(track.seen[f][h]);
                place.push_back(log.place(h, track.time[f] - delay, {}));
            }
            if (path.empty()) continue;
            const Vec3d from = middle_of(place), to = middle_of(path);
            tool_middle += (1 / double(held)) * from;
            seen_middle += (1 / double(held)) * to;
            for (const Vec3d& x : place) tool.push_back(x - from);
            for (const Vec3d& x : path) seen.push_back(x - to);
        }
    }
    double off(const Turn& turn) const
    {
        std::vector<double> away;
        for (std::size_t i = 0; i < tool.size(); ++i)
            away.push_back(length(seen[i] - turn(tool[i])));
        return std::accumulate(away.begin(), away.end(), 0.0) / double(away.size());
    }
};

struct Start {
    double delay = 0, off = HUGE_VAL;
    Turn turn;
    Vec3d shift;
};

// The delay at which the tool explains the tracks best, with axes as they are or turned.
Start best_delay(const PoseLog& log, const HeldTracks& track, double reach, bool turned,
                 std::optional<double> delay)
{
    constexpr double kStep = 0.02;  // [s]
    Start best;
    for (double d = delay ? *delay : -reach; d <= (delay ? *delay : reach); d += kStep) {
        const Paths paths(log, track, d);
        const Turn turn = turned ? best_turn(paths.tool, paths.seen) : Turn{};
        const double off = paths.off(turn);
        if (off < best.off) best = {d, off, turn, paths.seen_middle - turn(paths.tool_middle)};
    }
    return best;
}

// ---- Robust least squares ----

// Unknowns: a rotation vector and a shift of all takes; of every take the delay and the offsets.
class Solver {
  public:
    Solver(const std::vector<PoseLog>& logs, const std::vector<HeldTracks>& tracks, bool turned,
           bool shifted, bool delayed)
        : logs_(logs), tracks_(tracks), turned_(turned), shifted_(shifted), delayed_(delayed)
    {
        held_ = tracks.front().seen.front().size();
        shared_ = std::size_t(3 * int(turned_) + 3 * int(shifted_));
        per_take_ = std::size_t(delayed_) + 3 * held_;
        count_ = shared_ + per_take_ * logs_.size();
    }

    // Gauss and Newton, with weights of the residuals before. Ends when nothing changes.
    void solve(ToolFit& fit)
    {
        constexpr int kRounds = 40;
        for (int round = 0; round < kRounds; ++round) {
            gather(fit);
            const std::vector<double> step = factors().solve(right_);
            const double moved = change(fit, step);
            if (moved < 1e-7) break;
        }
        if (delayed_) set_errors(fit);
    }

  private:
    // A column of derivatives: the unknown, and the change of the place.
    using Column = std::pair<std::size_t, Vec3d>;

    std::vector<Column> columns(const ToolFit& fit, std::size_t take, std::size_t held,
                                double time) const
    {
        constexpr double kStep = 1e-3;  // [s] and [m]
        const auto& [delay, error, offset, rms, usual] = fit.takes[take];
        const PoseLog& log = logs_[take];
        const Vec3d here = fit.turn(log.place(held, time - delay, offset[held]));
        std::vector<Column> found;
        const std::array<Vec3d, 3> axes{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
        for (std::size_t a = 0; a < 3 && turned_; ++a) found.push_back({a, cross(axes[a], here)});
        for (std::size_t a = 0; a < 3 && shifted_; ++a) {
            found.push_back({shared_ - 3 + a, axes[a]});
        }
        std::size_t next = shared_ + take * per_take_;
        if (delayed_) {
            const Vec3d ahead = log.place(held, time - delay - kStep, offset[held]),
                        behind = log.place(held, time - delay + kStep, offset[held]);
            found.push_back({next++, fit.turn((0.5 / kStep) * (ahead - behind))});
        }
        for (std::size_t a = 0; a < 3; ++a) {
            const Vec3d moved = log.place(held, time - delay, offset[held] + axes[a]);
            found.push_back({next + 3 * held + a, fit.turn(moved) - here});
        }
        return found;
    }

    void gather(const ToolFit& fit)
    {
        constexpr double kHuber = 1.5;  // of the median residual
        scale_ = 0;
        matrix_.assign(count_ * count_, 0);
        right_.assign(count_, 0);
        for (std::size_t t = 0; t < logs_.size(); ++t) {
            const HeldTracks& track = tracks_[t];
            const std::vector<double> all = residuals(fit, logs_[t], track, t);
            const double limit = std::max(kHuber * quantile(all, 0.5), 1e-6);
            scale_ = std::max(scale_, limit);
            for_seen(track, [&](std::size_t f, std::size_t h) {
                const Vec3d off = track.seen[f][h] - fit.place(logs_[t], t, h, track.time[f]);
                const double weight = std::min(1.0, limit / std::max(length(off), 1e-12));
                const std::vector<Column> found = columns(fit, t, h, track.time[f]);
                for (const auto& [i, a] : found) {
                    right_[i] += weight * dot(a, off);
                    for (const auto& [j, b] : found) {
                        matrix_[i * count_ + j] += weight * dot(a, b);
                    }
                }
            });
        }
        // What the motion leaves open changes little: offsets and shift trade off where the tool
        // hardly turns. A metre is worth as much as one observation.
        for (std::size_t i = 0; i < count_; ++i) matrix_[i * count_ + i] += scale_ * scale_;
    }

    SparseFactors factors() const
    {
        std::vector<SparseFactors::Entry> entries;
        std::vector<int> order(count_);
        std::iota(order.begin(), order.end(), 0);
        for (std::size_t i = 0; i < count_; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                entries.push_back({int(i), int(j), matrix_[i * count_ + j]});
            }
        }
        return SparseFactors(entries, order);
    }

    double change(ToolFit& fit, const std::vector<double>& step) const
    {
        const auto at = [&](std::size_t i) { return Vec3d{step[i], step[i + 1], step[i + 2]}; };
        double most = 0;
        for (const double s : step) most = std::max(most, std::abs(s));
        if (turned_) {
            fit.turn = turn_by(at(0)) * fit.turn;
            fit.shift = shifted_ ? fit.shift : Vec3d{};
        }
        if (shifted_) fit.shift += at(shared_ - 3);
        for (std::size_t t = 0; t < fit.takes.size(); ++t) {
            std::size_t next = shared_ + t * per_take_;
            if (delayed_) fit.takes[t].delay += step[next++];
            for (std::size_t h = 0; h < held_; ++h) fit.takes[t].offset[h] += at(next + 3 * h);
        }
        return most;
    }

    // By the inverse of the normal matrix and the weighted residuals. These are alike from frame to
    // frame, so that fewer of them are independent: (1 - r) / (1 + r) of all for a correlation r.
    void set_errors(ToolFit& fit) const
    {
        const SparseFactors inverse = factors();
        for (std::size_t t = 0; t < fit.takes.size(); ++t) {
            const HeldTracks& track = tracks_[t];
            const double limit = 1.5 * quantile(residuals(fit, logs_[t], track, t), 0.5);
            double squares = 0, products = 0, count = 0;
            for (std::size_t h = 0; h < held_; ++h) {
                Vec3d before{};
                for (std::size_t f = 0; f < track.seen.size(); ++f) {
                    if (!is_seen(track.seen[f][h])) continue;
                    Vec3d off = track.seen[f][h] - fit.place(logs_[t], t, h, track.time[f]);
                    off = std::min(1.0, limit / std::max(length(off), 1e-12)) * off;
                    squares += dot(off, off);
                    products += dot(off, before);
                    count += 3;
                    before = off;
                }
            }
            const double alike = std::clamp(products / std::max(squares, 1e-300), 0.0, 0.95);
            std::vector<double> unit(count_, 0);
            const std::size_t own = shared_ + t * per_take_;
            unit[own] = 1;
            const double variance = inverse.solve(unit)[own] * squares / std::max(count, 1.0);
            fit.takes[t].delay_error = std::sqrt(variance * (1 + alike) / (1 - alike));
        }
    }

    const std::vector<PoseLog>& logs_;
    const std::vector<HeldTracks>& tracks_;
    bool turned_, shifted_, delayed_;
    std::size_t held_, shared_, per_take_, count_;
    std::vector<double> matrix_, right_;
    double scale_ = 0;  // [m] of residuals
};

void set_residuals(ToolFit& fit, const std::vector<PoseLog>& logs,
                   const std::vector<HeldTracks>& tracks)
{
    for (std::size_t t = 0; t < logs.size(); ++t) {
        const std::vector<double> all = residuals(fit, logs[t], tracks[t], t);
        double squares = 0;
        for (const double r : all) squares += r * r / double(all.size());
        fit.takes[t].residual = std::sqrt(squares);
        fit.takes[t].usual_residual = quantile(all, 0.5);
    }
}

double mean_usual(const ToolFit& fit)
{
    double sum = 0;
    for (const ToolFit::Take& take : fit.takes) sum += take.usual_residual;
    return sum / double(fit.takes.size());
}

// ---- Checks ----

// Metres, centimetres or millimetres: the tool moves about as far as what it holds.
void choose_log_unit(PoseLog& log, const HeldTracks& track)
{
    constexpr double kMoves = 0.005;  // [m], below which noise is all that moves
    if (log.states_unit()) return;
    const double far = log.spread(), wanted = track.spread();
    if (wanted < kMoves || far == 0) return;
    double best = 1;
    for (const double factor : {1000.0, 100.0, 10.0, 0.1, 0.01, 0.001}) {
        if (std::abs(std::log(far * factor / wanted)) < std::abs(std::log(far * best / wanted))) {
            best = factor;
        }
    }
    if (best != 1) log.scale_by(best);
}

// `slack` [s] is what is open yet of the delay.
void check_reach(const PoseLog& log, const HeldTracks& track, double delay, double slack = 0)
{
    constexpr double kLeast = 1, kShare = 0.05;  // [s], of the recording
    const double from = track.time.front() - delay, until = track.time.back() - delay;
    const double open = std::max({0.0, log.start() - from, until - log.end()});
    if (open <= slack + std::max(kLeast, kShare * (until - from))) return;
    throw Error(Field{"handle_path"},
                "{}: its poses reach from {:.3g} s to {:.3g} s after the first frame of {}, which "
                "needs them from {:.3g} s to {:.3g} s; give the log of the same recording, cut "
                "with `from` and `until`, or say with `handle_delay` how far its clock is behind",
                log.source(), log.start(), log.end(), track.source, from, until);
}

void check_fit(const ToolFit::Take& take, const PoseLog& log, const HeldTracks& track)
{
    constexpr double kWorse = 0.5, kMoves = 0.01;
    const double spread = track.spread();
    if (spread < kMoves || take.usual_residual < kWorse * spread) return;
    throw Error(Field{"handle_path"},
                "{}: it does not explain how the held points of {} move: they are {:.2g} mm from "
                "it and move by {:.2g} mm about their middle (medians); name the logs in the order "
                "of the recordings, and check `driven`",
                log.source(), track.source, 1e3 * take.usual_residual, 1e3 * spread);
}

}  // namespace

double HeldTracks::spread() const
{
    std::vector<double> away;
    for (std::size_t h = 0; h < seen.front().size(); ++h) {
        PointFrame path;
        for (const PointFrame& frame : seen) path.push_back(frame[h]);
        const Vec3d middle = middle_of(path);
        for (const Vec3d& x : path) {
            if (is_seen(x)) away.push_back(length(x - middle));
        }
    }
    return away.empty() ? 0 : quantile(away, 0.5);
}

Vec3d ToolFit::place(const PoseLog& log, std::size_t take, std::size_t held, double time) const
{
    return turn(log.place(held, time - takes[take].delay, takes[take].offset[held])) + shift;
}

ToolFit fit_tool(std::vector<PoseLog>& logs, const std::vector<HeldTracks>& tracks,
                 std::optional<double> delay)
{
    constexpr double kReach = 2;      // [s], more than any camera lags
    constexpr double kClearly = 0.6;  // of the residual, for axes that have nothing in common
    constexpr double kBetter = 0.9;   // of the residual, for axes that are a little off
    ToolFit fit;
    std::vector<Start> same, turned;
    double off_same = 0, off_turned = 0;
    for (std::size_t t = 0; t < logs.size(); ++t) {
        choose_log_unit(logs[t], tracks[t]);
        const double reach = logs[t].shared_clock()
                                 ? kReach
                                 : 0.5 * (tracks[t].time.back() - tracks[t].time.front());
        check_reach(logs[t], tracks[t], delay.value_or(0), delay ? 0 : reach);
        same.push_back(best_delay(logs[t], tracks[t], reach, false, delay));
        turned.push_back(best_delay(logs[t], tracks[t], reach, true, delay));
        off_same += same.back().off;
        off_turned += turned.back().off;
    }
    const bool other_axes = off_turned < kClearly * off_same;
    fit.other_axes = other_axes;
    if (other_axes) {
        fit.turn = turned.front().turn;
        fit.shift = turned.front().shift;
    }
    for (std::size_t t = 0; t < logs.size(); ++t) {
        ToolFit::Take take;
        take.delay = (other_axes ? turned : same)[t].delay;
        take.offset.assign(tracks[t].seen.front().size(), {});
        fit.takes.push_back(take);
        check_reach(logs[t], tracks[t], take.delay);
    }
    Solver(logs, tracks, other_axes, other_axes, !delay).solve(fit);
    set_residuals(fit, logs, tracks);
    if (!other_axes) {
        ToolFit little = fit;
        Solver(logs, tracks, true, false, !delay).solve(little);
        set_residuals(little, logs, tracks);
        if (mean_usual(little) < kBetter * mean_usual(fit)) fit = little;
    }
    for (std::size_t t = 0; t < logs.size(); ++t) {
        check_reach(logs[t], tracks[t], fit.takes[t].delay);
        check_fit(fit.takes[t], logs[t], tracks[t]);
    }
    return fit;
}

}  // namespace springtime
