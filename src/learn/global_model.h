#pragma once

#include <optional>
#include <string>
#include <vector>

#include "learn/damped_fit.h"
#include "springtime/learn.h"

namespace springtime {

// The unknowns of a fit of globals: globals and levels as one vector of numbers of order one.
class GlobalModel {
  public:
    GlobalModel(const Motion& motion, const GlobalsOptions& options);

    const std::vector<FitUnknown>& unknowns() const { return unknowns_; }
    std::vector<double> start() const;
    // Whether held paths are steadied (Globals::steadied).
    void set_steady(bool steady) { steady_ = steady; }
    bool can_steady() const { return can_steady_; }
    // The bias of the tracker (Globals::tracker) is no unknown, but found from residuals.
    void set_tracker(std::optional<TrackerBias> tracker) { tracker_ = std::move(tracker); }
    const std::optional<TrackerBias>& tracker() const { return tracker_; }
    bool fits_tracker() const { return fits_tracker_; }

    // `errors` are standard errors of the unknowns, or empty.
    Globals globals(const std::vector<double>& values,
                    const std::vector<double>& errors = {}) const;
    // A homogeneous network of the full law for the motion with these globals.
    Cloth cloth(const std::vector<double>& values) const;

  private:
    void add(FitUnknown unknown) { unknowns_.push_back(std::move(unknown)); }
    std::size_t index_of(const std::string& name) const;  // unknowns_.size(): it is fixed
    FittedNumber number(const std::string& name, double stated, const std::vector<double>& values,
                        const std::vector<double>& errors) const;

    MotionHeader header_;
    GridOptions grid_;
    std::vector<int> held_;  // landmarks that move on stated paths
    std::vector<FitUnknown> unknowns_;
    bool steady_ = false, can_steady_ = false, fits_tracker_ = false;
    std::optional<TrackerBias> tracker_;
};

}  // namespace springtime
