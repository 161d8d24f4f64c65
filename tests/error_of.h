#pragma once

#include <string>

#include "springtime/error.h"

namespace springtime {

// The message of the Error that `act` throws, or a text no message equals.
template <class Act>
std::string error_of(Act act)
{
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return "(no error)";
}

}  // namespace springtime
