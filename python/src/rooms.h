#pragma once

#include <memory>
#include <string>

#include "convert.h"
#include "springtime/motion.h"
#include "springtime/report.h"

// What the rooms of the module share.
namespace springtime::python {

// Each fills the module with one area. Types come before the functions that take them.
void add_results(py::module_& module);
void add_cloth(py::module_& module);
void add_motion(py::module_& module);
void add_simulation(py::module_& module);
void add_runs(py::module_& module);
void add_learning(py::module_& module);
void add_gradients(py::module_& module);
void add_files(py::module_& module);
void add_evaluation(py::module_& module);

// ---- Results

// How an object shows itself: report() and __str__ as text, _repr_html_ as a page.
template <class Class, class Report, class Page>
void add_printing(Class& type, Report report, Page page)
{
    using Self = typename Class::type;
    type.def("report", report, "Everything that is known of it, as a Result.");
    type.def("__str__", [report](const Self& self) { return to_text(report(self)); });
    type.def("_repr_html_", page);
}

template <class Class, class Report>
void add_printing(Class& type, Report report)
{
    using Self = typename Class::type;
    add_printing(type, report, [report](const Self& self) { return to_html(report(self)); });
}

// As an HTML image.
std::string html_of(const Picture& picture);
// rows x columns x 3, one byte each.
py::array array_of(const Picture& picture);

// ---- Cloths

// Numbers by the names of parameters: springtime_cloth.Parameters.
py::object named_views(const Cloth& cloth, const ParameterValues& values, const py::handle& owner);
py::object named_arrays(const Cloth& cloth, ParameterValues values);

// ---- Motions

// A motion, and what was said when it was made.
using MotionPointer = std::shared_ptr<Motion>;

// Short runs of consecutive frames, for gradients.
struct Clips {
    MotionPointer motion;
    std::vector<Clip> clips;
    double seconds = 0;  // of each
};

// All rollouts are read, so that it needs no file any more.
MotionPointer in_memory(const Motion& motion);

// ---- Runs

// What Simulation and trace() take beside a cloth. The default thickness is that of its sheet.
SimulationOptions options_of(const Cloth& cloth, double dt, const py::object& substeps,
                             const py::kwargs& given);
// None: flat and at rest. Otherwise positions [m], or positions and velocities [m/s].
State state_of(const py::object& start, const Cloth& cloth);

inline std::array<double, 3> numbers_of(const Vec3d& value)
{
    return {value.x, value.y, value.z};
}

// A path of Python as one of ours.
inline std::filesystem::path path_of(const py::handle& value, const char* name)
{
    std::filesystem::path path;
    take(value, name, path);
    return path;
}

}  // namespace springtime::python
