#include <pybind11/stl.h>

#include "keywords.h"
#include "long_call.h"
#include "rooms.h"
#include "springtime/evaluate.h"

// Results, evaluations and pictures.
namespace springtime::python {

py::array array_of(const Picture& picture)
{
    return owned_rows<std::uint8_t>(picture.rgb, {picture.height, picture.width, 3});
}

std::string html_of(const Picture& picture)
{
    const py::bytes bytes = to_png(picture);
    const py::object text =
        py::module_::import("base64").attr("b64encode")(bytes).attr("decode")("ascii");
    return fmt::format("<img alt=\"\" src=\"data:image/png;base64,{}\">",
                       py::cast<std::string>(text));
}

namespace {

// Values as Python has them; trees and lists as they are.
py::object value_of(const Result& result)
{
    if (const bool* value = result.get_if<bool>()) return py::bool_(*value);
    if (const auto* value = result.get_if<std::int64_t>()) return py::int_(*value);
    if (const double* value = result.get_if<double>()) return py::float_(*value);
    if (const auto* value = result.get_if<std::string>()) return py::str(*value);
    if (result.is_nothing()) return py::none();
    return py::cast(result);
}

py::object plain_of(const Result& result)
{
    if (result.is_tree()) {
        py::dict all;
        for (const auto& [name, value] : result.entries()) {
            if (!value.style().words) all[py::str(name)] = plain_of(value);
        }
        return all;
    }
    if (!result.is_list()) return value_of(result);
    py::list all;
    for (const auto& entry : result.entries()) all.append(plain_of(entry.value));
    return all;
}

std::vector<std::string> keys_of(const Result& result)
{
    std::vector<std::string> keys;
    for (const auto& [name, value] : result.entries()) {
        if (result.is_tree() && !value.style().words) keys.push_back(name);
    }
    return keys;
}

py::object at_name(const Result& result, const std::string& name)
{
    const Result* found = result.find(name);
    if (found == nullptr) throw py::key_error(name);
    return value_of(*found);
}

py::object at_index(const Result& result, py::ssize_t index)
{
    const auto& entries = result.entries();
    if (!result.is_list() || index < 0 || index >= py::ssize_t(entries.size())) {
        throw py::index_error();
    }
    return value_of(entries[std::size_t(index)].value);
}

void add_result(py::module_& module)
{
    py::class_<Result>(module, "Result",
                       "An ordered tree of named values with units. It prints as text, and as "
                       "tables in a notebook.")
        .def("__getitem__", at_name, py::arg("name"))
        .def("__getitem__", at_index, py::arg("index"))
        .def("__len__", [](const Result& self) { return self.entries().size(); })
        .def(
            "__contains__",
            [](const Result& self, const std::string& name) { return self.find(name) != nullptr; },
            py::arg("name"))
        .def("__iter__",
             [](const Result& self) {
                 return py::iter(self.is_tree() ? py::cast(keys_of(self)) : plain_of(self));
             })
        .def("keys", keys_of, "The names of a tree, in their order.")
        .def(
            "unit",
            [](const Result& self, const std::string& name) {
                const Result* found = self.find(name);
                if (found == nullptr) throw py::key_error(name);
                return found->style().unit;
            },
            py::arg("name"), "The unit of a value; empty where it has none.")
        .def("to_python", plain_of, "Dictionaries, lists and plain values.")
        .def(
            "to_json",
            [](const Result& self, std::optional<int> indent) { return to_json(self, indent); },
            py::arg("indent") = py::none(), "As JSON; numbers that are not finite are null.")
        .def("__str__", [](const Result& self) { return to_text(self); })
        .def("__repr__", [](const Result& self) { return to_text(self); })
        .def("_repr_html_", [](const Result& self) { return to_html(self); });
}

// ---- Evaluations

void add_motion_error(py::module_& module)
{
    py::class_<MotionError>(module, "MotionError",
                            "The distance of a motion to its target at the free landmarks [m].")
        .def_readonly("mean", &MotionError::mean, "Mean over all frames of all rollouts [m].")
        .def_readonly("std", &MotionError::std, "Standard deviation over them [m].")
        .def_property_readonly(
            "per_rollout",
            [](const py::object& self) {
                return view(self.cast<const MotionError&>().per_rollout, self);
            },
            "Mean over the frames of each rollout [m].")
        .def_property_readonly(
            "over_time",
            [](const py::object& self) {
                return view(self.cast<const MotionError&>().over_time, self);
            },
            "For each frame, the mean over the rollouts that reach it [m].")
        .def("__repr__", [](const MotionError& self) {
            return fmt::format("MotionError(mean={:.4g}, std={:.4g})", self.mean, self.std);
        });
}

std::string evaluation_html(const Evaluation& self)
{
    std::vector<DrawnCurve> curves{{"this cloth", self.surrogate.over_time},
                                   {"nothing moves", self.nothing_moves.over_time}};
    if (self.homogeneous) curves.push_back({"homogeneous network", self.homogeneous->over_time});
    return to_html(report_of(self)) +
           html_of(draw_curves(curves, self.frame_interval, "time [s]", "motion rmse [m]"));
}

void add_evaluation_type(py::module_& module)
{
    py::class_<Evaluation> type(module, "Evaluation",
                                "How closely a cloth follows a motion, beside what needs no "
                                "learning.");
    type.def_readonly("surrogate", &Evaluation::surrogate, "Of the cloth.");
    type.def_readonly("nothing_moves", &Evaluation::nothing_moves,
                      "Of a motion in which nothing moves.");
    type.def_readonly("with_handles", &Evaluation::with_handles,
                      "Of the first shape, moved along with its handles.");
    type.def_readonly("homogeneous", &Evaluation::homogeneous,
                      "Of the homogeneous network; None unless it was given.");
    type.def_readonly("map_correlation", &Evaluation::map_correlation,
                      "Correlation of the stiffness maps with that of the truth.");
    type.def_readonly("remarks", &Evaluation::remarks);
    type.def_property_readonly(
        "warnings", &warnings_of,
        "A sentence for everything that needs no learning and does as well.");
    add_printing(
        type, [](const Evaluation& self) { return report_of(self); }, evaluation_html);
}

const Keywords<EvaluateOptions>& evaluate_keywords()
{
    static const Keywords<EvaluateOptions> keywords(
        "evaluate", {{"device", member(&EvaluateOptions::device)},
                     {"threads", member(&EvaluateOptions::threads)},
                     {"substeps", member(&EvaluateOptions::substeps)}});
    return keywords;
}

Evaluation evaluate(const Cloth& cloth, const Motion& motion, const Cloth* truth,
                    const Cloth* homogeneous, const py::object& progress, const py::kwargs& given)
{
    EvaluateOptions options;
    evaluate_keywords().set(options, given);
    return run_long(progress, [&](const Progress& told) {
        Evaluation result, other;
        if (truth != nullptr) compare_with_truth(cloth, *truth, result);
        compare_with_motion(cloth, motion, options, result, told);
        if (homogeneous != nullptr) {
            compare_with_motion(*homogeneous, motion, options, other, told);
            result.homogeneous = other.surrogate;
        }
        return result;
    });
}

}  // namespace

void add_results(py::module_& module)
{
    add_result(module);
}

void add_evaluation(py::module_& module)
{
    add_motion_error(module);
    add_evaluation_type(module);
    module.def("evaluate", evaluate, py::arg("cloth"), py::arg("motion"), py::kw_only(),
               py::arg("truth") = py::none(), py::arg("homogeneous") = py::none(),
               py::arg("progress") = py::none(),
               ("Runs a cloth along a motion that it has not seen and measures the distance [m]. "
                "truth: the source cloth; homogeneous: a network to compare with." +
                evaluate_keywords().words())
                   .c_str());
}

}  // namespace springtime::python
