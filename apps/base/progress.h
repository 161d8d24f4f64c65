#pragma once

#include <chrono>
#include <string>

#include "springtime/error.h"

namespace springtime::app {

// Lets SIGINT, SIGTERM and SIGHUP end the work in order instead of at once. show_progress() does
// that: before any work is under way there is nothing to lose, and nobody who asks interrupted().
void catch_interrupts();
bool interrupted();

// A bar between two texts, shorter or left out where `width` letters leave it no room.
std::string progress_line(const std::string& what, const std::string& state, double share,
                          std::size_t width);

// A line on standard error with a bar and the time left; on a terminal it renews itself, in a log
// it is written now and then.
class ProgressBar {
  public:
    ProgressBar(std::string what, std::string unit, bool quiet);
    ~ProgressBar();

    // Shows it; false when the user has interrupted.
    bool show(double done, double total, const std::string& remark = {});

  private:
    using Clock = std::chrono::steady_clock;
    std::string what_, unit_;
    bool quiet_, terminal_, shown_ = false;
    Clock::time_point start_, last_;
    double first_done_ = -1;
};

// Shows a bar for every stage of long work, and cancels it when the user interrupts. The label
// stands before the bar instead of the name of the stage.
Progress show_progress(bool quiet, std::string label = {});

std::string time_text(double seconds);

}  // namespace springtime::app
