#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "formats/tracks/byte_source.h"
#include "formats/tracks/open_tracks.h"
#include "springtime/error.h"

// Point caches: all points of every frame, one after the other, as 32-bit floats.
namespace springtime {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPc2Magic("POINTCACHE2\0", 12);
constexpr ScalarFormat kBigInt{'i', 4, true}, kBigFloat{'f', 4, true};
constexpr ScalarFormat kInt{'i', 4, false}, kFloat{'f', 4, false};

struct CacheLayout {
    std::int64_t frame_count, point_count;
    std::uint64_t bytes_before;  // of the coordinates
};

void check_layout(const CacheLayout& layout, const ByteSource& source, std::string_view format)
{
    if (layout.frame_count < 1 || layout.point_count < 1) {
        throw Error("{}: says {} frames of {} points; at least one of each is needed; is it {}?",
                    source.name(), layout.frame_count, layout.point_count, format);
    }
    // Both are below 2^31, but their product with 12 may not fit.
    const auto data =
        checked_product({12, std::uint64_t(layout.frame_count), std::uint64_t(layout.point_count)});
    if (!data || *data > std::numeric_limits<std::uint64_t>::max() - layout.bytes_before) {
        throw Error("{}: says {} frames of {} points, more than any file holds; is it {}?",
                    source.name(), layout.frame_count, layout.point_count, format);
    }
    const std::uint64_t needed = *data + layout.bytes_before;
    if (source.size() == needed) return;
    throw Error("{}: {} bytes, but its {} frames of {} points need {}; {}", source.name(),
                source.size(), layout.frame_count, layout.point_count, needed,
                source.size() < needed ? "it was cut short, copy it or export it again"
                                       : "something follows that is not a frame, export it again");
}

class CacheTracks : public TrackReader {
  public:
    CacheTracks(TrackInfo info, std::vector<float> times, std::size_t frame_count,
                NumberStream numbers)
        : info_(std::move(info)),
          times_(std::move(times)),
          frame_count_(frame_count),
          numbers_(std::move(numbers))
    {
    }

    const TrackInfo& info() const override { return info_; }
    bool next(TrackFrame& frame) override
    {
        if (frame_ == frame_count_) return false;
        frame.time = info_.times ? double(times_[frame_]) : double(frame_);
        frame.velocity.clear();
        frame.position.resize(3 * info_.point_count);
        numbers_.read(frame.position.data(), frame.position.size());
        settle_missing(frame.position.data(), info_.point_count, info_.source, frame_);
        ++frame_;
        return true;
    }
    double share() const override { return double(frame_) / double(frame_count_); }

  private:
    TrackInfo info_;
    std::vector<float> times_;  // [s], only of MDD
    std::size_t frame_count_;
    NumberStream numbers_;
    std::size_t frame_ = 0;
};

TrackInfo cache_info(const ByteSource& source, const CacheLayout& layout, const char* format)
{
    TrackInfo info;
    info.format = format;
    info.source = source.name();
    info.point_count = std::size_t(layout.point_count);
    return info;
}

// Some programs write zero for every frame.
bool times_tell(const std::vector<float>& times, const std::string& source)
{
    for (std::size_t f = 0; f < times.size(); ++f) {
        if (!std::isfinite(times[f])) {
            throw Error("{}: frame {} is at time {}; a finite one is needed; export it again",
                        source, f, times[f]);
        }
    }
    return times.size() == 1 || times.front() != times.back();
}

// Lightwave's MDD, everything with the high byte first: int32 frames, int32 points, float32 time of
// every frame [s], float32 x y z of every point of every frame.
std::unique_ptr<TrackReader> open_mdd(std::unique_ptr<ByteSource> source)
{
    char head[8];
    read_exactly(*source, head, sizeof head);
    CacheLayout layout{std::int64_t(decode_scalar(kBigInt, head)),
                       std::int64_t(decode_scalar(kBigInt, head + 4)), 0};
    if (layout.frame_count > 0) layout.bytes_before = 8 + 4 * std::uint64_t(layout.frame_count);
    check_layout(layout, *source, "an MDD file");
    TrackInfo info = cache_info(*source, layout, "MDD point cache");
    std::vector<float> times(std::size_t(layout.frame_count));
    std::string bytes(4 * times.size(), '\0');
    read_exactly(*source, bytes.data(), bytes.size());
    for (std::size_t f = 0; f < times.size(); ++f) {
        times[f] = float(decode_scalar(kBigFloat, bytes.data() + 4 * f));
    }
    info.times = times_tell(times, info.source);
    if (!info.times) {
        info.remarks.push_back(
            fmt::format("The file says {} s for its first and its last frame, so its times were "
                        "passed over.",
                        times.front()));
    }
    return std::make_unique<CacheTracks>(std::move(info), std::move(times),
                                         std::size_t(layout.frame_count),
                                         NumberStream(std::move(source), kBigFloat));
}

// PC2 as 3ds Max and Blender write it, the low byte first: the magic, int32 version 1, int32
// points, float32 first frame, float32 frames between samples, int32 samples, then float32 x y z.
// How many frames make a second it does not say.
std::unique_ptr<TrackReader> open_pc2(std::unique_ptr<ByteSource> source)
{
    char head[32];
    read_exactly(*source, head, sizeof head);
    if (std::string_view(head, kPc2Magic.size()) != kPc2Magic) {
        throw Error("{}: does not begin with POINTCACHE2; a PC2 file is needed; export it again",
                    source->name());
    }
    const auto version = std::int64_t(decode_scalar(kInt, head + 12));
    if (version != 1) {
        throw Error("{}: PC2 version {}; version 1 is needed; export it as that", source->name(),
                    version);
    }
    const CacheLayout layout{std::int64_t(decode_scalar(kInt, head + 28)),
                             std::int64_t(decode_scalar(kInt, head + 16)), sizeof head};
    check_layout(layout, *source, "a PC2 file");
    TrackInfo info = cache_info(*source, layout, "PC2 point cache");
    const double between = decode_scalar(kFloat, head + 24);
    if (between != 1) {
        info.remarks.push_back(fmt::format(
            "The samples are {} frames of the animation apart: mind that in the rate.", between));
    }
    return std::make_unique<CacheTracks>(std::move(info), std::vector<float>(),
                                         std::size_t(layout.frame_count),
                                         NumberStream(std::move(source), kFloat));
}

bool begins_as_pc2(const fs::path& path)
{
    const auto source = open_bytes(path);
    char head[kPc2Magic.size()];
    return source->read(head, sizeof head) == sizeof head &&
           std::string_view(head, sizeof head) == kPc2Magic;
}

}  // namespace

std::unique_ptr<TrackReader> open_cache_tracks(const fs::path& path)
{
    if (path.extension() == ".pc2" || path.extension() == ".PC2" || begins_as_pc2(path)) {
        return open_pc2(open_bytes(path));
    }
    return open_mdd(open_bytes(path));  // has no magic; what it says must fit its length
}

}  // namespace springtime
