#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "convert.h"

// Options as keywords. They have the names of the members, so that the field of an Error is the
// keyword.
namespace springtime::python {

// All keywords of all functions, for the test of the type stubs.
std::map<std::string, std::vector<std::string>>& all_keywords();

template <class Options>
class Keywords {
  public:
    using Setter = std::function<void(Options& options, const py::handle& value, const char* name)>;

    Keywords(std::string function, std::vector<std::pair<const char*, Setter>> setters)
        : function_(std::move(function)), setters_(std::move(setters))
    {
        for (const auto& [name, set] : setters_) all_keywords()[function_].push_back(name);
    }

    // None means that an option keeps its default.
    void set(Options& options, const py::kwargs& given) const
    {
        for (const auto& [key, value] : given) {
            const std::string name = py::cast<std::string>(key);
            const Setter& setter = setter_of(name);
            if (!value.is_none()) setter(options, value, name.c_str());
        }
    }

    // The end of the docstring.
    std::string words() const
    {
        std::string all;
        for (const auto& [name, set] : setters_)
            all += (all.empty() ? "" : ", ") + std::string(name);
        return "\n\nOptions: " + all + ".";
    }

  private:
    const Setter& setter_of(const std::string& name) const
    {
        for (const auto& [known, setter] : setters_) {
            if (known == name) return setter;
        }
        throw py::type_error(fmt::format("{}() got an unexpected keyword argument '{}'{}",
                                         function_, name, words()));
    }

    std::string function_;
    std::vector<std::pair<const char*, Setter>> setters_;
};

// A member that is taken as it is.
template <class Options, class T>
auto member(T Options::*at)
{
    return [at](auto& options, const py::handle& value, const char* name) {
        take(value, name, options.*at);
    };
}

// A member that is chosen by a word.
template <class Options, class T, class Choice>
auto choice(T Options::*at, Words<Choice> words)
{
    return [at, words](auto& options, const py::handle& value, const char* name) {
        options.*at = chosen(value, name, words);
    };
}

// Gravity, drag and wind of options that have an environment.
template <class Options>
void add_environment(std::vector<std::pair<const char*, typename Keywords<Options>::Setter>>& to)
{
    const auto add = [&](const char* name, auto at) {
        to.push_back({name, [at](Options& options, const py::handle& value, const char* word) {
                          take(value, word, options.environment.*at);
                      }});
    };
    add("gravity", &Environment::gravity);
    add("drag", &Environment::drag);
    add("wind", &Environment::wind);
}

// Of Simulation, for all that runs a cloth.
using SimulationSetters = std::vector<std::pair<const char*, Keywords<SimulationOptions>::Setter>>;
SimulationSetters simulation_setters();

}  // namespace springtime::python
