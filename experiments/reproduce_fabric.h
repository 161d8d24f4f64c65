#pragma once

#include "reproduce.h"

namespace springtime::app {

// How well triangles and hinges of the reference sheet are identified, a row per kind of data. What
// a run before has finished is taken as it is.
nlohmann::json fabric_rows(const ReproduceArguments& arguments,
                           const std::filesystem::path& folder);
RowKeys fabric_row_keys();
std::string fabric_table(const nlohmann::json& rows);

}  // namespace springtime::app
