#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "springtime/cloth.h"
#include "springtime/error.h"
#include "springtime/simulation.h"

// Between NumPy and the library: arrays without copies, arguments with errors that name them, words
// for choices.
namespace springtime::python {

namespace py = pybind11;

using Shape = std::vector<py::ssize_t>;

// ---- Arrays that come out

// Numbers of a C++ object, not copied. The array keeps `owner` alive and cannot be written to.
template <class T>
py::array view(const T* data, const Shape& shape, const py::handle& owner)
{
    py::array array(py::dtype::of<T>(), shape, data, owner);
    array.attr("setflags")(py::arg("write") = false);
    return array;
}

inline py::array view(const std::vector<double>& values, const py::handle& owner)
{
    return view(values.data(), {py::ssize_t(values.size())}, owner);
}

// Rows of structs or arrays that hold nothing but `width` numbers each, as two axes.
template <class T, class Row>
py::array view_rows(const std::vector<Row>& rows, const py::handle& owner)
{
    static_assert(sizeof(Row) % sizeof(T) == 0);
    const auto width = py::ssize_t(sizeof(Row) / sizeof(T));
    return view(reinterpret_cast<const T*>(rows.data()), {py::ssize_t(rows.size()), width}, owner);
}

// Numbers that nobody else keeps: the array owns them.
template <class T, class Row>
py::array owned_rows(std::vector<Row> rows, Shape shape)
{
    auto* kept = new std::vector<Row>(std::move(rows));
    const py::capsule owner(kept, [](void* data) { delete static_cast<std::vector<Row>*>(data); });
    return py::array(py::dtype::of<T>(), std::move(shape), reinterpret_cast<const T*>(kept->data()),
                     owner);
}

// ---- Arguments that come in

constexpr py::ssize_t kAny = -1;

std::string text_of(const py::handle& value);  // for messages: "'abc' (str)"

// An array of numbers in C order, converted or copied only where it must be. Throws Error that
// names the argument where the type, the shape or a value is wrong. `words` say the shape.
py::array array_argument(const py::handle& value, const char* name, const py::dtype& type,
                         const Shape& shape, const char* words, bool gaps = false);

template <class T>
py::array array_of(const py::handle& value, const char* name, const Shape& shape, const char* words,
                   bool gaps = false)
{
    return array_argument(value, name, py::dtype::of<T>(), shape, words, gaps);
}

// The values of such an array; Row is a struct or an array of T.
template <class T, class Row = T>
std::vector<Row> values_of(const py::array& array)
{
    const auto* first = static_cast<const Row*>(array.data());
    return {first, first + std::size_t(array.size()) * sizeof(T) / sizeof(Row)};
}

template <class T>
std::vector<T> list_of(const py::handle& value, const char* name)
{
    return values_of<T>(array_of<T>(value, name, {kAny}, "one axis"));
}

inline Vec3d vector_of(const py::handle& value, const char* name)
{
    return values_of<double, Vec3d>(array_of<double>(value, name, {3}, "three numbers"))[0];
}

// ---- Single values, named in errors

[[noreturn]] void refuse(const char* name, const py::handle& value, const char* needed);

void take(const py::handle& value, const char* name, double& to);
void take(const py::handle& value, const char* name, int& to);
void take(const py::handle& value, const char* name, std::uint64_t& to);
void take(const py::handle& value, const char* name, bool& to);
void take(const py::handle& value, const char* name, std::string& to);
void take(const py::handle& value, const char* name, std::filesystem::path& to);
void take(const py::handle& value, const char* name, Vec3d& to);
void take(const py::handle& value, const char* name, Grid& to);
void take(const py::handle& value, const char* name, Device& to);
void take(const py::handle& value, const char* name, std::vector<double>& to);
void take(const py::handle& value, const char* name, std::vector<int>& to);
void take(const py::handle& value, const char* name, std::vector<std::string>& to);
void take(const py::handle& value, const char* name, std::vector<std::filesystem::path>& to);
void take(const py::handle& value, const char* name, ValueMap& to);
void take(const py::handle& value, const char* name, SheetMesh& to);
void take(const py::handle& value, const char* name, MaterialField& to);
void take(const py::handle& value, const char* name, SpringLaw& to);

template <class T>
void take(const py::handle& value, const char* name, std::optional<T>& to)
{
    T found{};
    take(value, name, found);
    to = std::move(found);
}

// A word for a choice.
template <class Choice>
using Words = std::vector<std::pair<std::string_view, Choice>>;

template <class Choice>
Choice chosen(const py::handle& value, const char* name, const Words<Choice>& words)
{
    std::string text, all;
    if (py::isinstance<py::str>(value)) text = py::cast<std::string>(value);
    for (const auto& [word, choice] : words) {
        if (word == text) return choice;
        all += (all.empty() ? "" : ", ") + std::string(word);
    }
    throw Error(Field{name}, "{}: {} is unknown; there are {}", name, text_of(value), all);
}

// The words of enumerations that name_of() knows.
template <class Range>
auto words_of(const Range& choices)
{
    Words<std::decay_t<decltype(*std::begin(choices))>> words;
    for (const auto choice : choices) words.push_back({name_of(choice), choice});
    return words;
}

// Several words, or a single one.
template <class Choice>
std::vector<Choice> all_chosen(const py::handle& value, const char* name,
                               const Words<Choice>& words)
{
    if (py::isinstance<py::str>(value)) return {chosen(value, name, words)};
    std::vector<Choice> found;
    for (const py::handle& item : py::reinterpret_borrow<py::iterable>(value)) {
        found.push_back(chosen(item, name, words));
    }
    return found;
}

inline const Words<MeshCut>& mesh_cuts()
{
    static const Words<MeshCut> words =
        words_of(std::array{MeshCut::diagonal, MeshCut::antidiagonal, MeshCut::alternating});
    return words;
}

// Particles by index or by name ("corner-nw"), one or several.
std::vector<int> particles_of(const py::handle& value, const char* name, const Cloth& cloth);

// A number of sub-steps, or "auto".
std::optional<int> substeps_of(const py::handle& value);

// Cuts the step of a run into them; a frame has as many steps more.
void cut_step(const py::object& substeps, const Cloth& cloth, const Environment& environment,
              double& dt, int& stride);

}  // namespace springtime::python
