#include "formats/exports/frame_stream.h"

#include <algorithm>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

// ---- Gaps ----

GapTable::GapTable(const Motion& motion, std::size_t rollout)
    : landmarks_(motion.header.landmark_count()),
      frames_(motion.frame_counts[rollout]),
      open_(landmarks_, -1),
      last_(landmarks_),
      seen_(landmarks_, false)
{
    const std::size_t most = frames_per_piece(landmarks_);
    for (std::size_t first = 0; first < frames_; first += most) {
        scan(motion.read(rollout, first, std::min(most, frames_ - first)), first);
    }
}

void GapTable::scan(const Rollout& piece, std::size_t first)
{
    for (std::size_t f = 0; f < piece.frame_count; ++f) {
        const float* x = &piece.position[f * landmarks_ * 3];
        for (std::size_t l = 0; l < landmarks_; ++l, x += 3) {
            int& open = open_[l];
            if (std::isnan(x[0])) {
                if (open < 0) {
                    open = int(gaps_.size());
                    gaps_.push_back({l, first + f, frames_, last_[l], {}, seen_[l], false});
                }
                continue;
            }
            last_[l] = {x[0], x[1], x[2]};
            seen_[l] = true;
            if (open < 0) continue;
            gaps_[open].end = first + f;
            gaps_[open].after = last_[l];
            gaps_[open].has_after = true;
            open = -1;
        }
    }
}

std::size_t GapTable::missing(std::size_t first, std::size_t last) const
{
    std::size_t count = 0;
    for (const Gap& gap : gaps_) {
        const std::size_t begin = std::max(gap.begin, first), end = std::min(gap.end, last + 1);
        if (begin < end) count += end - begin;
    }
    return count;
}

GapTable::Place GapTable::first_missing(std::size_t first) const
{
    const auto gap = std::find_if(gaps_.begin(), gaps_.end(),
                                  [&](const Gap& candidate) { return candidate.end > first; });
    return {std::max(first, gap->begin), gap->landmark};
}

std::optional<std::size_t> GapTable::never_seen() const
{
    const auto found = std::find(seen_.begin(), seen_.end(), false);
    if (found == seen_.end()) return {};
    return std::size_t(found - seen_.begin());
}

void GapTable::fill(std::vector<float>& position, std::size_t first) const
{
    const std::size_t last = first + position.size() / (3 * landmarks_);
    for (const Gap& gap : gaps_) {
        if (gap.begin >= last) break;  // they are in the order in which they begin
        for (std::size_t f = std::max(gap.begin, first); f < std::min(gap.end, last); ++f) {
            // From one frame before the gap to the frame that ends it.
            const double length = double(gap.end - gap.begin) + 1;
            double share = (double(f - gap.begin) + 1) / length;
            if (!gap.has_before) share = 1;
            if (!gap.has_after) share = 0;
            float* x = &position[((f - first) * landmarks_ + gap.landmark) * 3];
            for (int axis = 0; axis < 3; ++axis) {
                x[axis] = float((1 - share) * gap.before[axis] + share * gap.after[axis]);
            }
        }
    }
}

// ---- Frames ----

namespace {

constexpr double kRounding = 1e-6;  // of a frame: times are sums and quotients of decimal numbers
constexpr double kMostFrames = 1e7;

void check_choice(const ExportTimes& choice, const std::string& source)
{
    for (const auto& [name, value] : {std::pair{"from", choice.from}, {"until", choice.until}}) {
        if (!value || (std::isfinite(*value) && *value >= 0)) continue;
        throw Error(Field{name}, "{} s; {} needs a time that is finite and not negative", *value,
                    source);
    }
    if (choice.rate && !(std::isfinite(*choice.rate) && *choice.rate > 0)) {
        throw Error(Field{"rate"}, "{}; the frames per second must be finite and positive",
                    *choice.rate);
    }
}

// Stored frames from one exported frame to the next; whole where rounding alone keeps it from that.
double step_for(double stored_rate, double rate)
{
    const double step = stored_rate / rate, whole = std::round(step);
    return whole >= 1 && std::abs(step - whole) < kRounding * whole ? whole : step;
}

// Ends of intervals lie between the two, and a missing one makes all that depend on it missing.
void mix(std::span<const float> a, std::span<const float> b, double share, std::vector<float>& out)
{
    out.resize(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) out[i] = float((1 - share) * a[i] + share * b[i]);
}

}  // namespace

bool FrameSelection::interpolates() const
{
    return step != std::floor(step);
}

std::size_t FrameSelection::last_stored() const
{
    return first + std::size_t(std::ceil(double(count - 1) * step - kRounding));
}

FrameSelection select_frames(std::size_t stored, double interval, const ExportTimes& choice,
                             const std::string& source)
{
    check_choice(choice, source);
    const double end = double(stored - 1);
    const double first = std::ceil(choice.from.value_or(0) / interval - kRounding);
    const double last =
        choice.until ? std::min(end, std::floor(*choice.until / interval + kRounding)) : end;
    if (first > last) {
        throw Error(
            "{}: no frame from {} s until {} s; it has frames from 0 s to {:.6g} s, every {:.6g} s",
            source, choice.from.value_or(0), choice.until.value_or(end * interval), end * interval,
            interval);
    }
    FrameSelection plan;
    plan.first = std::size_t(std::max(first, 0.0));
    plan.interval = interval;
    plan.rate = choice.rate.value_or(1 / interval);
    plan.step = choice.rate ? step_for(1 / interval, *choice.rate) : 1;
    const double count = std::floor((last - double(plan.first)) / plan.step + kRounding) + 1;
    if (count > kMostFrames) {
        throw Error(Field{"rate"},
                    "{} makes {:.3g} frames of {}; at most {:.0f} are written, lower it", plan.rate,
                    count, source, kMostFrames);
    }
    plan.count = std::size_t(count);
    return plan;
}

std::size_t frames_per_piece(std::size_t landmarks)
{
    constexpr std::size_t kFloats = 1 << 20;
    return std::max<std::size_t>(2, kFloats / (3 * std::max<std::size_t>(landmarks, 1)));
}

FrameStream::FrameStream(const Motion& motion, std::size_t rollout, const FrameSelection& plan,
                         const GapTable* fill)
    : motion_(motion), rollout_(rollout), plan_(plan), fill_(fill)
{
}

FrameStream::Stored FrameStream::stored(std::size_t frame)
{
    if (piece_.frame_count == 0 || frame < piece_first_ ||
        frame >= piece_first_ + piece_.frame_count) {
        const std::size_t landmarks = motion_.header.landmark_count();
        const std::size_t left = plan_.last_stored() + 1 - frame;
        piece_ = motion_.read(rollout_, frame, std::min(left, frames_per_piece(landmarks)));
        piece_first_ = frame;
        if (fill_) fill_->fill(piece_.position, frame);
    }
    const std::size_t row = motion_.header.landmark_count() * 3, at = (frame - piece_first_) * row;
    const auto cut = [&](const std::vector<float>& values) {
        return values.empty() ? std::span<const float>{} : std::span(values).subspan(at, row);
    };
    return {cut(piece_.position), cut(piece_.velocity)};
}

bool FrameStream::next(ExportFrame& frame)
{
    if (number_ == plan_.count) return false;
    const double place = double(plan_.first) + double(number_) * plan_.step;
    const double whole = std::floor(place + kRounding), share = place - whole;
    frame.number = number_;
    frame.time = plan_.time(number_);
    ++number_;
    const Stored at = stored(std::size_t(whole));
    if (std::abs(share) <= kRounding) {
        frame.position = at.position;
        frame.velocity = at.velocity;
        return true;
    }
    // Copied, since the frame after it may lie in the next piece.
    const std::vector<float> position(at.position.begin(), at.position.end());
    const std::vector<float> velocity(at.velocity.begin(), at.velocity.end());
    const Stored after = stored(std::size_t(whole) + 1);
    mix(position, after.position, share, position_);
    mix(velocity, after.velocity, share, velocity_);
    frame.position = position_;
    frame.velocity = velocity_;
    return true;
}

}  // namespace springtime
