#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

#include "springtime/springtime.h"

namespace springtime::app {

// What was read, what was done to it and how much, for people and for programs.
std::string import_text(const ImportReport& report, const std::string& out);
nlohmann::json import_json(const ImportReport& report, const std::string& out);

}  // namespace springtime::app
