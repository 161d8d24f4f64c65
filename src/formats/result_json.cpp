#include "formats/result_json.h"

#include <nlohmann/json.hpp>

#include "springtime/error.h"

namespace springtime {

namespace {

using Json = nlohmann::ordered_json;

Result result_of_json(const Json& json)
{
    if (json.is_boolean()) return json.get<bool>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) return json.get<std::string>();
    if (json.is_array()) {
        Result list = Result::list();
        for (const Json& entry : json) list.push(result_of_json(entry));
        return list;
    }
    if (!json.is_object()) return {};
    Result tree = Result::tree();
    for (const auto& [name, value] : json.items()) tree.add(name, result_of_json(value));
    return tree;
}

}  // namespace

Result result_from_json(std::string_view text, std::string_view source)
{
    const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
    if (json.is_discarded()) {
        throw Error("{}: is not JSON; put back a good copy, or make it again", source);
    }
    return result_of_json(json);
}

}  // namespace springtime
