#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "springtime/error.h"

namespace springtime {

// The message of what `act` throws, or a text no message equals.
template <class Thrown, class Act>
std::string message_of(Act act)
{
    try {
        act();
    } catch (const Thrown& thrown) {
        return thrown.what();
    }
    return "(no error)";
}
template <class Act>
std::string error_of(Act act)
{
    return message_of<Error>(act);
}
template <class Act>
std::string failure_of(Act act)
{
    return message_of<Failure>(act);
}

// Whether a message has all of these in it.
inline testing::AssertionResult mentions(const std::string& message,
                                         std::initializer_list<std::string_view> parts)
{
    for (const std::string_view part : parts) {
        if (message.find(part) != std::string::npos) continue;
        return testing::AssertionFailure() << "'" << part << "' is not in: " << message;
    }
    return testing::AssertionSuccess();
}

// The option that the Error is about; empty when it is about none.
template <class Act>
std::string field_of(Act act)
{
    try {
        act();
    } catch (const Error& error) {
        return error.field();
    }
    return "(no error)";
}

}  // namespace springtime
