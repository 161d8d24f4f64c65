#include <pybind11/stl.h>

#include "keywords.h"
#include "long_call.h"
#include "rooms.h"
#include "springtime/identify.h"
#include "springtime/learn.h"

// Learning, identification, and gradients for an optimiser of one's own.
namespace springtime::python {

namespace {

// ---- Words for choices

const Words<LearnMethod> kMethods{{"auto", LearnMethod::automatic},
                                  {"trajectory", LearnMethod::trajectory},
                                  {"linear", LearnMethod::linear},
                                  {"gradient", LearnMethod::gradient}};
const Words<LearnElements> kElementWords{{"springs", LearnElements::springs},
                                         {"triangles", LearnElements::triangles}};
const Words<LearnPasses> kPasses{{"dual", LearnPasses::dual}, {"single", LearnPasses::single}};
const Words<Freeze> kFreeze{{"stiffness", Freeze::stiffness}, {"damping", Freeze::damping}};
const Words<BalanceForm> kForms{
    {"auto", BalanceForm::automatic}, {"force", BalanceForm::force}, {"weak", BalanceForm::weak}};
const Words<Instruments> kInstruments{{"auto", Instruments::automatic},
                                      {"none", Instruments::none},
                                      {"frames", Instruments::frames},
                                      {"noise", Instruments::noise}};

// ---- Options

// Pairs (iterations, seconds).
std::vector<Horizon> horizons_of(const py::handle& value, const char* name)
{
    const py::array pairs = array_of<double>(value, name, {kAny, 2}, "(iterations, seconds) each");
    const auto* numbers = static_cast<const double*>(pairs.data());
    std::vector<Horizon> horizons;
    for (py::ssize_t i = 0; i < pairs.shape(0); ++i) {
        horizons.push_back({int(numbers[2 * i]), numbers[2 * i + 1]});
    }
    return horizons;
}

using LearnSetters = std::vector<std::pair<const char*, Keywords<LearnOptions>::Setter>>;

LearnSetters recipe_setters()
{
    using O = LearnOptions;
    return {
        {"method", choice(&O::method, kMethods)},
        {"grid", member(&O::grid)},
        {"families",
         [](O& to, const py::handle& value, const char* name) {
             to.families = all_chosen(value, name, words_of(kSpringFamilies));
         }},
        {"law", member(&O::law)},
        {"elements", choice(&O::elements, kElementWords)},
        {"mesh", member(&O::mesh)},
        {"cut", choice(&O::cut, mesh_cuts())},
        {"damping_kind", choice(&O::damping_kind, words_of(kTriangleDampings))},
        {"orthotropic", member(&O::orthotropic)},
        {"region_count", member(&O::region_count)},
        {"region_map", member(&O::region_map)},
        {"globals", member(&O::globals)},
        {"fixed_globals",
         [](O& to, const py::handle& value, const char* name) {
             to.fixed_globals = all_chosen(value, name, words_of(kGlobalKinds));
         }},
        {"form", choice(&O::form, kForms)},
        {"instruments", choice(&O::instruments, kInstruments)},
        {"window", member(&O::window)},
        {"prior", member(&O::prior)},
        {"horizons", [](O& to, const py::handle& value,
                        const char* name) { to.horizons = horizons_of(value, name); }},
        {"homogeneous_iterations", member(&O::homogeneous_iterations)},
        {"rate", member(&O::rate)},
        {"start_share", member(&O::start_share)},
        {"width", member(&O::width)},
        {"smoothing", member(&O::smoothing)},
        {"masses", member(&O::masses)},
        {"squares", member(&O::squares)},
        {"validation_share", member(&O::validation_share)},
        {"validation_rollouts", member(&O::validation_rollouts)},
        {"validate_every", member(&O::validate_every)},
        {"seed", member(&O::seed)},
        {"threads", member(&O::threads)},
        {"device", member(&O::device)},
    };
}

// Of the descent as it was published.
LearnSetters published_setters()
{
    using O = LearnOptions;
    return {
        {"passes", choice(&O::passes, kPasses)},
        {"rounds", member(&O::rounds)},
        {"stiffness_iterations", member(&O::stiffness_iterations)},
        {"damping_iterations", member(&O::damping_iterations)},
        {"clip_steps", member(&O::clip_steps)},
        {"patience", member(&O::patience)},
        {"substeps", [](O& to, const py::handle& value,
                        const char*) { to.substeps = Substeps{substeps_of(value)}; }},
        {"stiffness_rate", member(&O::stiffness_rate)},
        {"damping_rate", member(&O::damping_rate)},
        {"force_weight", member(&O::force_weight)},
        {"impulse_weight", member(&O::impulse_weight)},
        {"position_weight", member(&O::position_weight)},
        {"negative_weight", member(&O::negative_weight)},
        {"logarithmic", member(&O::logarithmic)},
        {"freeze", choice(&O::freeze, kFreeze)},
        {"stiffness_start", member(&O::stiffness_start)},
        {"damping_start", member(&O::damping_start)},
        {"round_decay", member(&O::round_decay)},
        {"cosine", member(&O::cosine)},
        {"batch", member(&O::batch)},
        {"slow_seconds", member(&O::slow_seconds)},
    };
}

const Keywords<LearnOptions>& learn_keywords()
{
    static const Keywords<LearnOptions> keywords("learn", [] {
        LearnSetters all = recipe_setters();
        for (auto& setter : published_setters()) all.push_back(std::move(setter));
        return all;
    }());
    return keywords;
}

// ---- What was learned

// Its cloths are shared with the objects that Python sees.
struct LearnedObject {
    Learned learned;
    bool finished = true;
    std::shared_ptr<Cloth> cloth, homogeneous;
};

std::shared_ptr<Cloth> shared(const std::optional<Cloth>& cloth)
{
    return cloth ? std::make_shared<Cloth>(*cloth) : nullptr;
}

LearnedObject object_of(Learned learned, bool finished)
{
    LearnedObject result{std::move(learned), finished, nullptr, nullptr};
    result.cloth = std::make_shared<Cloth>(std::move(result.learned.cloth));
    result.homogeneous = shared(result.learned.homogeneous);
    return result;
}

Result report_of_learned(const LearnedObject& self)
{
    Result result = Result::tree();
    if (!self.finished) result.say("stopped early: this is the best cloth so far");
    const Result report = report_of(self.learned);
    for (const auto& [name, value] : report.entries()) result.add(name, value);
    return result;
}

std::string html_of_learned(const LearnedObject& self)
{
    return to_html(report_of_learned(self)) + html_of(draw_stiffness(*self.cloth));
}

void add_learned(py::module_& module)
{
    py::class_<LearnedObject> type(module, "Learned", "What learn() found.");
    const auto number = [&](const char* name, auto at, const char* words) {
        type.def_property_readonly(
            name, [at](const LearnedObject& self) { return self.learned.*at; }, words);
    };
    type.def_readonly("cloth", &LearnedObject::cloth, "The learned cloth.");
    type.def_readonly("homogeneous", &LearnedObject::homogeneous,
                      "The best homogeneous network; None unless the method computed it.");
    type.def_readonly("finished", &LearnedObject::finished,
                      "False if it was stopped: the cloth is then the best so far.");
    type.def_property_readonly(
        "errors",
        [](const py::object& self) -> py::object {
            return py::cast(self.cast<const LearnedObject&>().cloth).attr("errors");
        },
        "Standard errors of the cloth by parameter; None unless it is the linear answer.");
    number("validation_rmse", &Learned::validation_rmse, "On motion that was left out [m].");
    number("linear_rmse", &Learned::linear_rmse, "Of the linear answer [m], or None.");
    number("homogeneous_rmse", &Learned::homogeneous_rmse,
           "Of the best homogeneous network [m], or None.");
    number("nothing_moves_rmse", &Learned::nothing_moves_rmse,
           "Of a motion in which nothing moves [m], or None.");
    number("first_shape_follows_rmse", &Learned::first_shape_follows_rmse,
           "Of the first shape, moved along with its handles [m], or None.");
    number("iterations", &Learned::iterations, "Of the descent.");
    number("longest_step", &Learned::longest_step, "That is safe for the cloth [s].");
    number("substeps", &Learned::substeps, "Safe sub-steps in a step of the motion.");
    number("summary", &Learned::summary, "What was done and why, in words.");
    number("seconds", &Learned::seconds, "Time that it took [s].");
    add_printing(type, report_of_learned, html_of_learned);
    type.def("__repr__", [](const LearnedObject& self) {
        return fmt::format("<Learned{}: {}, validation {:.4g} m>", self.finished ? "" : " so far",
                           counted(self.cloth->particle_count(), "particle"),
                           self.learned.validation_rmse);
    });
}

// Ctrl-C and a progress function that returns False end it with what there is.
LearnedObject learn_motion(const Motion& motion, const py::object& progress,
                           const py::kwargs& given)
{
    LearnOptions options;
    learn_keywords().set(options, given);
    MemoryStore store;
    Watch watch(listener_of(progress));
    try {
        return object_of(
            run_long(watch,
                     [&](const Progress& told) { return learn(motion, options, told, &store); }),
            true);
    } catch (const py::error_already_set&) {
        const std::optional<Cloth> best = store.best_so_far();
        if (!watch.stopped_by_user() || !best) throw;
        Learned partial;
        partial.cloth = *best;
        partial.homogeneous = store.state.homogeneous;
        partial.validation_rmse = std::nan("");
        partial.summary = "stopped early\n";
        return object_of(std::move(partial), false);
    }
}

// ---- Identification

struct IdentifiedObject {
    Identification found;
    std::shared_ptr<Cloth> cloth;
};

const Keywords<IdentifyOptions>& identify_keywords()
{
    using O = IdentifyOptions;
    static const Keywords<O> keywords("identify",
                                      {{"law", member(&O::law)},
                                       {"form", choice(&O::form, kForms)},
                                       {"instruments", choice(&O::instruments, kInstruments)},
                                       {"window", member(&O::window)},
                                       {"prior", member(&O::prior)},
                                       {"validation_share", member(&O::validation_share)},
                                       {"seed", member(&O::seed)},
                                       {"threads", member(&O::threads)}});
    return keywords;
}

IdentifiedObject identify_motion(const Motion& motion, const py::object& grid, const Cloth* like,
                                 const py::object& progress, const py::kwargs& given)
{
    IdentifyOptions options;
    identify_keywords().set(options, given);
    Grid sides = fitting_grid(motion.header);
    if (!grid.is_none()) take(grid, "grid", sides);
    options.grid.rows = sides.rows;
    options.grid.cols = sides.cols;
    if (like != nullptr) options.cloth = *like;
    Identification found =
        run_long(progress, [&](const Progress& told) { return identify(motion, options, told); });
    auto cloth = std::make_shared<Cloth>(std::move(found.cloth));
    found.cloth = *cloth;
    return {std::move(found), std::move(cloth)};
}

void add_identified(py::module_& module)
{
    py::class_<IdentifiedObject> type(module, "Identified",
                                      "What identify() found: the parameters that balance the "
                                      "forces along a motion.");
    type.def_readonly("cloth", &IdentifiedObject::cloth, "With standard errors.");
    type.def_property_readonly(
        "errors",
        [](const py::object& self) -> py::object {
            return py::cast(self.cast<const IdentifiedObject&>().cloth).attr("errors");
        },
        "Standard errors by parameter.");
    type.def_property_readonly(
        "biased", [](const IdentifiedObject& self) { return self.found.biased; },
        "Whether white noise makes the parameters too low.");
    type.def_property_readonly(
        "noise", [](const IdentifiedObject& self) { return self.found.noise.level; },
        "Standard deviation of a coordinate [m].");
    type.def_property_readonly(
        "unexplained", [](const IdentifiedObject& self) { return self.found.unexplained; },
        "Share of the forces that the cloth does not explain.");
    type.def_property_readonly(
        "unseen", [](const IdentifiedObject& self) { return self.found.unseen; },
        "Springs, or triangles, that the motion says nothing about.");
    add_printing(type, [](const IdentifiedObject& self) { return report_of(self.found); });
}

}  // namespace

void add_learning(py::module_& module)
{
    add_learned(module);
    add_identified(module);
    module.def("learn", learn_motion, py::arg("motion"), py::kw_only(),
               py::arg("progress") = py::none(),
               ("Learns a cloth, as springtime train does. Options that are not given depend on "
                "the motion. Ctrl-C ends it with the best cloth so far." +
                learn_keywords().words())
                   .c_str());
    module.def("identify", identify_motion, py::arg("motion"), py::kw_only(),
               py::arg("grid") = py::none(), py::arg("cloth") = py::none(),
               py::arg("progress") = py::none(),
               ("Solves for all parameters at once, with standard errors. cloth: what is "
                "identified instead of springs of a grid; its parameters do not matter." +
                identify_keywords().words())
                   .c_str());
}

}  // namespace springtime::python
