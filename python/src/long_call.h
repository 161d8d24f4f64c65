#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "springtime/error.h"

// Long work without the interpreter's lock. It runs in a thread of its own. The thread that called
// looks after it: it shows progress and hears Ctrl-C, which Python tells its main thread alone.
namespace springtime::python {

namespace py = pybind11;

class Watch {
  public:
    // `listener`: None, or called with stage, done, total, unit and note; False or an exception
    // cancels.
    explicit Watch(py::object listener) : listener_(std::move(listener)) {}

    // For the work, from any thread.
    Progress progress()
    {
        return Progress([this](const ProgressUpdate& update) {
            const std::lock_guard lock(mutex_);
            stage_ = update.stage;
            unit_ = update.unit;
            note_ = update.note;
            done_ = update.done;
            total_ = update.total;
            fresh_ = true;
            return !cancel_;
        });
    }

    // For the thread that waits, which has the interpreter's lock.
    void look()
    {
        if (cancel_) return;
        try {
            if (PyErr_CheckSignals() != 0) throw py::error_already_set();
            tell();
        } catch (const py::error_already_set& error) {
            error_.emplace(error);
            stop();
        }
    }

    // Whether the user stopped the work: Ctrl-C, or a listener that said no.
    bool stopped_by_user() const
    {
        return cancel_ && (!error_ || error_->matches(PyExc_KeyboardInterrupt));
    }

    // Instead of Cancelled. A listener that said no counts like Ctrl-C.
    [[noreturn]] void raise()
    {
        if (error_) throw py::error_already_set(*error_);
        PyErr_SetString(PyExc_KeyboardInterrupt, "stopped by the progress function");
        throw py::error_already_set();
    }

  private:
    void stop()
    {
        const std::lock_guard lock(mutex_);
        cancel_ = true;
    }

    void tell()
    {
        if (listener_.is_none()) return;
        std::string stage, unit, note;
        double done = 0, total = 1;
        {
            const std::lock_guard lock(mutex_);
            if (!std::exchange(fresh_, false)) return;
            stage = stage_;
            unit = unit_;
            note = note_;
            done = done_;
            total = total_;
        }
        const py::object answer = listener_(stage, done, total, unit, note);
        if (py::isinstance<py::bool_>(answer) && !py::cast<bool>(answer)) stop();
    }

    py::object listener_;
    std::optional<py::error_already_set> error_;  // touched by the waiting thread alone
    std::mutex mutex_;
    bool cancel_ = false, fresh_ = false;
    std::string stage_, unit_, note_;
    double done_ = 0, total_ = 1;
};

// Does `work`, which takes a Progress. Throws what the work throws; Cancelled becomes
// KeyboardInterrupt, or what the listener raised.
template <class Work>
auto run_long(Watch& watch, Work work)
{
    constexpr std::chrono::milliseconds kLook{50};
    auto result = std::async(std::launch::async, [&] { return work(watch.progress()); });
    for (;;) {
        {
            const py::gil_scoped_release released;
            if (result.wait_for(kLook) == std::future_status::ready) break;
        }
        watch.look();
    }
    watch.look();  // the last update
    try {
        return result.get();
    } catch (const Cancelled&) {
        watch.raise();
    }
}

// `progress` of a function: None, True for a bar on standard error, or a function.
py::object listener_of(const py::object& progress);

template <class Work>
auto run_long(const py::object& progress, Work work)
{
    Watch watch(listener_of(progress));
    return run_long(watch, work);
}

}  // namespace springtime::python
