#include "convert.h"

#include "springtime/files.h"
#include "springtime/motion.h"

namespace springtime::python {

std::string text_of(const py::handle& value)
{
    std::string text = py::cast<std::string>(py::repr(value));
    constexpr std::size_t kLongest = 60;
    if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
    return fmt::format("{} ({})", text,
                       py::cast<std::string>(py::type::of(value).attr("__name__")));
}

void refuse(const char* name, const py::handle& value, const char* needed)
{
    throw Error(Field{name}, "{}: found {}; give {}", name, text_of(value), needed);
}

// ---- Arrays

namespace {

std::string shape_text(const py::array& array)
{
    return py::cast<std::string>(py::str(array.attr("shape")));
}

bool fits(const py::array& array, const Shape& shape)
{
    if (array.ndim() != py::ssize_t(shape.size())) return false;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (shape[axis] != kAny && array.shape(py::ssize_t(axis)) != shape[axis]) return false;
    }
    return true;
}

py::array plain_array(const py::handle& value, const char* name, const char* words)
{
    try {
        return py::module_::import("numpy").attr("asarray")(value);
    } catch (const py::error_already_set&) {  // rows of different lengths
        refuse(name, value, fmt::format("an array of {}", words).c_str());
    }
}

void check_finite(const py::array& array, const char* name)
{
    const py::module_ numpy = py::module_::import("numpy");
    const py::array bad = numpy.attr("argwhere")(~numpy.attr("isfinite")(array).cast<py::array>());
    if (bad.shape(0) == 0) return;
    throw Error(Field{name},
                "{}: the number at {} is not finite, and {} are not in all; give "
                "numbers",
                name, py::cast<std::string>(py::str(bad[py::int_(0)].attr("tolist")())),
                bad.shape(0));
}

}  // namespace

py::array array_argument(const py::handle& value, const char* name, const py::dtype& type,
                         const Shape& shape, const char* words, bool gaps)
{
    const py::array array = plain_array(value, name, words);
    const char kind = array.dtype().kind();
    const bool whole = type.kind() == 'i';
    if (kind != 'i' && kind != 'u' && (kind != 'f' || whole) && array.size() > 0) {
        throw Error(Field{name}, "{}: the array has dtype {}; give {}", name,
                    py::cast<std::string>(py::str(array.dtype())),
                    whole ? "whole numbers" : "real numbers");
    }
    if (!fits(array, shape)) {
        throw Error(Field{name}, "{}: the array has shape {}; give {}", name, shape_text(array),
                    words);
    }
    const py::array plain =
        py::module_::import("numpy").attr("ascontiguousarray")(array, py::arg("dtype") = type);
    if (!gaps && type.kind() == 'f') check_finite(plain, name);
    if (whole && !py::cast<bool>(py::module_::import("numpy").attr("array_equal")(plain, array))) {
        throw Error(Field{name}, "{}: a number is too large; give indices", name);
    }
    return plain;
}

// ---- Single values

namespace {

template <class T>
bool try_cast(const py::handle& value, T& to)
{
    try {
        to = py::cast<T>(value);
        return true;
    } catch (const py::cast_error&) {
        return false;
    }
}

bool is_text(const py::handle& value)
{
    return py::isinstance<py::str>(value);
}

py::list items_of(const py::handle& value)
{
    py::list items;
    if (is_text(value) || py::hasattr(value, "__fspath__")) {
        items.append(value);
    } else {
        for (const py::handle& item : py::reinterpret_borrow<py::iterable>(value)) {
            items.append(item);
        }
    }
    return items;
}

}  // namespace

void take(const py::handle& value, const char* name, double& to)
{
    if (py::isinstance<py::bool_>(value) || !try_cast(value, to)) refuse(name, value, "a number");
}

void take(const py::handle& value, const char* name, int& to)
{
    if (py::isinstance<py::bool_>(value) || !try_cast(value, to)) {
        refuse(name, value, "a whole number");
    }
}

void take(const py::handle& value, const char* name, std::uint64_t& to)
{
    if (py::isinstance<py::bool_>(value) || !try_cast(value, to)) {
        refuse(name, value, "a whole number that is not negative");
    }
}

void take(const py::handle& value, const char* name, bool& to)
{
    if (!try_cast(value, to)) refuse(name, value, "True or False");
}

void take(const py::handle& value, const char* name, std::string& to)
{
    if (!is_text(value) || !try_cast(value, to)) refuse(name, value, "a text");
}

void take(const py::handle& value, const char* name, std::filesystem::path& to)
{
    if (!is_text(value) && !py::hasattr(value, "__fspath__")) refuse(name, value, "a path");
    to = py::cast<std::string>(py::module_::import("os").attr("fspath")(value));
}

void take(const py::handle& value, const char* name, Vec3d& to)
{
    to = vector_of(value, name);
}

void take(const py::handle& value, const char* name, Grid& to)
{
    const auto sides = values_of<int>(array_of<int>(value, name, {2}, "(rows, columns)"));
    to = {sides[0], sides[1]};
}

void take(const py::handle& value, const char* name, Device& to)
{
    std::string device;
    take(value, name, device);
    to = device_named(device);
}

void take(const py::handle& value, const char* name, std::vector<double>& to)
{
    double one = 0;
    to = try_cast(value, one) ? std::vector<double>{one} : list_of<double>(value, name);
}

void take(const py::handle& value, const char* name, std::vector<int>& to)
{
    to = list_of<int>(value, name);
}

void take(const py::handle& value, const char* name, std::vector<std::string>& to)
{
    for (const py::handle& item : items_of(value)) {
        take(item, name, to.emplace_back());
    }
}

void take(const py::handle& value, const char* name, std::vector<std::filesystem::path>& to)
{
    for (const py::handle& item : items_of(value)) {
        take(item, name, to.emplace_back());
    }
}

void take(const py::handle& value, const char* name, ValueMap& to)
{
    if (is_text(value) || py::hasattr(value, "__fspath__")) {
        std::filesystem::path path;
        take(value, name, path);
        to = read_value_map(path);
        return;
    }
    const py::array values = array_of<double>(value, name, {kAny, kAny}, "rows x columns");
    to = {int(values.shape(0)), int(values.shape(1)), values_of<double>(values)};
}

// A flat OBJ file, or points [m] and triangles.
void take(const py::handle& value, const char* name, SheetMesh& to)
{
    if (is_text(value) || py::hasattr(value, "__fspath__")) {
        std::filesystem::path path;
        take(value, name, path);
        to = sheet_mesh(read_obj(path), path.string());
        return;
    }
    py::object points, triangles;
    try {
        std::tie(points, triangles) = py::cast<std::pair<py::object, py::object>>(value);
    } catch (const py::cast_error&) {
        refuse(name, value, "the path of an OBJ file, or a pair (points, triangles)");
    }
    to.points = values_of<double, SheetPoint>(array_of<double>(points, name, {kAny, 2}, "N x 2"));
    to.triangles =
        values_of<int, std::array<int, 3>>(array_of<int>(triangles, name, {kAny, 3}, "T x 3"));
    check_mesh(to, name);
}

// A number, a text in layers (docs/materials.md), or a map over the sheet.
void take(const py::handle& value, const char* name, MaterialField& to)
{
    double number = 0;
    if (is_text(value)) {
        to = read_material(py::cast<std::string>(value));
    } else if (try_cast(value, number)) {
        to = MaterialField::uniform(number);
    } else {
        ValueMap map;
        take(value, name, map);
        to = MaterialField::uniform(0).paint({MaterialField::Map{std::move(map)}, 1});
    }
}

void take(const py::handle& value, const char* name, SpringLaw& to)
{
    std::string law;
    take(value, name, law);
    to = law_named(law);
}

std::vector<int> particles_of(const py::handle& value, const char* name, const Cloth& cloth)
{
    if (is_text(value)) return particles_named(cloth, py::cast<std::string>(value));
    int one = 0;
    if (try_cast(value, one)) return {one};
    if (!py::isinstance<py::iterable>(value)) refuse(name, value, "particles, or names of places");
    std::vector<int> all;
    for (const py::handle& item : py::reinterpret_borrow<py::iterable>(value)) {
        const std::vector<int> some = particles_of(item, name, cloth);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::optional<int> substeps_of(const py::handle& value)
{
    if (is_text(value) && py::cast<std::string>(value) == "auto") return kAutomatic;
    int count = 0;
    if (is_text(value)) refuse("substeps", value, "a number of at least 1, or 'auto'");
    take(value, "substeps", count);
    return count;
}

void cut_step(const py::object& substeps, const Cloth& cloth, const Environment& environment,
              double& dt, int& stride)
{
    if (!is_time_step(dt)) {
        throw Error(Field{"dt"}, "dt: {} s; a time step must lie in {} to {} s", dt, kLeastTimeStep,
                    kMostTimeStep);
    }
    const std::optional<int> given = substeps_of(substeps);
    const int count = given ? *given : stable_substeps(cloth, environment, dt);
    if (count < 1 || count >= kMostSubsteps) {
        throw Error(Field{"substeps"},
                    "substeps: {} in a step of {} s; give 1 to {}, or raise the "
                    "mass of the cloth",
                    count, dt, kMostSubsteps);
    }
    if (stride < 1 || double(stride) * count > kLargestStride) {
        throw Error(Field{"stride"},
                    "stride: {} steps of {} sub-steps each; a frame must be 1 to "
                    "{} steps",
                    stride, count, kLargestStride);
    }
    dt /= count;
    stride *= count;
}

}  // namespace springtime::python
