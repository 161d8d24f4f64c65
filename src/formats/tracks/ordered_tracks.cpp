#include "formats/tracks/ordered_tracks.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace springtime {

namespace {

class OrderedTracks : public TrackReader {
  public:
    // `source` has the number in the file of every point.
    OrderedTracks(std::unique_ptr<TrackReader> tracks, std::vector<std::size_t> source)
        : tracks_(std::move(tracks)), source_(std::move(source)), info_(tracks_->info())
    {
        for (std::size_t p = 0; p < source_.size(); ++p) {
            info_.names[p] = tracks_->info().names[source_[p]];
        }
        info_.remarks.push_back(
            "Points come in another order than in the first take: matched by their names.");
    }

    const TrackInfo& info() const override { return info_; }
    double share() const override { return tracks_->share(); }

    bool next(TrackFrame& frame) override
    {
        if (!tracks_->next(read_)) return false;
        frame.time = read_.time;
        reorder(read_.position, frame.position);
        reorder(read_.velocity, frame.velocity);
        return true;
    }

  private:
    void reorder(const std::vector<double>& from, std::vector<double>& to) const
    {
        to.resize(from.size());
        for (std::size_t p = 0; 3 * p < from.size(); ++p) {
            std::copy_n(from.begin() + std::ptrdiff_t(3 * source_[p]), 3,
                        to.begin() + std::ptrdiff_t(3 * p));
        }
    }

    std::unique_ptr<TrackReader> tracks_;
    std::vector<std::size_t> source_;
    TrackInfo info_;
    TrackFrame read_;
};

}  // namespace

std::unique_ptr<TrackReader> order_points(std::unique_ptr<TrackReader> tracks,
                                          const std::vector<std::string>& names)
{
    const std::vector<std::string>& own = tracks->info().names;
    // Triangles name points by their numbers, and files that have any have no names.
    const bool nothing_to_do = own == names || !tracks->info().triangles.empty();
    if (nothing_to_do || own.size() != names.size()) return tracks;
    std::unordered_map<std::string_view, std::size_t> number;
    for (std::size_t p = 0; p < own.size(); ++p) number.emplace(own[p], p);
    if (number.size() != own.size()) return tracks;
    std::vector<std::size_t> source;
    for (const std::string& name : names) {
        const auto found = number.find(name);
        if (found == number.end()) return tracks;
        source.push_back(found->second);
        number.erase(found);
    }
    return std::make_unique<OrderedTracks>(std::move(tracks), std::move(source));
}

}  // namespace springtime
