#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>

#include <csignal>
#include <cstdio>
#include <memory>

namespace springtime::app {

namespace {

volatile std::sig_atomic_t signal_seen = 0;

extern "C" void remember_signal(int)
{
    // A second signal ends the program the usual way.
    if (signal_seen) std::_Exit(1);
    signal_seen = 1;
}

}  // namespace

void catch_interrupts()
{
    std::signal(SIGINT, remember_signal);
    std::signal(SIGTERM, remember_signal);
    // A terminal that closes. Who started the program with nohup wants it to go on.
    if (std::signal(SIGHUP, remember_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool interrupted()
{
    return signal_seen != 0;
}

std::string time_text(double seconds)
{
    if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
    if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
    return fmt::format("{:.1f} h", seconds / 3600);
}

namespace {

// Of the terminal, as far as it tells.
std::size_t columns()
{
    constexpr std::size_t kUsual = 80;
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
    return size.ws_col;
}

}  // namespace

std::string progress_line(const std::string& what, const std::string& state, double share,
                          std::size_t width)
{
    constexpr std::size_t kLongest = 30, kShortest = 5;
    const std::size_t words = what.size() + state.size() + 4;  // blanks and brackets
    const std::size_t bar = std::min(kLongest, width > words ? width - words : 0);
    if (bar < kShortest) return (what + ": " + state).substr(0, width);
    const auto filled = std::size_t(double(bar) * std::clamp(share, 0.0, 1.0));
    return fmt::format("{} [{}{}] {}", what, std::string(filled, '#'),
                       std::string(bar - filled, '.'), state);
}

ProgressBar::ProgressBar(std::string what, std::string unit, bool quiet)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      last_(start_)
{
}

ProgressBar::~ProgressBar()
{
    if (shown_ && terminal_) std::fputc('\n', stderr);
}

bool ProgressBar::show(double done, double total, const std::string& remark)
{
    if (first_done_ < 0) first_done_ = done;
    const auto now = Clock::now();
    const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
    const bool last = done >= total && terminal_;
    if (!quiet_ && (now - last_ >= pause || last)) {
        last_ = now;
        shown_ = true;
        const double spent = std::chrono::duration<double>(now - start_).count();
        const double rate = (done - first_done_) / spent;
        const std::string left = rate > 0 ? time_text((total - done) / rate) + " left" : "";
        const std::string state = fmt::format("{:.0f} of {:.0f} {}, {}{}{}{}{}", done, total, unit_,
                                              remark, remark.empty() ? "" : ", ", time_text(spent),
                                              left.empty() ? "" : ", ", left);
        if (terminal_) {  // a line that does not fit would be broken, and every renewal a new one
            const std::size_t width = columns() - 1;
            fmt::print(stderr, "\r{:<{}}", progress_line(what_, state, done / total, width), width);
        } else {
            fmt::print(stderr, "{}\n",
                       progress_line(what_, state, done / total, std::string::npos));
        }
        std::fflush(stderr);
    }
    return !interrupted();
}

namespace {

// The bar of the present stage.
struct StageBar {
    bool quiet;
    std::string label, stage;
    std::unique_ptr<ProgressBar> bar;

    bool show(const ProgressUpdate& update)
    {
        const bool share = update.unit.empty();
        if (!bar || stage != update.stage) {
            stage = update.stage;
            bar.reset();  // ends its line
            bar = std::make_unique<ProgressBar>(
                label.empty() ? stage : label, share ? "percent" : std::string(update.unit), quiet);
        }
        const double scale = share ? 100 / update.total : 1;
        return bar->show(scale * update.done, scale * update.total, std::string(update.note));
    }
};

}  // namespace

Progress show_progress(bool quiet, std::string label)
{
    catch_interrupts();
    const auto bar = std::make_shared<StageBar>(StageBar{quiet, std::move(label), {}, {}});
    return Progress([bar](const ProgressUpdate& update) { return bar->show(update); });
}

}  // namespace springtime::app
