#include <pybind11/stl.h>

#include "keywords.h"
#include "long_call.h"
#include "rooms.h"

// The module itself: its exceptions and its parts.
namespace springtime::python {

std::map<std::string, std::vector<std::string>>& all_keywords()
{
    static std::map<std::string, std::vector<std::string>> keywords;
    return keywords;
}

py::object listener_of(const py::object& progress)
{
    const bool plain = py::isinstance<py::bool_>(progress);
    if (progress.is_none() || (plain && !py::cast<bool>(progress))) return py::none();
    if (plain) return py::module_::import("springtime_cloth._progress").attr("Bar")();
    if (PyCallable_Check(progress.ptr()) == 0) refuse("progress", progress, "True or a function");
    return progress;
}

namespace {

// They live as long as the interpreter.
PyObject *error_type = nullptr, *failure_type = nullptr;

PyObject* make_type(py::module_& module, const char* name, const char* words, PyObject* base)
{
    const std::string full = std::string("springtime_cloth.") + name;
    PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), words, base, nullptr);
    if (type == nullptr) throw py::error_already_set();
    module.add_object(name, type);
    return type;
}

void raise_error(const Error& error)
{
    const py::object raised = py::handle(error_type)(error.what());
    raised.attr("field") = error.field();
    PyErr_SetObject(error_type, raised.ptr());
}

void add_exceptions(py::module_& module)
{
    error_type = make_type(module, "Error",
                           "Bad input. The message says what was found, what was needed and what "
                           "to do; field is the name of the argument that is wrong, or empty.",
                           PyExc_ValueError);
    py::handle(error_type).attr("field") = "";
    failure_type = make_type(module, "Failure",
                             "The input was fine, but the work could not be done: a full disk, a "
                             "cloth that blew up.",
                             PyExc_RuntimeError);
    py::register_exception_translator([](std::exception_ptr thrown) {
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const Error& error) {
            raise_error(error);
        } catch (const Failure& failure) {
            PyErr_SetString(failure_type, failure.what());
        }
    });
}

}  // namespace

}  // namespace springtime::python

PYBIND11_MODULE(_core, module)
{
    using namespace springtime::python;
    py::options options;
    options.disable_enum_members_docstring();
    module.doc() = "The parts of springtime_cloth that are written in C++.";
    module.attr("__version__") = springtime::kVersion;
    add_exceptions(module);
    add_results(module);
    add_cloth(module);
    add_motion(module);
    add_simulation(module);
    add_runs(module);
    add_learning(module);
    add_gradients(module);
    add_files(module);
    add_evaluation(module);
    module.def("_keywords", [] {
        py::dict all;
        for (const auto& [function, names] : all_keywords()) {
            all[py::str(function)] = py::cast(names);
        }
        return all;
    });
}
