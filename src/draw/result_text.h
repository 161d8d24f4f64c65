#pragma once

#include <string>

#include "springtime/report.h"

// How values of a result are shown to people, as text and as HTML.
namespace springtime {

// Of a value or a list of values.
std::string value_text(const Result& result);
std::string unit_of(const Result& result);
std::string label_of(const Result::Entry& entry);
bool is_shown(const Result& result);
// What stands in one line, behind its label.
bool is_line(const Result& result);

}  // namespace springtime
