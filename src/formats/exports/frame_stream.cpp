#include "formats/exports/frame_stream.h"

#include <algorithm>
#include <cmath>

#include "springtime/error.h"

namespace springtime {

namespace {

constexpr double kRounding = 1e-6;  // of a frame: times are sums and quotients of decimal numbers
constexpr double kMostFrames = 1e7;

void check_choice(const ExportTimes& choice, const std::string& source)
{
    for (const auto& [name, value] :
         {std::pair{"--from", choice.from}, {"--until", choice.until}}) {
        if (!value || (std::isfinite(*value) && *value >= 0)) continue;
        throw Error("{}: {} {}: a time in seconds is needed, not negative", source, name, *value);
    }
    if (choice.rate && !(std::isfinite(*choice.rate) && *choice.rate > 0)) {
        throw Error("{}: --fps {}: frames per second must be positive", source, *choice.rate);
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
        throw Error("{}: --fps {} makes {:.3g} frames; at most {:.0f} are written, lower it",
                    source, plan.rate, count, kMostFrames);
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
