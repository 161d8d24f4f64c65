#include <cmath>
#include <nlohmann/json.hpp>

#include "springtime/error.h"
#include "springtime/files.h"

namespace springtime {

namespace {

using json = nlohmann::json;

json number_or_null(double value)
{
    return std::isfinite(value) ? json(value) : json();
}

}  // namespace

std::string identification_to_json(const Identification& found)
{
    const bool weak = found.form == BalanceForm::weak;
    json value{{"form", weak ? "weak" : "force"},
               {"instruments", name_of(found.instruments)},
               {"biased", found.biased},
               {"displacements", found.displacements},
               {"prior",
                {{"stiffness", found.prior.stiffness},
                 {"damping", found.prior.damping},
                 {"bending", found.prior.bending},
                 {"bending_damping", found.prior.bending_damping}}},
               {"equations", found.equation_count},
               {"equation_error", found.equation_error},
               {"unexplained", found.unexplained},
               {"unseen", found.unseen},
               {"held", found.held_count},
               {"seconds", found.seconds}};
    if (const std::optional<RegionChoice>& regions = found.regions) {
        value["regions"] = {{"triangles", regions->triangles},
                            {"hinges", regions->hinges},
                            {"left_by_regions", regions->left_by_regions},
                            {"left_by_elements", regions->left_by_elements}};
    }
    value["window"] = found.window ? json(*found.window) : json();
    if (weak) {
        value["noise"] = {{"level", found.noise.level},
                          {"correlation", found.noise.correlation},
                          {"white", found.noise.white}};
    }
    const std::vector<Parameter> parameters = learned_parameters(found.cloth);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
        json& errors = value["median_error"][std::string(name_of(parameters[k].kind->element))];
        errors[label_of(found.cloth, parameters[k])] =
            number_or_null(median_error(found, static_cast<int>(k)));
    }
    return value.dump(1) + "\n";
}

Identification identification_from_json(std::string_view text, std::string_view source,
                                        const Cloth& cloth)
{
    try {
        const json value = json::parse(text);
        Identification found;
        found.cloth = cloth;
        found.form = value.at("form") == "weak" ? BalanceForm::weak : BalanceForm::force;
        for (const Instruments known : {Instruments::frames, Instruments::noise}) {
            if (value.at("instruments") == name_of(known)) found.instruments = known;
        }
        found.biased = value.at("biased").get<bool>();
        found.displacements = value.at("displacements").get<bool>();
        const json& prior = value.at("prior");
        found.prior = {prior.at("stiffness").get<double>(), prior.at("damping").get<double>(),
                       prior.at("bending").get<double>(),
                       prior.at("bending_damping").get<double>()};
        if (value.contains("regions")) {
            const json& regions = value.at("regions");
            found.regions = {regions.at("triangles").get<int>(), regions.at("hinges").get<int>(),
                             regions.at("left_by_regions").get<double>(),
                             regions.at("left_by_elements").get<double>()};
        }
        found.equation_count = value.at("equations").get<long>();
        found.equation_error = value.at("equation_error").get<double>();
        found.unexplained = value.at("unexplained").get<double>();
        found.unseen = value.at("unseen").get<std::vector<int>>();
        found.held_count = value.at("held").get<std::vector<int>>();
        found.seconds = value.at("seconds").get<double>();
        if (!value.at("window").is_null()) found.window = value.at("window").get<double>();
        if (found.form == BalanceForm::weak) {
            const json& noise = value.at("noise");
            found.noise = {noise.at("level").get<double>(), noise.at("correlation").get<double>(),
                           noise.at("white").get<bool>()};
        }
        return found;
    } catch (const json::exception& error) {
        throw Error("{}: is not the identification of a cloth: {}; remove it, and it is made anew",
                    source, error.what());
    }
}

}  // namespace springtime
