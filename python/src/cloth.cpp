#include <pybind11/stl.h>

#include "keywords.h"
#include "rooms.h"
#include "springtime/files.h"

// Cloths: their arrays, and how they are made, kept and shown.
namespace springtime::python {

namespace {

// The name of a parameter in Python: that of its kind. Where kinds of two elements share a name,
// the one that is not of springs has its element in front. Ranges are counted.
std::string key_of(const Parameter& parameter)
{
    const ParameterKind& kind = *parameter.kind;
    std::string key(kind.name);
    for (const ParameterKind& other : parameter_kinds()) {
        const bool shared = other.name == kind.name && other.element != kind.element;
        if (shared && kind.element != Element::spring) {
            key = std::string(name_of(kind.element)) + "_" + key;
            break;
        }
    }
    return parameter.in_range() ? fmt::format("{}_{}", key, parameter.range) : key;
}

py::object parameters_type()
{
    return py::module_::import("springtime_cloth._parameters").attr("Parameters");
}

template <class ArrayOf>
py::object named(const Cloth& cloth, ArrayOf array_of)
{
    py::dict all;
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        all[py::str(key_of(parameters[k]))] = array_of(k);
    }
    return parameters_type()(all);
}

}  // namespace

py::object named_views(const Cloth& cloth, const ParameterValues& values, const py::handle& owner)
{
    return named(cloth, [&](std::size_t k) { return view(values[k], owner); });
}

py::object named_arrays(const Cloth& cloth, ParameterValues values)
{
    return named(cloth, [&](std::size_t k) {
        const auto count = py::ssize_t(values[k].size());
        return owned_rows<double>(std::move(values[k]), {count});
    });
}

namespace {

using ClothType = py::class_<Cloth, std::shared_ptr<Cloth>>;

const Cloth& cloth_of(const py::object& self)
{
    return self.cast<const Cloth&>();
}

// ---- Its numbers

py::object parameters_object(const py::object& self)
{
    const Cloth& cloth = cloth_of(self);
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    return named(cloth, [&](std::size_t k) {
        return view(springtime::values_of(cloth, parameters[k]), self);
    });
}

py::object errors_object(const py::object& self)
{
    const Cloth& cloth = cloth_of(self);
    if (!cloth.errors) return py::none();
    return named_views(cloth, cloth.errors->parameters, self);
}

// Every parameter is an attribute; ranges are found among the parameters alone.
void add_parameters(ClothType& type)
{
    for (const ParameterKind& kind : parameter_kinds()) {
        if (kind.presence == ParameterPresence::per_range) continue;
        const std::string key = key_of({&kind, 0, 0});
        const std::string words = fmt::format("{} [{}], one per {}; {}.", kind.label, kind.unit,
                                              name_of(kind.element), kind.meaning);
        const auto values = [&kind, key](const py::object& self) {
            const Cloth& cloth = cloth_of(self);
            for (const Parameter& parameter : parameters_in(cloth)) {
                if (parameter.kind == &kind) {
                    return view(springtime::values_of(cloth, parameter), self);
                }
            }
            throw py::attribute_error(fmt::format("this cloth has no {}", key));
        };
        type.def_property_readonly(key.c_str(), values, words.c_str());
    }
    type.def_property_readonly("parameters", parameters_object,
                               "All learned parameters by their names; views.");
    type.def_property_readonly("errors", errors_object,
                               "Standard errors of the parameters, by the same names; infinite "
                               "where the motion said nothing. None unless it was identified.");
}

std::shared_ptr<Cloth> with_parameters(const Cloth& cloth, const py::kwargs& given)
{
    auto changed = std::make_shared<Cloth>(cloth);
    const std::vector<Parameter> parameters = learned_parameters(cloth);
    std::string known;
    for (const Parameter& parameter : parameters) known += " " + key_of(parameter);
    const py::module_ numpy = py::module_::import("numpy");
    for (const auto& [key, value] : given) {
        const std::string name = py::cast<std::string>(key);
        const auto found = std::find_if(parameters.begin(), parameters.end(),
                                        [&](const auto& p) { return key_of(p) == name; });
        if (found == parameters.end()) {
            throw Error(Field{name}, "{}: this cloth has no such parameter; it has{}", name, known);
        }
        std::vector<double>& to = springtime::values_of(*changed, *found);
        const auto count = py::ssize_t(to.size());
        double one = 0;
        if (py::isinstance<py::float_>(value) || py::isinstance<py::int_>(value)) {
            take(value, name.c_str(), one);
            std::fill(to.begin(), to.end(), one);
            continue;
        }
        to = values_of<double>(array_of<double>(value, name.c_str(), {count},
                                                fmt::format("{} numbers", count).c_str()));
    }
    changed->errors.reset();  // they belong to the numbers before
    check_cloth(*changed, "cloth");
    return changed;
}

void add_arrays(ClothType& type)
{
    type.def_property_readonly(
        "rest", [](const py::object& self) { return view_rows<double>(cloth_of(self).rest, self); },
        "Places in the flat sheet [m], particles x 2: u along the length, v along the width.");
    type.def_property_readonly(
        "mass", [](const py::object& self) { return view(cloth_of(self).mass, self); },
        "Mass of every particle [kg].");
    type.def_property_readonly(
        "springs",
        [](const py::object& self) { return view_rows<int>(cloth_of(self).springs.ends, self); },
        "The two particles of every spring.");
    type.def_property_readonly(
        "spring_families",
        [](const Cloth& self) {
            std::vector<std::string> names;
            for (const SpringFamily family : self.springs.family)
                names.emplace_back(name_of(family));
            return names;
        },
        "structural, diagonal, antidiagonal or bending, for every spring.");
    type.def_property_readonly(
        "rest_length",
        [](const py::object& self) { return view(cloth_of(self).springs.rest_length, self); },
        "Length of every spring at rest [m].");
    type.def_property_readonly(
        "triangles",
        [](const Cloth& self) {
            auto corners = surface_triangles(self);
            const auto count = py::ssize_t(corners.size());
            return owned_rows<int>(std::move(corners), {count, 3});
        },
        "The surface, triangles x 3 particles: its own triangles, or those of its grid.");
    type.def(
        "flat",
        [](const Cloth& self) {
            const State flat = flat_state(self);
            return owned_rows<double>(flat.position, {py::ssize_t(flat.position.size()), 3});
        },
        "Positions of the flat sheet [m], level and centred on the origin; y is up.");
}

// ---- The cloth as a whole

py::object grid_of(const std::optional<Grid>& grid)
{
    if (!grid) return py::none();
    return py::make_tuple(grid->rows, grid->cols);
}

std::string repr_of(const Cloth& cloth)
{
    std::string text = fmt::format("<Cloth of {}", counted(cloth.particle_count(), "particle"));
    for (const Element element : kElements) {
        const std::size_t count = element_count(cloth, element);
        if (count > 0) text += fmt::format(", {}", counted(count, name_of(element)));
    }
    return text + fmt::format(", {:.4g} x {:.4g} m, {:.4g} kg>", cloth.sheet.length,
                              cloth.sheet.width, cloth.sheet.mass);
}

std::string html_of_cloth(const Cloth& cloth)
{
    return to_html(report_of(cloth)) + html_of(draw_stiffness(cloth));
}

Picture picture_of(const Cloth& cloth, const std::string& of)
{
    if (of == "stiffness") return draw_stiffness(cloth);
    if (of == "bending") return draw_bending(cloth);
    if (of == "errors") return draw_determination(cloth);
    throw Error(Field{"of"}, "of: '{}' is unknown; there are stiffness, bending, errors", of);
}

std::shared_ptr<Cloth> load_cloth(const py::object& path)
{
    return std::make_shared<Cloth>(read_cloth(path_of(path, "path")));
}

void add_whole(ClothType& type)
{
    type.def_static("load", load_cloth, py::arg("path"), "Reads a cloth file.");
    type.def(
        "save",
        [](const Cloth& self, const py::object& path, bool overwrite) {
            write_cloth(path_of(path, "path"), self, overwrite);
        },
        py::arg("path"), py::kw_only(), py::arg("overwrite") = false,
        "Writes a cloth file. Nothing is replaced without overwrite.");
    type.def("to_json", &cloth_to_json, "The text of a cloth file.");
    type.def_static(
        "from_json",
        [](const std::string& text) {
            return std::make_shared<Cloth>(cloth_from_json(text, "text"));
        },
        py::arg("text"), "A cloth of the text of a cloth file.");
    type.def(py::pickle([](const Cloth& self) { return py::make_tuple(cloth_to_json(self)); },
                        [](const py::tuple& state) {
                            return std::make_shared<Cloth>(
                                cloth_from_json(py::cast<std::string>(state[0]), "pickle"));
                        }));
    type.def("with_parameters", with_parameters,
             "A copy with other parameters: an array or a number for each name.");
    type.def(
        "with_law",
        [](const Cloth& self, const std::string& law) {
            auto changed = std::make_shared<Cloth>(self);
            set_law(*changed, law_named(law));
            return changed;
        },
        py::arg("law"), "A copy whose springs follow a law: published, full or coupled.");
    type.def(
        "particles",
        [](const Cloth& self, const py::object& places) {
            return particles_of(places, "places", self);
        },
        py::arg("places"),
        "The particles of places: names like corner-nw, edge-north, center, "
        "grid:ROW,COL, or indices.");
    type.def(
        "largest_stable_step", [](const Cloth& self) { return largest_stable_step(self, {}); },
        "The explicit step is stable below this estimate [s].");
    type.def(
        "safe_step", [](const Cloth& self) { return safe_step(self, {}); },
        "The longest step that is safe in every shape of the sheet [s].");
    type.def("doubts", &doubts_of, "What is odd about it, a sentence each.");
    type.def("fabric", &report_fabric,
             "The fabric card of a cloth of triangles, as a Result: moduli, bending, damping.");
    type.def(
        "draw",
        [](const Cloth& self, const std::string& of) { return array_of(picture_of(self, of)); },
        py::arg("of") = "stiffness",
        "A picture of the flat sheet, height x width x 3 bytes, of its "
        "stiffness, bending or errors.");
    add_printing(
        type, [](const Cloth& self) { return report_of(self); }, html_of_cloth);
    type.def("__repr__", repr_of);
}

// ---- Making one

std::shared_ptr<Cloth> grid_cloth(const Grid& grid, const Sheet& sheet, const py::object& stiffness,
                                  const py::object& damping, const py::object& families,
                                  const std::string& law)
{
    GridOptions options{grid.rows, grid.cols};
    if (!families.is_none()) {
        const auto chosen = all_chosen(families, "families", words_of(kSpringFamilies));
        const auto has = [&](SpringFamily family) {
            return std::find(chosen.begin(), chosen.end(), family) != chosen.end();
        };
        options.structural = has(SpringFamily::structural);
        options.diagonal = has(SpringFamily::diagonal);
        options.antidiagonal = has(SpringFamily::antidiagonal);
        options.bending = has(SpringFamily::bending);
    }
    MaterialField of_stiffness, of_damping;
    take(stiffness, "stiffness", of_stiffness);
    take(damping, "damping", of_damping);
    auto cloth = std::make_shared<Cloth>(make_grid_cloth(sheet, options, of_stiffness, of_damping));
    set_law(*cloth, law_named(law));
    return cloth;
}

const Keywords<MeshMaterial>& mesh_keywords()
{
    static const Words<TriangleDamping> kinds = words_of(kTriangleDampings);
    static const Keywords<MeshMaterial> keywords(
        "mesh_cloth", {{"shear_stiffness", member(&MeshMaterial::shear_stiffness)},
                       {"area_stiffness", member(&MeshMaterial::area_stiffness)},
                       {"damping", member(&MeshMaterial::damping)},
                       {"warp_stiffness", member(&MeshMaterial::warp_stiffness)},
                       {"weft_stiffness", member(&MeshMaterial::weft_stiffness)},
                       {"bending", member(&MeshMaterial::bending)},
                       {"bending_time", member(&MeshMaterial::bending_time)},
                       {"damping_kind", choice(&MeshMaterial::damping_kind, kinds)}});
    return keywords;
}

// A mesh brings the size of its sheet; a grid needs one.
std::shared_ptr<Cloth> mesh_cloth(const py::object& mesh, double mass,
                                  const std::optional<double>& length,
                                  const std::optional<double>& width, const py::object& cut,
                                  const py::kwargs& given)
{
    MeshMaterial material;
    mesh_keywords().set(material, given);
    SheetMesh points;
    Sheet sheet{length.value_or(0), width.value_or(0), mass};
    if (length || width) {
        Grid grid;
        take(mesh, "mesh", grid);
        points = make_grid_mesh(sheet, grid, chosen(cut, "cut", mesh_cuts()));
    } else {
        take(mesh, "mesh", points);
        sheet = sheet_around(points, mass);
    }
    return std::make_shared<Cloth>(make_mesh_cloth(sheet, points, material));
}

}  // namespace

void add_cloth(py::module_& module)
{
    ClothType type(module, "Cloth",
                   "Particles and the elements that join them, with their parameters. It does not "
                   "change; its arrays are views that cannot be written to.");
    type.def_property_readonly("particle_count", &Cloth::particle_count);
    type.def_property_readonly(
        "length", [](const Cloth& self) { return self.sheet.length; },
        "Of the sheet, along the columns of a grid [m].");
    type.def_property_readonly(
        "width", [](const Cloth& self) { return self.sheet.width; },
        "Of the sheet, along the rows of a grid [m].");
    type.def_property_readonly(
        "sheet_mass", [](const Cloth& self) { return self.sheet.mass; },
        "Of the whole sheet [kg].");
    type.def_property_readonly(
        "grid", [](const Cloth& self) { return grid_of(self.grid); },
        "Rows and columns; None unless the particles form a grid.");
    add_arrays(type);
    add_parameters(type);
    add_whole(type);
    module.def(
        "grid_cloth",
        [](int rows, int cols, double length, double width, double mass,
           const py::object& stiffness, const py::object& damping, const py::object& families,
           const std::string& law) {
            return grid_cloth({rows, cols}, {length, width, mass}, stiffness, damping, families,
                              law);
        },
        py::arg("rows"), py::arg("cols"), py::kw_only(), py::arg("length"), py::arg("width"),
        py::arg("mass"), py::arg("stiffness"), py::arg("damping"), py::arg("families") = py::none(),
        py::arg("law") = "published",
        "A grid of springs over a sheet of length x width [m] and mass [kg]. stiffness [N/m] and "
        "damping [N s/m]: a number, a text in layers, or a map over the sheet.");
    module.def("mesh_cloth", mesh_cloth, py::arg("mesh"), py::kw_only(), py::arg("mass"),
               py::arg("length") = py::none(), py::arg("width") = py::none(),
               py::arg("cut") = "alternating",
               ("A finite-element sheet of triangles and hinges. mesh: (rows, columns) of a sheet "
                "of length x width [m], a flat OBJ file, or (points [m], triangles)." +
                mesh_keywords().words())
                   .c_str());
}

}  // namespace springtime::python
